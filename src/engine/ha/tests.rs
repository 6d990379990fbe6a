//! What a kill between a message and a sync may not do, message by message.

use super::names::{NodeId, Violation};
use super::node::{Delay, Message, Out, Step};
use super::setup::{Assumptions, Setup, Variant};
use super::world::World;

/// Controllers and what is under way between them. Elections, turns and deadlines come when a test says so.
struct Bench {
    world: World,
    pending: Vec<Step>,
}

impl Bench {
    /// Mended controllers that have recovered, of which the first is primary and has greeted all.
    fn new(nodes: usize) -> Self {
        let setup = Setup {
            nodes,
            variant: Variant::FIXED,
            assumptions: Assumptions {
                one_batch: false,
                ..Assumptions::default()
            },
        };
        let world = World::new(setup);
        let pending = Vec::new();
        let mut bench = Self { world, pending };
        for node in 0..nodes {
            bench.does(|world, out| world.start(node, 0, out));
        }
        bench.settle();
        bench.does(|world, out| world.stand_for_election(0, out));
        bench.settle();
        bench.does(|world, out| world.tick(0, out));
        bench.settle();
        bench
    }

    fn does(&mut self, what: impl FnOnce(&mut World, &mut Out)) {
        let mut out = Out::default();
        what(&mut self.world, &mut out);
        let later = out.later.into_iter();
        let later = later.filter(|it| !matches!(it.0, Delay::Election | Delay::Tick | Delay::Wait));
        self.pending.extend(later.map(|it| it.1));
    }

    /// Lets happen what a test does not hold back, until nothing of it is left.
    fn settle_but(&mut self, is_held: impl Fn(&Step) -> bool) {
        while let Some(place) = self.pending.iter().position(|it| !is_held(it)) {
            let step = self.pending.remove(place);
            self.does(|world, out| world.apply(step, out));
        }
    }

    fn settle(&mut self) {
        self.settle_but(|_| false);
    }

    fn write(&mut self, value: u64) {
        self.does(|world, out| {
            world.write(0, value, true, out).unwrap();
        });
    }

    /// The machine dies with everything that is not durable, and the process starts again.
    fn restart(&mut self, node: NodeId) {
        self.does(|world, out| world.kill(node, 0, out));
        self.does(|world, out| world.start(node, 0, out));
        self.settle();
    }
}

fn is_sync_of(step: &Step, node: NodeId) -> bool {
    matches!(step, Step::Synced { node: of, .. } if *of == node)
}

#[test]
fn a_recovery_is_not_below_the_snapshot() {
    let mut bench = Bench::new(3);
    assert_eq!(bench.world.committed(0), 1, "the primary's first entry");
    // The second node has 2 and 3 and hears that they are committed, by the other two, before its disk has them.
    bench.write(20);
    bench.write(30);
    bench.settle_but(|it| is_sync_of(it, 1));
    bench.does(|world, out| world.tick(0, out));
    bench.settle_but(|it| is_sync_of(it, 1));
    assert_eq!(bench.world.committed(1), 3);
    bench.world.compact(1);
    bench.restart(1);
    let node = &bench.world.nodes[1];
    assert_eq!((node.disk.snapshot.0, node.last()), (3, 3));
    assert_eq!(node.persist.current, 4);
    // What follows goes where it is looked for.
    bench.does(|world, out| world.tick(0, out));
    bench.settle();
    bench.write(40);
    bench.settle();
    assert_eq!(bench.world.nodes[1].last(), 4);
    assert_eq!(bench.world.stretches(1), ["seg-0000000000000004 4..4"]);
    assert!(bench.world.layout(1).is_empty());
    assert!(bench.world.broken.is_empty(), "{:?}", bench.world.broken);
}

#[test]
fn an_answer_about_an_entry_that_made_way_is_not_sent() {
    let mut bench = Bench::new(5);
    // The second node takes 2 to 4 of a primary that nobody else hears, and its disk is slow.
    bench.write(20);
    bench.write(30);
    bench.write(40);
    bench.settle_but(|it| is_sync_of(it, 1) || (it.node() > 1 && !is_sync_of(it, it.node())));
    assert_eq!(bench.world.nodes[1].last(), 4);
    assert_eq!(bench.world.nodes[1].answers.len(), 3);
    // The others elect another primary, whose entry 2 takes the place of the three.
    bench.pending.retain(|it| is_sync_of(it, 1));
    bench.does(|world, out| world.stand_for_election(2, out));
    bench.settle_but(|it| is_sync_of(it, 1) || it.node() < 2);
    bench.does(|world, out| world.tick(2, out));
    bench.settle_but(|it| is_sync_of(it, 1) || it.node() == 0);
    assert_eq!(bench.world.nodes[1].last(), 2);
    bench
        .pending
        .retain(|it| it.node() != 0 || !matches!(it, Step::Deliver { from: 1, .. }));
    // Its disk has everything: it answers for the entry that it has.
    bench.does(|world, out| world.synced(1, out));
    let answers: Vec<(NodeId, u64)> = bench
        .pending
        .iter()
        .filter_map(|it| {
            if let Step::Deliver {
                from: 1,
                to,
                message: Message::Ack { lsn, .. },
            } = it
            {
                Some((*to, *lsn))
            } else {
                None
            }
        })
        .collect();
    assert!(!answers.is_empty());
    assert!(answers.iter().all(|it| *it == (2, 2)), "{answers:?}");
    // And a restart loses nothing that it answered for.
    bench.restart(1);
    let broken = &bench.world.broken;
    assert!(!broken.contains(&Violation::AcknowledgedLost), "{broken:?}");
}
