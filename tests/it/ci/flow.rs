//! Writes the messages of a `TestFlows` run: as its framework does, by what the test says of each test.

use std::collections::BTreeMap;
use std::fmt::Write;

/// What the framework gives each message of tries and of what lies below them.
const RETRY: u64 = 1 << 42;

/// A test that runs.
#[derive(Debug, Clone)]
pub(super) struct Test {
    id: String,
    pub(super) name: String,
    kind: &'static str,
    subtype: Option<&'static str>,
    flags: u64,
    began: f64,
    children: u64,
}

/// The log of a run, with the clock of its last message.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) text: String,
    pub(super) now: f64,
    numbers: BTreeMap<String, u64>,
}

impl Flow {
    /// Begins at seconds since 1970.
    pub(super) fn new(now: f64) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    fn message(&mut self, keyword: &str, test: &Test, stream: Option<&str>, rest: &str) {
        let number = self.numbers.entry(test.id.clone()).or_default();
        let level = test.id.matches('/').count();
        let quoted = |text: Option<&str>| serde_json::to_string(&text).unwrap();
        writeln!(
            self.text,
            "{{\"message_keyword\":\"{keyword}\",\"message_hash\":\"00000000\",\"message_object\":1,\"message_num\":{number},\
             \"message_stream\":{},\"message_level\":{level},\"message_time\":{:.6},\"message_rtime\":{:.6},\"test_type\":\"{}\",\
             \"test_subtype\":{},\"test_id\":\"{}\",\"test_name\":{},\"test_flags\":{},\"test_cflags\":{},\"test_level\":{level},\
             \"test_parent_type\":null{rest}}}",
            quoted(stream),
            self.now,
            self.now - test.began,
            test.kind,
            quoted(test.subtype),
            test.id,
            quoted(Some(&test.name)),
            test.flags,
            test.flags,
        )
        .unwrap();
        *number += 1;
        self.now += 0.01;
    }

    fn start(&mut self, test: Test) -> Test {
        let rest = ",\"test_module\":null,\"test_uid\":null,\"test_description\":null";
        self.message("TEST", &test, None, rest);
        test
    }

    /// Begins the root.
    pub(super) fn root(&mut self, name: &str) -> Test {
        let began = self.now;
        self.start(Test {
            id: "/15687618-ec0f-11f1-a1b2-02fc00000001".to_owned(),
            name: format!("/{name}"),
            kind: "Module",
            subtype: None,
            flags: 0,
            began,
            children: 0,
        })
    }

    /// Says what identifies the run.
    pub(super) fn attribute(&mut self, root: &Test, name: &str, value: &str) {
        let rest = format!(
            ",\"attribute_name\":{},\"attribute_value\":{}",
            json(name),
            json(value)
        );
        self.message("ATTRIBUTE", root, None, &rest);
    }

    /// Begins a test below another.
    pub(super) fn begin(
        &mut self,
        above: &mut Test,
        name: &str,
        kind: &'static str,
        subtype: &'static str,
    ) -> Test {
        let flags = if subtype == "RetryIteration" {
            above.flags | RETRY
        } else {
            above.flags
        };
        let test = Test {
            id: format!("{}/{}", above.id, above.children),
            name: format!("{}/{name}", above.name),
            kind,
            subtype: Some(subtype),
            flags,
            began: self.now,
            children: 0,
        };
        above.children += 1;
        self.start(test)
    }

    /// A line of a shell.
    pub(super) fn say(&mut self, test: &Test, node: &str, text: &str) {
        let rest = format!(",\"message\":{}", json(text));
        self.message("NONE", test, Some(node), &rest);
    }

    /// Ends a test.
    pub(super) fn end(&mut self, test: &Test, result: &str, message: Option<&str>) {
        let rest = format!(
            ",\"result_message\":{},\"result_reason\":null,\"result_type\":\"{result}\",\"result_test\":{}",
            serde_json::to_string(&message).unwrap(),
            json(&test.name)
        );
        self.message("RESULT", test, None, &rest);
    }

    /// Ends the run.
    pub(super) fn stop(&mut self, root: &Test) {
        self.message("STOP", root, None, "");
    }
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}
