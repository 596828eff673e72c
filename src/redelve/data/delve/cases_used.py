"""For which cases a method's directory was made: Cases-used, or else Test-set-stats, which DELVE wrote."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from redelve.answers.answer import baselines_by_target
from redelve.answers.case_identity import truths_digest, values_digest
from redelve.answers.predictions import Truth
from redelve.data.delve.figure_files import LETTERS, TEST_SET_STATS, TestSetStats, read_test_set_stats
from redelve.data.delve.keyed_lines import numbered_lines, shown, strip_comment
from redelve.data.delve.reading import TaskSource
from redelve.errors import FormatError
from redelve.model import Instance
from redelve.model.dataset import SelectedColumn
from redelve.text_numbers import tcl

CASES_USED = "Cases-used"
HEADER = (
    "# instance, test cases, digest of their true values, digest of all values in the training and test set\n"
)
LINE = re.compile(r"(\d{1,9}) (\d{1,15}) ([0-9a-f]{32}) ([0-9a-f]{32}|-)", re.ASCII)
FIGURES = ("S", "A", "Q", "Z")
"""The lines of Test-set-stats that tell data apart; L follows from them."""
CLOSE, NOTHING = 1e-6, 1e-15
"""Figures of the same cases differ by less than this share: DELVE rounded to nine digits on the way."""

Read = Callable[[str], tuple[str, str] | None]
"""Gives a file's text and path, if it is there."""


@dataclass(frozen=True)
class UsedCases:
    """An instance's cases: how many are for testing, and what they are."""

    count: int
    truths: str
    """The digest of the true values of the test cases."""
    values: str | None = None
    """The digest of all training and test cases, inputs included; None where inputs are not at hand."""


@dataclass(frozen=True)
class CaseEvidence:
    """What is known of the cases that results are about: digests by instance, and figures of the test set."""

    used: Mapping[int, UsedCases] | None = None
    stats: TestSetStats | None = None

    @property
    def is_there(self) -> bool:
        """Whether anything is known."""
        return self.used is not None or self.stats is not None


def evidence_in(read: Read, target_count: int) -> CaseEvidence:
    """What the files of a method's directory tell."""
    used, stats = read(CASES_USED), read(TEST_SET_STATS)
    return CaseEvidence(
        None if used is None else read_cases_used(*used),
        None if stats is None else read_test_set_stats(*stats, target_count),
    )


def evidence_of(source: TaskSource, instances: Sequence[Instance]) -> CaseEvidence:
    """What the cases themselves tell."""
    return evidence_from(used_cases(source, instances), source.test_truths(instances))


def evidence_from(used: Mapping[int, UsedCases], every: Sequence[Truth]) -> CaseEvidence:
    """The evidence of instances whose test cases, each taken once, have these true values."""
    return CaseEvidence(used, baselines_by_target(every, LETTERS))


def used_cases(source: TaskSource, instances: Sequence[Instance]) -> dict[int, UsedCases]:
    """The cases of the instances, by their numbers."""
    columns = source.data.cases.columns
    found = {}
    for one in instances:
        parts = (SelectedColumn(column, rows) for rows in (one.training, one.testing) for column in columns)
        truths = source.test_truths_of(one)
        found[one.number] = UsedCases(len(one.testing), truths_digest(truths), values_digest(parts))
    return found


def write_cases_used(used: Mapping[int, UsedCases]) -> str:
    """A line for each instance."""
    lines = (f"{number} {one.count} {one.truths} {one.values or '-'}\n" for number, one in used.items())
    return HEADER + "".join(lines)


def read_cases_used(text: str, path: str) -> dict[int, UsedCases]:
    """The cases of every instance."""
    found: dict[int, UsedCases] = {}
    for line, raw in numbered_lines(text):
        if not (bare := strip_comment(raw)):
            continue
        match = LINE.fullmatch(bare)
        if match is None or int(match[1]) in found:
            raise FormatError(
                path, line, f'expected instance, test cases and two digests but got "{shown(bare)}"'
            )
        found[int(match[1])] = UsedCases(int(match[2]), match[3], None if match[4] == "-" else match[4])
    return found


def difference(one: CaseEvidence, other: CaseEvidence) -> str | None:
    """How the cases differ, in words that name both; None where they are the same as far as is known."""
    figures = _figures(one.stats, other.stats)
    if one.used is not None and other.used is not None:
        digests = _digests(one.used, other.used)
        return ", ".join(filter(None, (figures, digests))) if digests else None
    return figures


def _digests(one: Mapping[int, UsedCases], other: Mapping[int, UsedCases]) -> str | None:
    if one.keys() != other.keys():
        return f"{len(one)} instances against {len(other)}"
    for number, first in one.items():
        second = other[number]
        if (first.count, first.truths) != (second.count, second.truths):
            return (
                f"instance {number}: {first.count} test cases {first.truths[:8]}… "
                f"against {second.count} test cases {second.truths[:8]}…"
            )
        if None not in (first.values, second.values) and first.values != second.values:
            return f"instance {number}: the same test targets, but other inputs or other training cases"
    return None


def _figures(one: TestSetStats | None, other: TestSetStats | None) -> str | None:
    if one is None or other is None:
        return None
    for letter in FIGURES:
        for first, second in zip(one[letter], other[letter], strict=True):
            if first is None or second is None:
                continue
            if not math.isclose(first, second, rel_tol=CLOSE, abs_tol=NOTHING):
                return f"{TEST_SET_STATS} {letter} {tcl(first)} against {tcl(second)}"
    return None
