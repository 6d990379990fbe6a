#!/usr/bin/env bash
# A real etcd against wal-layout-check: started on loopback, written to, stopped: clean. Then ten bytes of a record in its last file are
# changed: damaged, and the right record is named.
#
# Needs etcd and etcdctl (Debian: etcd-server, etcd-client) and python3; says so and ends with 77 where they are missing.
# Usage: tests/live-etcd.sh [path of casdiag]
set -euo pipefail

casdiag=${1:-target/release/casdiag}
for tool in etcd etcdctl python3; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
[ -x "$casdiag" ] || { echo "no program at $casdiag: build it with cargo build --release"; exit 2; }

work=$(mktemp -d)
etcd_pid=
stop() {
    if [ -n "$etcd_pid" ]; then
        kill "$etcd_pid" 2>/dev/null || true
        wait "$etcd_pid" 2>/dev/null || true
        etcd_pid=
    fi
}
trap 'stop; rm -rf "$work"' EXIT

client=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
peer=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
start() {
    etcd --name live --data-dir "$work/data" \
        --listen-client-urls "http://127.0.0.1:$client" --advertise-client-urls "http://127.0.0.1:$client" \
        --listen-peer-urls "http://127.0.0.1:$peer" --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
        --initial-cluster "live=http://127.0.0.1:$peer" >>"$work/etcd.log" 2>&1 &
    etcd_pid=$!
    export ETCDCTL_API=3
    for _ in $(seq 100); do
        if etcdctl --endpoints "http://127.0.0.1:$client" endpoint health >/dev/null 2>&1; then
            return
        fi
        kill -0 "$etcd_pid" 2>/dev/null || { echo "etcd ended:"; tail -5 "$work/etcd.log"; exit 1; }
        sleep 0.1
    done
    echo "etcd did not become healthy"
    exit 1
}
put() {
    for n in $(seq "$1" "$2"); do
        echo "put key-$n value-$n-$(printf 'x%.0s' $(seq 40))"
    done | while read -r verb key value; do
        etcdctl --endpoints "http://127.0.0.1:$client" "$verb" "$key" "$value" >/dev/null
    done
}

start
put 1 120
stop
start
put 121 200
stop

wal="$work/data/member/wal"
echo "== stopped in order"
"$casdiag" wal-layout-check "$work/data"
"$casdiag" wal-layout-check "$work/data" --format json >"$work/clean.json"

echo "== ten bytes of a closed record changed"
last=$(find "$wal" -name '*.wal' | sort | tail -n 1)
"$casdiag" wal dump "$last" --from 100 --to 100 | tee "$work/record.txt"
python3 - "$last" "$work/record.txt" <<'PY'
import os, sys
path, record = sys.argv[1:]
offset, size = next((int(line.split()[0]), int(line.split()[1])) for line in open(record) if "100" in line.split()[2:3])
# Behind the length field, the record's head and the entry's own fields: the bytes of the written value.
at = offset + size // 2
with open(path, "r+b") as file:
    file.seek(at)
    old = file.read(10)
    new = old
    while any(a == b for a, b in zip(old, new)):
        new = os.urandom(10)
    file.seek(at)
    file.write(new)
print(f"offset {at}: {old.hex()} is now {new.hex()}")
PY
code=0
"$casdiag" wal-layout-check "$work/data" --format json >"$work/damaged.json" || code=$?
"$casdiag" wal-layout-check "$work/data" || true

python3 - "$work/clean.json" "$work/damaged.json" "$code" "$work/record.txt" <<'PY'
import json, sys
clean, damaged = (json.load(open(path)) for path in sys.argv[1:3])
offset = next(int(line.split()[0]) for line in open(sys.argv[4]) if "100" in line.split()[2:3])
wal = clean["wal"][0]
assert (wal["verdict"], wal["problems"], wal["layout"]) == ("clean", [], "etcd"), wal
assert wal["end_lsn"] > 200, wal["end_lsn"]
assert sys.argv[3] == "1", f"exit code {sys.argv[3]}"
problems = damaged["wal"][0]["problems"]
assert [(p["kind"], p["lsn"], p["offset"], p["severity"]) for p in problems] == [("checksum", 100, offset, "damage")], problems
print(f"ok: clean up to {wal['end_lsn']}, then checksum at LSN 100, offset {offset}")
PY
