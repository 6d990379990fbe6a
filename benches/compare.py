#!/usr/bin/env python3
"""Compares casdiag with what people use today, on logs with known counts.

    cargo build --profile dist
    cargo bench --profile dist --bench logs -- generate DIR
    benches/compare.py target/dist/casdiag DIR

Every round runs each command once, one after another, so that a loaded machine slows all of them; what is printed is the
median wall time as a ratio to casdiag's, and the peak of memory. Programs that are not installed are left out. Those
that count do a part of the work: lines per minute, node and text, and refusals per part and table.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TEXTS = [
    "did not prove it still holds the manifest it offered for part",
    "Relink confirm is unproven (unknown)",
    "finished (no bytes transferred)",
    "ref_catalog",
    "(S3_ERROR)",
    "<Fatal>",
]
ROUNDS = 5

# Counts per minute, node and text; the node is the folder of the file.
AWK_TESTS = (
    'if (cut = index($0, " for part ")) { if (index($0, "did not prove")) { split(substr($0, cut + 10), word, " "); parts[word[1]]++; '
    'split(substr($0, index($0, "> ") + 2), word, " "); tables[word[1]]++ } } '
) + " ".join(f'if (index($0, "{text}")) count[at " {number}"]++;' for number, text in enumerate(TEXTS))
AWK_END = "END { for (cell in count) print cell, count[cell]; for (part in parts) print part, parts[part]; for (table in tables) print table, tables[table] }"
ONE_PASS = f'FNR == 1 {{ n = split(FILENAME, path, "/"); node = path[n - 1] }} {{ if (substr($0, 5, 1) == ".") minute = substr($0, 1, 16); at = node " " minute; {AWK_TESTS} }} {AWK_END}'
SIEVED = f'{{ cut = index($0, ":"); n = split(substr($0, 1, cut - 1), path, "/"); line = substr($0, cut + 1); at = path[n - 1] " " substr(line, 1, 16); {AWK_TESTS} }} {AWK_END}'
SQL_TESTS = ", ".join("sum(CASE WHEN position('{0}' IN line) > 0 THEN 1 ELSE 0 END) AS s{1}".format(t, i) for i, t in enumerate(TEXTS))
DUCKDB = """
import duckdb, sys
duckdb.sql("SET threads = 2")
duckdb.sql(f\"\"\"COPY (SELECT filename, substr(line, 1, 16) AS minute, %s FROM read_csv('{sys.argv[1]}/*/*.log', delim = '\\\\x01',
  header = false, quote = '', escape = '', columns = {{'line': 'VARCHAR'}}, filename = true) GROUP BY ALL) TO '{sys.argv[2]}'\"\"\")
for what in ['for part ([^ ]+)', '> ([^ ]+)']:
    duckdb.sql(f\"\"\"SELECT regexp_extract(line, '{what}', 1) AS what, count(*) FROM read_csv('{sys.argv[1]}/*/*.log', delim = '\\x01', header = false,
      quote = '', escape = '', columns = {{'line': 'VARCHAR'}}) WHERE position('did not prove' IN line) > 0 GROUP BY ALL ORDER BY 2 DESC LIMIT 20\"\"\").fetchall()
""" % SQL_TESTS
CH_TESTS = ", ".join(f"countIf(position(line, '{text}') > 0) AS s{number}" for number, text in enumerate(TEXTS))
CHDB = """
import chdb, sys
print(chdb.query(f"SELECT _path, substring(line, 1, 16) AS minute, %s FROM file('{sys.argv[1]}/*/*.log', LineAsString) GROUP BY _path, minute SETTINGS max_threads = 2", "TabSeparated"))
for what in ['for part ([^ ]+)', '> ([^ ]+)']:
    print(chdb.query(f"SELECT extract(line, '{what}') AS what, count() FROM file('{sys.argv[1]}/*/*.log', LineAsString) WHERE position(line, 'did not prove') > 0 "
      "GROUP BY what ORDER BY 2 DESC LIMIT 20 SETTINGS max_threads = 2", "TabSeparated"))
""" % CH_TESTS


def commands(casdiag: str, folder: Path, scratch: Path) -> dict[str, str]:
    logs = " ".join(str(path) for path in sorted(folder.glob("*/*.log*")))
    searched = " ".join(f"-e '{text}'" for text in TEXTS)
    found = {
        "casdiag": f"{casdiag} analyze {folder} --threads 2 --no-progress --fail-on never --format json",
        "casdiag, one thread": f"{casdiag} analyze {folder} --threads 1 --no-progress --fail-on never --format json",
        "wc -l": f"wc -l {logs}",
    }
    if shutil.which("rg"):
        found["rg -c, six texts"] = f"rg -c -F {searched} {logs}"
    if shutil.which("rg") and shutil.which("mawk"):
        found["rg | mawk"] = f"rg -F -N --no-heading --with-filename {searched} {logs} | mawk '{SIEVED}'"
    if shutil.which("mawk"):
        found["mawk, one pass"] = f"mawk '{ONE_PASS}' {logs}"
    for name, module, script in [("DuckDB", "duckdb", DUCKDB), ("chdb", "chdb", CHDB)]:
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0:
            path = scratch / f"{module}_counts.py"
            path.write_text(script)
            found[name] = f"{sys.executable} {path} {folder} {scratch}/{module}.out"
    return found


def run(command: str, scratch: Path) -> tuple[float, int]:
    """Wall seconds and kilobytes of the largest process."""
    with open(scratch / "stdout", "wb") as out:
        start = time.perf_counter()
        child = subprocess.Popen(["sh", "-c", command], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"failed: {command}")
    return wall, usage.ru_maxrss


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    casdiag, folder = sys.argv[1], Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        todo = commands(casdiag, folder, scratch)
        walls: dict[str, list[float]] = {name: [] for name in todo}
        peaks = dict.fromkeys(todo, 0)
        for _ in range(ROUNDS):
            for name, command in todo.items():
                wall, peak = run(command, scratch)
                walls[name].append(wall)
                peaks[name] = max(peaks[name], peak)
    ours = statistics.median(walls["casdiag"])
    print(f"{'':<22}{'wall, casdiag = 1':>18}{'peak MB':>10}")
    for name, wall in sorted(walls.items(), key=lambda it: statistics.median(it[1])):
        print(f"{name:<22}{statistics.median(wall) / ours:>18.2f}{peaks[name] / 1024:>10.0f}")


if __name__ == "__main__":
    main()
