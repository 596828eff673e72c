"""What a section of the calibration is made of: percentages, tables in Markdown, and how much to simulate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill

import numpy as np

from benchmarks.calibration.simulation import Generator
from redelve.stats.mean_squares import FloatArray


@dataclass(frozen=True)
class Effort:
    """Numbers of simulated data sets, from what is drawn quickly to what takes long."""

    many: int = 100_000
    some: int = 10_000
    few: int = 4_000
    least: int = 2_000


@dataclass(frozen=True)
class Finding:
    """A percentage that was measured: of what, in which setting, from how many data sets."""

    what: str
    where: str
    percent: float
    count: int


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, what the numbers are, tables, and the findings for the overview."""

    title: str
    words: str
    body: str
    findings: tuple[Finding, ...]

    def text(self) -> str:
        """The section in Markdown."""
        return f"## {self.title}\n\n{prose(self.words)}\n\n{self.body}"


def prose(text: str) -> str:
    """A paragraph in lines."""
    return fill(" ".join(text.split()), width=106, break_on_hyphens=False)


Make = Callable[[Generator, Effort], Section]


def percent(hits: FloatArray | Sequence[bool]) -> float:
    """Share of hits, in per cent."""
    return 100 * float(np.mean(hits))


def rejections(p_values: FloatArray, level: float = 0.05) -> float:
    """Per cent of p-values below the level; an undefined one does not reject."""
    return percent(np.asarray(p_values < level, dtype=np.float64))


def margin(count: int, rate: float = 5.0) -> str:
    """Standard error of a percentage near `rate` found from `count` simulations."""
    return f"{np.sqrt(rate * (100 - rate) / count):.2f}"


def spread(values: Sequence[float]) -> str:
    """Smallest to largest of some percentages."""
    return f"{min(values):.1f} – {max(values):.1f}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; numbers with one decimal unless they are text already."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = (f"{x:.1f}" if isinstance(x, float) else str(x) for x in row)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def listing(findings: Sequence[Finding], of: str) -> str:
    """A table with a line for each finding."""
    return table(
        ["what", "setting", of, "data sets"], [[f.what, f.where, f.percent, f"{f.count:,}"] for f in findings]
    )
