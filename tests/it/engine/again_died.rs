//! Report 000's shape run again: a storm between two servers, connections that break beside it, and no server that died.
//! The report has three suspicions; what can be said of each.

use casdiag::replay::{Candidate, Replayed, Supported, replay};

use crate::product::{Folder, report};

/// Refusals of a server by the other one, as the report counts them.
const REFUSED: [(&str, &str, usize); 2] = [("ch1", "ch2", 278), ("ch2", "ch1", 214)];
/// Parts of a server that are refused; the report does not say how many.
const PARTS: usize = 40;

const STACK: &str = ", Stack trace (when copying this message, always include the lines below):\n\n\
    0. DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool) @ 0x0000000013a9d3c4\n\
    1. DB::DataPartsExchange::Fetcher::relinkPartToDisk(String const&) @ 0x000000001a0e6f10\n\
    2. DB::DataPartsExchange::Fetcher::fetchSelectedPart(String const&) @ 0x000000001a0dfc2c\n\
    3. DB::StorageReplicatedMergeTree::fetchPart(String const&) @ 0x0000000019b4a7f0\n\
    4. DB::StorageReplicatedMergeTree::executeFetch(DB::ReplicatedMergeTreeLogEntry&, bool) @ 0x0000000019b42d58\n \
    (version 26.6.2.20000.altinityantalya (altinity build))";

/// A record at so many milliseconds after 14:02.
fn record(ms: usize, thread: usize, level: &str, text: &str) -> (usize, String) {
    let (minutes, seconds) = (2 + ms / 60_000, ms / 1000 % 60);
    let stamp = format!(
        "2026.08.18 14:{minutes:02}:{seconds:02}.{:03}000",
        ms % 1000
    );
    (ms, format!("{stamp} [ {thread} ] {{}} <{level}> {text}\n"))
}

/// A server's records: its own refusals, its answers to those of the other one, its finished relinks, and five errors with
/// Code 1000, which are broken connections on the first and timeouts of the store on the second.
fn records(node: usize, parts: usize) -> Vec<(usize, String)> {
    let table = "ca_soak.ca_stress (94c6e9b4-7c52-4d1b-9a7e-2f1d0c6b8e93)";
    let (_, source, refused) = REFUSED[node];
    let (_, _, asked) = REFUSED[1 - node];
    let mut all = vec![record(
        0,
        1,
        "Information",
        "Application: Starting ClickHouse 26.6.2.20000.altinityantalya (revision: 54510, git hash: 1f0c6f7a, build id: 6D1E40C2), PID 1",
    )];
    let part =
        |place: usize, node: usize| format!("20260818_{0}_{0}_0", 2 * (place % parts) + node);
    for place in 0..refused {
        let at = 1_000 + place * 78_000 / refused;
        let text = format!(
            "{table}: auto DB::StorageReplicatedMergeTree::processQueueEntry(X)::operator() const: Code: 210. DB::Exception: Source {source} did not prove it still holds the manifest it offered for part {} by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR){STACK}",
            part(place, node)
        );
        all.push(record(at, 640, "Error", &text));
    }
    for place in 0..asked {
        let at = 999 + place * 78_000 / asked;
        let part = part(place, 1 - node);
        let text = format!(
            "{table} (Replicated PartsService): Relink confirm is unproven (unknown) for ref '{part}' (part {part}, manifest 1:4{place}:1) in namespace 'ca-{source}/store/94c/94c6@cas@'"
        );
        all.push(record(at, 318, "Debug", &text));
    }
    for place in 0..60 {
        let text = format!(
            "{table} (Fetcher): Relink of part {} onto disk ca finished (no bytes transferred).",
            part(place + 1_000, node)
        );
        all.push(record(1_500 + place * 1_280, 641, "Debug", &text));
    }
    for place in 0..5 {
        let text = if node == 0 {
            "ServerErrorHandler: Poco::Exception. Code: 1000, e.code() = 104, Connection reset by peer (version 26.6.2.20000.altinityantalya (altinity build))"
        } else {
            "WriteBufferFromS3: S3Exception name , Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout (version 26.6.2.20000.altinityantalya (altinity build)), bucket test, key data/cas/ref_catalog, object size 2295"
        };
        all.push(record(76_000 + place * 500, 60, "Error", text));
    }
    all.sort_by_key(|it| it.0);
    all
}

