#!/usr/bin/env bash
# Real etcd and ZooKeeper against the rules on followers. In each of them a follower is killed and started again twice: once after a few
# writes, which is nothing to report; once after the others have cut their log, so that it has to take a snapshot, which is reported as that
# and not as a follower that does not catch up.
#
# Needs etcd and etcdctl (Debian: etcd-server, etcd-client), java with ZooKeeper's jar (Debian: zookeeper) and python3. What is missing is said
# and left out; with neither system it ends with 77. Everything runs on loopback and below one temporary folder.
# Usage: tests/live-followers.sh [path of casdiag]
set -euo pipefail

casdiag=${1:-target/release/casdiag}
[ -x "$casdiag" ] || { echo "no program at $casdiag: build it with cargo build --release"; exit 2; }
work=$(mktemp -d)
declare -A pids=()
stop() { # NAME SIGNAL
    kill "-$2" "${pids[$1]}" 2>/dev/null || true
    wait "${pids[$1]}" 2>/dev/null || true
    unset "pids[$1]"
}
clean_up() {
    for name in "${!pids[@]}"; do stop "$name" KILL; done
    rm -rf "$work"
}
trap clean_up EXIT

ports() { # COUNT
    python3 -c '
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in held: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in held))' "$1"
}
wait_until() { # WHAT COMMAND...
    local what=$1
    shift
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    echo "waited in vain: $what"
    exit 1
}
judge() { # FOLDER EXPECTED: the rules on followers that fire, one a line
    "$casdiag" analyze "$1" --fail-on never --quiet --format json >"$1.json"
    python3 - "$1.json" "$2" <<'PY'
import json, sys
report = json.load(open(sys.argv[1]))
fired = sorted(it["rule"] for it in report["findings"] if it["rule"].startswith("follower-"))
worse = [it["title"] for it in report["findings"] if it["severity"] in ("medium", "high", "critical")]
expected = sys.argv[2].split()
read = {it["format"] for it in report["inputs"]}
assert fired == expected, f"{sys.argv[1]}: fired {fired}, expected {expected}"
assert not worse, worse
titles = [it["title"] for it in report["findings"] if it["rule"].startswith("follower-")]
print(f"ok: {report['records']['total']} records as {', '.join(sorted(read))}: {titles or 'nothing to report'}")
PY
}

# ---------------------------------------------------------------- etcd

