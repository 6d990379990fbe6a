#!/usr/bin/env python3
"""Instructions per byte of input, by callgrind: the slope between 20 and 60 MB of a log with known counts.

    cargo build --profile dist && cargo build --profile dist --bench logs
    benches/slope.py target/dist/casdiag [argument of analyze...]
    benches/slope.py target/dist/casdiag --many-rules

`--many-rules` counts them for rule bases of 6, 64 and 256 rules instead, each with a signal of its own.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SIZES = [20, 60]


def generator(casdiag: str) -> Path:
    """The bench beside the program, which makes the logs."""
    built = [path for path in Path(casdiag).parent.glob("deps/logs-*") if path.suffix == ""]
    if not built:
        sys.exit("build the bench first: cargo build --profile dist --bench logs")
    return max(built, key=lambda path: path.stat().st_mtime)


def instructions(command: list[str]) -> int:
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    ran = subprocess.run(valgrind + command, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    return int(re.search(r"Collected : (\d+)", ran.stderr)[1])


def slope(before: list[str], folders: list[Path], after: list[str]) -> float:
    small, large = (instructions([*before, str(folder), *after]) for folder in folders)
    return (large - small) / ((SIZES[1] - SIZES[0]) * 1e6)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    casdiag, arguments = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / f"{size}mb" for size in SIZES]
        for folder, size in zip(folders, SIZES):
            subprocess.run([generator(casdiag), "generate", folder, "--mb", str(size)], check=True)
        if arguments != ["--many-rules"]:
            options = ["--threads", "1", "--no-progress", "--fail-on", "never", *arguments]
            print(f"{slope([casdiag, 'analyze'], folders, options):.2f} instructions per byte")
            return
        base = None
        for count in [6, 64, 256]:
            cost = slope([str(generator(casdiag)), "rules"], folders, [str(count)])
            base = base or cost
            print(f"{count} rules: {cost:.2f} instructions per byte, {cost / base:.2f} times those of 6")


if __name__ == "__main__":
    main()
