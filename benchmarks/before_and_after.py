"""Two states of the code in turns: `python -m benchmarks.before_and_after FOLDER [NAME …] [--turns 3]`.

FOLDER is a checkout of another commit with a virtual environment `.venv` of its own and the same versions
of the libraries. Each benchmark runs in a process of each checkout, one after the other, so often; what else
the machine does then hits both alike. The table has, of what both measure, the lowest and the highest seconds
(or MB) of each, what the lowest of this code is of the lowest of the other's, and each one's ratios to the
named alternative.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

NAMES = ("startup", "reading", "mstats", "mgendata", "archive", "assess", "nets", "challenge")
HERE = Path(__file__).parents[1]
RENAMED = {
    "assess: 3 methods × 5 tasks × 8 instances (120 fits)": "in this process",
    "assess with two processes: 3 methods × 5 tasks × 8 instances (120 fits)": "no cells",
}
"""Rows of the first house, and what was put behind their names when every fit got a cell of its own."""
SCRIPT = "import json; from benchmarks.bench_{name} import run; print('\\n' + json.dumps(run()))"

Measured = dict[tuple[str, str], list[tuple[float, float]]]
"""By row and alternative: amounts and ratios of each turn."""


def measure(checkout: Path, name: str, into: Measured) -> None:
    """Run a benchmark once with the Python of a checkout."""
    words = [str(checkout / ".venv" / "bin" / "python"), "-c", SCRIPT.format(name=name)]
    done = subprocess.run(words, cwd=checkout, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} in {checkout} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    for row in json.loads(done.stdout.splitlines()[-1]):
        key = str(row["name"]), str(row.get("against", ""))
        into.setdefault(key, []).append((float(row["ours"]), float(row["ratio"])))


def extent(values: Sequence[float]) -> str:
    """The lowest and the highest number."""
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} – {high}"


def line(key: tuple[str, str], before: Measured, after: Measured) -> str | None:
    """A row that both have; None where only one has it."""
    name, against = key
    now = next((one for one in (name, f"{name}, {RENAMED.get(name)}") if (one, against) in after), None)
    if now is None:
        return None
    old, new = before[key], after[now, against]
    share = min(amount for amount, _ in new) / min(amount for amount, _ in old)
    cells = [extent(part) for turns in (old, new) for part in zip(*turns, strict=True)]
    return f"| {now} | {cells[0]} | {cells[2]} | **{share:.2f}** | {cells[1]} | {cells[3]} | {against} |"


def table(before: Measured, after: Measured) -> list[str]:
    """The rows that both have, in Markdown."""
    found = [line(key, before, after) for key in before]
    return [
        "| what | before | now | now ÷ before | ratio before | ratio now | to |",
        "|---|---|---|---|---|---|---|",
        *(one for one in found if one is not None),
    ]


def run(checkouts: Mapping[str, Path], names: Sequence[str], turns: int) -> dict[str, Measured]:
    """All benchmarks in turns."""
    found: dict[str, Measured] = {when: {} for when in checkouts}
    for name in names:
        for _ in range(turns):
            for when, checkout in checkouts.items():
                measure(checkout, name, found[when])
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="a checkout of another commit")
    parser.add_argument("names", nargs="*", default=NAMES, help="benchmarks that both have")
    parser.add_argument("--turns", type=int, default=3, help="how often each of both runs")
    given = parser.parse_args(words)
    found = run({"before": given.folder, "after": HERE}, given.names, given.turns)
    sys.stdout.write("\n".join(table(found["before"], found["after"])) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
