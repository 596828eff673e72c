"""Files of figures: normalize.n, Test-set-stats and loss files (manual, appendix C)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from redelve.data.delve.case_files import read_cases
from redelve.data.delve.keyed_lines import numbered_lines, shown
from redelve.data.files import StrPath, read_text
from redelve.errors import FormatError
from redelve.model.coding import Normalization
from redelve.model.dataset import Numbers
from redelve.text_numbers import is_integer, parse_limit, parse_number, tcl

if TYPE_CHECKING:
    from redelve.answers.losses import Loss
    from redelve.answers.predictions import Target

STATISTICS = ("mean", "stdDev", "median", "absDev")
EXTREMES = ("min", "max")
LETTERS = ("L", "Q", "A", "Z", "S")
UNDEFINED = "undefined"
TEST_SET_STATS = "Test-set-stats"
LARGEST_FILE = 4 << 30


def write_normalization(statistics: Mapping[int, Normalization]) -> str:
    """Four lines per numerical attribute, and two for extremes, to the bit, where they are kept."""
    lines = []
    for number, entry in statistics.items():
        figures = (entry.mean, entry.standard_deviation, entry.median, entry.absolute_deviation)
        for name, value in zip(STATISTICS, figures, strict=True):
            lines.append(f"normalization options {name} {number} {tcl(value)}\n")
        for name, extreme in zip(EXTREMES, (entry.least, entry.greatest), strict=True):
            if extreme is not None:
                lines.append(f"normalization options {name} {number} {extreme!r}\n")
    return "".join(lines)


def read_normalization(text: str, path: str) -> dict[int, Normalization]:
    """The statistics by attribute number."""
    found: dict[int, dict[str, float]] = {}
    for line, raw in numbered_lines(text):
        if not raw.strip():
            continue
        words = raw.split()
        value = parse_number(words[4]) if len(words) == 5 else None
        if (
            words[:2] != ["normalization", "options"]
            or value is None
            or not is_integer(words[3])
            or len(words[3]) > 15
        ):
            raise FormatError(path, line, f'unknown line: "{shown(raw.strip())}"')
        if words[2] not in STATISTICS + EXTREMES:
            known = ", ".join(STATISTICS + EXTREMES)
            raise FormatError(path, line, f'unknown statistic "{words[2]}": known are {known}')
        found.setdefault(int(words[3]), {})[words[2]] = value
    for number, figures in found.items():
        for name in STATISTICS:
            if name not in figures:
                raise FormatError(path, None, f"no {name} given for attribute {number}")
    return {
        number: Normalization(
            *(figures[name] for name in STATISTICS), *(figures.get(name) for name in EXTREMES)
        )
        for number, figures in found.items()
    }


TestSetStats = dict[str, tuple[float | None, ...]]


def write_test_set_stats(stats: TestSetStats) -> str:
    """A line per loss, one entry per target."""
    lines = []
    for letter in LETTERS:
        entries = (UNDEFINED if value is None else tcl(value) for value in stats[letter])
        lines.append(f"{letter} {' '.join(entries)}\n")
    return "".join(lines)


def read_test_set_stats(text: str, path: str, target_count: int | None = None) -> TestSetStats:
    """The baseline figures by loss; the surplus `undefined` DELVE 1.1 wrote for real targets is dropped."""
    stats: TestSetStats = {}
    for line, raw in numbered_lines(text):
        words = raw.split()
        if not words:
            continue
        if words[0] not in LETTERS or words[0] in stats:
            raise FormatError(
                path, line, f'expected one line for each of {" ".join(LETTERS)}: "{shown(raw.strip())}"'
            )
        entries = words[1:]
        if target_count is not None and words[0] == "L" and len(entries) > target_count:
            entries = entries[:target_count]
        stats[words[0]] = tuple(_entry(word, path, line) for word in entries)
        if target_count is not None and len(entries) != target_count:
            raise FormatError(path, line, f"expected {target_count} entries but got {len(entries)}")
    for letter in LETTERS:
        if letter not in stats:
            raise FormatError(path, None, f'there is no line for loss "{letter}": run mgendata again')
    return stats


def _entry(word: str, path: str, line: int) -> float | None:
    if word == UNDEFINED:
        return None
    value = parse_number(word)
    if value is None:
        raise FormatError(path, line, f'expected a number or "undefined" but got "{shown(word)}"')
    return value


def write_losses(losses: Iterable[float], number: Callable[[float], str] = tcl) -> str:
    """One loss a line, as `number` writes it."""
    return "".join(f"{number(loss)}\n" for loss in losses)


def read_losses(path: StrPath, loss: Loss | None = None, targets: Sequence[Target] = ()) -> Numbers:
    """The losses in a file, one a line; those that the loss can't have on these targets are refused."""
    losses = _losses_in(path)
    if loss is not None and (found := loss.impossible(losses, targets)) is not None:
        row, reason = found
        raise FormatError(path, row + 1, f"{reason}: make the file anew, with mloss, or remove it")
    return losses


def _losses_in(path: StrPath) -> Numbers:
    try:
        column = read_cases(Path(path), 1).columns[0]
    except FormatError:
        return parse_losses(read_text(path, limit=LARGEST_FILE).split("\n"), str(path))
    except IndexError:
        raise FormatError(path, None, "the file is empty: run mloss again") from None
    losses = column.numbers()
    return parse_losses(column.texts().tolist(), str(path)) if np.isnan(losses).any() else losses


def parse_losses(words: Sequence[str], path: str) -> Numbers:
    """The losses given as texts, one per case; Inf is allowed, NaN is not."""
    losses = np.empty(len(words), dtype=np.float64)
    for row, word in enumerate(words):
        value = parse_limit(word)
        if value is None or math.isnan(value):
            raise FormatError(path, row + 1, f'expected a loss but got "{shown(word)}"')
        losses[row] = value
    return losses
