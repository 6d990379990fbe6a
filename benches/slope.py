#!/usr/bin/env python3
"""Instructions per byte of input, by callgrind: the slope between 20 and 60 MB of a log with known counts.

    cargo build --profile dist && cargo build --profile dist --bench logs
    benches/slope.py target/dist/casdiag [argument of analyze...]
    benches/slope.py target/dist/casdiag --many-rules
    benches/slope.py target/dist/casdiag --forms                # needs the bench alone: --bench forms

`--many-rules` counts them for rule bases of 6, 64 and 256 rules instead, each with a signal of its own.
`--forms` counts them for every form that a log comes in, against the plain text log.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SIZES = [20, 60]
OPTIONS = ["--threads", "1", "--no-progress", "--fail-on", "never"]


def generator(casdiag: str, bench: str = "logs") -> Path:
    """The bench beside the program, which makes the logs."""
    built = [path for path in Path(casdiag).parent.glob(f"deps/{bench}-*") if path.suffix == ""]
    if not built:
        sys.exit(f"build the bench first: cargo build --profile dist --bench {bench}")
    return max(built, key=lambda path: path.stat().st_mtime)


def instructions(command: list[str]) -> int:
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    ran = subprocess.run(valgrind + command, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    return int(re.search(r"Collected : (\d+)", ran.stderr)[1])


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def slope(before: list[str], folders: list[Path], after: list[str]) -> float:
    small, large = (instructions([*before, str(folder), *after]) for folder in folders)
    return (large - small) / (size(folders[1]) - size(folders[0]))


def forms(casdiag: str, scratch: Path) -> None:
    """Every form against the first one, the plain text log."""
    makes = generator(casdiag, "forms")
    names = subprocess.run([makes, "list"], check=True, capture_output=True, text=True).stdout.splitlines()
    plain = None
    for name in names:
        folders = [scratch / f"{name} {megabytes}" for megabytes in SIZES]
        for folder, megabytes in zip(folders, SIZES):
            subprocess.run([makes, "generate", name, folder, "--mb", str(megabytes)], check=True)
        cost = slope([str(makes), "analyze"], folders, [])
        plain = plain or cost
        print(f"{name:<24} {cost:6.2f} instructions per byte, {plain / cost:.2f} times the speed of the text log", flush=True)
        for folder in folders:
            shutil.rmtree(folder)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    casdiag, arguments = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        if arguments == ["--forms"]:
            return forms(casdiag, Path(scratch))
        folders = [Path(scratch) / f"{size}mb" for size in SIZES]
        for folder, megabytes in zip(folders, SIZES):
            subprocess.run([generator(casdiag), "generate", folder, "--mb", str(megabytes)], check=True)
        if arguments != ["--many-rules"]:
            cost = slope([casdiag, "analyze"], folders, [*OPTIONS, *arguments])
            print(f"{cost:.2f} instructions per byte")
            return
        base = None
        for count in [6, 64, 256]:
            cost = slope([str(generator(casdiag)), "rules"], folders, [str(count)])
            base = base or cost
            print(f"{count} rules: {cost:.2f} instructions per byte, {cost / base:.2f} times those of 6")


if __name__ == "__main__":
    main()