/// The artifact: two servers' logs, and what the container tool says of them.
fn artifact(parts: usize) -> Folder {
    let folder = Folder::new();
    for (node, (name, _, _)) in REFUSED.iter().enumerate() {
        let mut text = String::new();
        for (_, record) in records(node, parts) {
            text.push_str(&record);
        }
        folder.put(&format!("{name}/clickhouse-server.log"), text);
    }
    let states = "NAME   IMAGE                               COMMAND            SERVICE   CREATED         STATUS                   PORTS\n\
                  ch1    clickhouse/clickhouse-server:25.8   \"/entrypoint.sh\"   ch1       2 minutes ago   Up 2 minutes (healthy)   0.0.0.0:8123->8123/tcp\n\
                  ch2    clickhouse/clickhouse-server:25.8   \"/entrypoint.sh\"   ch2       2 minutes ago   Up 2 minutes (healthy)   0.0.0.0:8124->8123/tcp\n";
    folder.put("compose-ps.txt", states);
    folder
}

fn storm(folder: &Folder) -> Replayed {
    let replayed = replay(&report(folder.path()));
    let storms = replayed.into_iter().filter(|it| it.model == "relinks");
    let [one] = &storms.collect::<Vec<_>>()[..] else {
        panic!("one storm");
    };
    one.clone()
}

fn read<'c>(candidate: &'c Candidate, what: &str) -> &'c str {
    let found = candidate.read.iter().find(|it| it.what == what);
    found.map_or("", |it| it.value.as_str())
}

#[test]
fn of_report_000s_suspicions_one_is_supported_one_refuted_and_one_cannot_be_told() {
    let one = storm(&artifact(PARTS));
    for (node, _, refused) in REFUSED {
        let row = one
            .compared
            .iter()
            .find(|it| it.what == "refused" && it.node == node);
        assert_eq!(row.unwrap().observed, Some(refused as u64));
    }
    let [handlers, retries, memory] = &one.candidates[..] else {
        panic!("{:#?}", one.candidates);
    };
    // Sixteen handlers are the fewest that the soak against small pools was made with; the storm does not fill those.
    assert_eq!(handlers.verdict, Supported::Against, "{handlers:#?}");
    assert_eq!(read(handlers, "connections that broke"), "ch1 5");
    assert!(handlers.reason.contains("not in these records"));
    let most: u64 = read(handlers, "handlers at work at once, at most")
        .parse()
        .unwrap();
    assert!((1..16).contains(&most), "{handlers:#?}");
    // 492 refusals of 80 parts: six tries of each.
    assert_eq!(retries.verdict, Supported::Supported, "{retries:#?}");
    assert!(
        retries
            .reason
            .contains("492 refusals are of 80 parts, 6.1 tries")
    );
    assert!(
        retries
            .reason
            .contains("takes a server's HTTP down is not shown")
    );
    assert_eq!(memory.verdict, Supported::CannotTell, "{memory:#?}");
    assert_eq!(read(memory, "records of a limit on memory"), "0");
    assert_eq!(read(memory, "servers that started again"), "0");
    assert!(
        read(memory, "container ch1").contains("healthy"),
        "{memory:#?}"
    );
    assert!(memory.reason.contains("the kernel's log"), "{memory:#?}");
}

#[test]
fn a_kill_in_the_kernels_log_supports_the_third_and_parts_refused_once_refute_the_second() {
    let folder = artifact(400);
    folder.put(
        "dmesg.txt",
        "[Tue Aug 18 14:03:20 2026] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=ch2,mems_allowed=0,oom_memcg=/docker/ch2,task_memcg=/docker/ch2,task=clickhouse-serv,pid=4711,uid=101\n\
         [Tue Aug 18 14:03:20 2026] Memory cgroup out of memory: Killed process 4711 (clickhouse-serv) total-vm:41943040kB, anon-rss:4194304kB, file-rss:1024kB, shmem-rss:0kB, UID:101 pgtables:9000kB oom_score_adj:0\n",
    );
    let one = storm(&folder);
    let verdicts: Vec<Supported> = one.candidates.iter().map(|it| it.verdict).collect();
    let expected = [Supported::Against, Supported::Against, Supported::Supported];
    assert_eq!(verdicts, expected, "{:#?}", one.candidates);
}

#[test]
fn a_storm_beside_which_no_connection_broke_raises_no_suspicion() {
    let folder = artifact(PARTS);
    let path = folder.path().join("ch1/clickhouse-server.log");
    let text = std::fs::read_to_string(&path).unwrap();
    let quiet: Vec<&str> = text
        .lines()
        .filter(|it| !it.contains("ServerErrorHandler"))
        .collect();
    folder.put("ch1/clickhouse-server.log", quiet.join("\n"));
    assert!(storm(&folder).candidates.is_empty());
}