etcd_start() { # NAME
    local at=$((${1#m} - 1))
    etcd --name "$1" --data-dir "$work/etcd/$1" --snapshot-count 100 \
        --listen-client-urls "http://127.0.0.1:${client[at]}" --advertise-client-urls "http://127.0.0.1:${client[at]}" \
        --listen-peer-urls "http://127.0.0.1:${peer[at]}" --initial-advertise-peer-urls "http://127.0.0.1:${peer[at]}" \
        --initial-cluster "m1=http://127.0.0.1:${peer[0]},m2=http://127.0.0.1:${peer[1]},m3=http://127.0.0.1:${peer[2]}" \
        >>"$work/$1.log" 2>&1 &
    pids[$1]=$!
}
etcd_revision() { # NAME
    local at=$((${1#m} - 1))
    ETCDCTL_API=3 etcdctl --endpoints "http://127.0.0.1:${client[at]}" get key-1 --consistency s --write-out json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["header"]["revision"])'
}
etcd_is_level() { [ "$(etcd_revision m3)" = "$(etcd_revision m1)" ]; }
etcd_is_up() { ETCDCTL_API=3 etcdctl --endpoints "http://127.0.0.1:${client[0]}" endpoint health; }
etcd_put() { # COUNT, over the first member's gateway: a process per write would take minutes
    python3 - "${client[0]}" "$1" <<'PY'
import base64, http.client, json, sys, threading
port, count = int(sys.argv[1]), int(sys.argv[2])
failed = []
def write(numbers):
    try:
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for number in numbers:
            pair = {"key": f"key-{number}", "value": f"value-{number}"}
            body = json.dumps({name: base64.b64encode(text.encode()).decode() for name, text in pair.items()})
            line.request("POST", "/v3/kv/put", body)
            answer = line.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
    except Exception as error:
        failed.append(error)
threads = [threading.Thread(target=write, args=(range(1 + at, count + 1, 16),)) for at in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not failed, failed[0]
PY
}
etcd_round() { # FOLDER WRITES EXPECTED
    for name in m1 m2 m3; do : >"$work/$name.log"; done
    stop m3 KILL
    etcd_put "$2"
    etcd_start m3
    wait_until "m3 catches up" etcd_is_level
    mkdir "$work/$1"
    cp "$work"/m?.log "$work/$1/"
    judge "$work/$1" "$3"
}
ran=
if command -v etcd >/dev/null && command -v etcdctl >/dev/null; then
    ran=1
    read -ra all <<<"$(ports 6)"
    client=("${all[@]:0:3}") peer=("${all[@]:3:3}")
    for name in m1 m2 m3; do etcd_start "$name"; done
    wait_until "etcd is healthy" etcd_is_up
    etcd_put 50
    wait_until "m3 is level" etcd_is_level
    echo "== etcd: a follower is killed and started again after 50 writes"
    etcd_round etcd-healthy 50 ""
    # A member keeps 5,000 entries behind its last snapshot.
    echo "== etcd: the same after 6,000 writes, when the others have cut their logs"
    etcd_round etcd-behind 6000 "follower-by-snapshot"
    for name in m1 m2 m3; do stop "$name" TERM; done
else
    echo "left out: etcd or etcdctl is not installed"
fi

# ---------------------------------------------------------------- ZooKeeper

jar=/usr/share/java/zookeeper.jar
classes=$jar
for more in slf4j-log4j12 log4j-1.2; do
    if [ -e "/usr/share/java/$more.jar" ]; then classes+=":/usr/share/java/$more.jar"; fi
done
zk_start() { # NUMBER
    java -Xmx96m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$classes" -Dlog4j.configuration="file:$work/zk/$1/log4j.properties" \
        -Dzookeeper.snapCount=100 -Dzookeeper.snapshotSizeFactor=-1 \
        -Dzookeeper.admin.enableServer=false org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/zk/$1/zoo.cfg" >>"$work/zk/$1/out" 2>&1 &
    pids[zk$1]=$!
}
zk_ask() { # NUMBER, prints what the server says of itself
    python3 - "${client[$(($1 - 1))]}" <<'PY'
import socket, sys
line = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5)
line.sendall(b"srvr")
answer = b""
while piece := line.recv(4096): answer += piece
print(answer.decode())
PY
}
zk_zxid() { zk_ask "$1" | sed -n 's/^Zxid: //p'; }
zk_is() { zk_ask "$1" | grep -q "^Mode: $2"; }
zk_has_leader() { zk_is 1 leader || zk_is 2 leader; }
zk_is_level() { [ -n "$(zk_zxid 3)" ] && [ "$(zk_zxid 3)" = "$(zk_zxid 1)" ]; }
zk_put() { # FROM TO
    for number in $(seq "$1" "$2"); do echo "create /node-$number value-$number"; done |
        java -Xmx96m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$classes" -Dlog4j.configuration="file:$work/zk/quiet.properties" \
            org.apache.zookeeper.ZooKeeperMain -server "127.0.0.1:${client[0]}" >"$work/zk/client" 2>&1
}
zk_round() { # FOLDER FROM TO EXPECTED
    for number in 1 2 3; do : >"$work/zk-$number.log"; done
    stop zk3 KILL
    zk_put "$2" "$3"
    zk_start 3
    wait_until "server 3 follows" zk_is 3 follower
    wait_until "server 3 catches up" zk_is_level
    mkdir "$work/$1"
    cp "$work"/zk-?.log "$work/$1/"
    judge "$work/$1" "$4"
}
if command -v java >/dev/null && [ -e "$jar" ]; then
    ran=1
    read -ra all <<<"$(ports 9)"
    client=("${all[@]:0:3}") quorum=("${all[@]:3:3}") election=("${all[@]:6:3}")
    for number in 1 2 3; do
        mkdir -p "$work/zk/$number/data"
        echo "$number" >"$work/zk/$number/data/myid"
        {
            echo "tickTime=500"
            echo "initLimit=20"
            echo "syncLimit=20"
            echo "4lw.commands.whitelist=*"
            echo "dataDir=$work/zk/$number/data"
            echo "clientPort=${client[$((number - 1))]}"
            for other in 1 2 3; do echo "server.$other=127.0.0.1:${quorum[$((other - 1))]}:${election[$((other - 1))]}"; done
        } >"$work/zk/$number/zoo.cfg"
        {
            echo "log4j.rootLogger=INFO, F"
            echo "log4j.appender.F=org.apache.log4j.FileAppender"
            echo "log4j.appender.F.File=$work/zk-$number.log"
            echo "log4j.appender.F.layout=org.apache.log4j.PatternLayout"
            echo "log4j.appender.F.layout.ConversionPattern=%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n"
        } >"$work/zk/$number/log4j.properties"
    done
    echo "log4j.rootLogger=OFF" >"$work/zk/quiet.properties"
    # The third one joins last, so that it leads nobody.
    zk_start 1
    zk_start 2
    wait_until "ZooKeeper has a leader" zk_has_leader
    zk_start 3
    wait_until "server 3 follows" zk_is 3 follower
    zk_put 1 20
    wait_until "server 3 is level" zk_is_level
    echo "== ZooKeeper: a follower is killed and started again after 20 writes"
    zk_round zk-healthy 21 40 ""
    echo "== ZooKeeper: the same after 900 writes, of which the leader remembers 500"
    zk_round zk-behind 41 940 "follower-by-snapshot"
else
    echo "left out: java or $jar is not there"
fi
[ -n "$ran" ] || exit 77
