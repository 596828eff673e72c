"""Run the benchmarks (all, or those named); when all were run, write benchmarks/RESULTS.md.

NOTES.md, what was measured otherwise, goes to its end.
"""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from pathlib import Path

from redelve import __version__

NAMES = (
    "startup",
    "reading",
    "mstats",
    "mgendata",
    "archive",
    "assess",
    "small_jobs",
    "first_answer",
    "findings",
    "growth",
    "scores",
    "nets",
    "rates",
    "search",
    "settings",
    "challenge",
)
HEAD = """# Benchmark results

Ratios of redelve's time (or memory) to that of a named alternative, measured in the same run on the same
machine: absolute times differ from machine to machine and from hour to hour, ratios do so much less.
`make bench` makes this file anew.

"""
COLUMNS = ("what", "redelve", "alternative", "ratio", "bound", "the alternative is", "command")


def line(row: dict[str, object]) -> str:
    bound = "" if row.get("bound") is None else f"≤ {row['bound']:g}"
    numbers = [f"{float(str(row[key])):.3g}" for key in ("ours", "alternative")]
    against = row.get("against", "")
    return (
        f"| {row['name']} | {numbers[0]} | {numbers[1]} | **{float(str(row['ratio'])):.2f}** | {bound} "
        f"| {against} | `{row['command']}` |"
    )


def main(names: list[str]) -> int:
    rows = [row for name in names or NAMES for row in import_module(f"benchmarks.bench_{name}").run()]
    table = [
        "| what | redelve | alternative | ratio | bound | alternative is | command |",
        "|---|---|---|---|---|---|---|",
    ]
    table += [line(row) for row in rows]
    machine = (
        f"redelve {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    text = HEAD + f"{machine}. Times in seconds, memory as stated.\n\n" + "\n".join(table) + "\n"
    sys.stdout.write(text)
    if not names:
        here = Path(__file__).parent
        (here / "RESULTS.md").write_text(f"{text}\n{(here / 'NOTES.md').read_text()}")
    return int(any(row.get("bound") is not None and row["ratio"] > row["bound"] for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
