"""Verdicts in sentences, and as CSV."""

from __future__ import annotations

import csv
import io

from redelve.report.formatting import MINUS
from redelve.stats.redraws import JointTest
from redelve.studies.proben1.printed import MEASURES
from redelve.studies.proben1.verdicts import LEVEL, TABLES_OF, ColumnVerdict, StudyVerdict

PARTS_NAMED = {
    "linear": "linear networks (tables 3 and 4)",
    "pivot": "pivot architectures (tables 8 and 9)",
    "no-shortcut": "no-shortcut architectures (tables 10 and 11)",
}
TITLES = {**MEASURES, "rho": "ρ"}
RULE = (
    "Verdicts ask whether print is one more sample of the runs that ours come from. Samples of as many runs "
    "as were printed are drawn from ours; the place of the printed number among theirs is its score, for "
    "means among samples with the printed deviation. Bias tests the mean of a column's scores, spread their "
    "size, both against samples of ours that imitate print."
)


def verdict_lines(verdict: StudyVerdict) -> list[str]:
    """The verdict on each part and on the whole; why, where there is none."""
    lines = [_part_line(verdict, part) for part in verdict.parts]
    lines += [f"No verdict: {reason}." for reason in verdict.missing]
    if far := [f"{name} ({_title(one)}) {_signed(score)}" for one in verdict.columns
               for name, score in one.far.items() if not one.column.endswith(" sd")]:  # fmt: skip
        lines.append(f"Means with scores beyond one in a thousand: {', '.join(far)}.")
    lines += [f"Outliers by section 3.3.4: {one.outliers} of {one.runs} test errors of {one.part} runs."
              for one in verdict.outliers]  # fmt: skip
    if verdict.columns:
        lines.append(_whole_line(verdict))
    return lines


def _part_line(verdict: StudyVerdict, part: str) -> str:
    failed = verdict.failures(part)
    if not failed:
        nearest = min((one for one in verdict.columns if one.part == part), key=lambda one: one.p_value)
        return (
            f"Verdict on {PARTS_NAMED[part]}: passes; the smallest p-value is {_p(nearest.p_value)} "
            f"({_told(nearest)}), {_p(verdict.p_value(part))} when corrected for {verdict.test_count} tests."
        )
    return f"Verdict on {PARTS_NAMED[part]}: FAILS in {'; '.join(map(_told, failed))}."


def _whole_line(verdict: StudyVerdict) -> str:
    result = "passes" if verdict.passes() else "FAILS"
    return (
        f"The whole {result}: p = {_p(verdict.p_value())}, corrected for {verdict.test_count} tests; "
        f"one of {round(1 / LEVEL)} honest studies fails."
    )


def _title(column: ColumnVerdict) -> str:
    """A column in words, as "pivot test set sd"."""
    name, _, spread = column.column.partition(" ")
    return f"{column.part} {TITLES[name]}{f' {spread}' if spread else ''}"


def _told(column: ColumnVerdict) -> str:
    """A column and the test that speaks most against it."""
    test = min(column.tests, key=lambda one: one.p_value)
    return f"{_title(column)}, {test.kind} {_signed(test.statistic)}"


def _p(value: float) -> str:
    return f"{value:.2g}" if value > 1e-9 else "0.000000001 or less"


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", MINUS)


def verdicts_csv(verdict: StudyVerdict) -> str:
    """A line for each column: its tests, and its datasets' scores in the last cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    kinds = ("bias", "spread")
    tested = [name for kind in kinds for name in (kind, f"{kind}_p")]
    writer.writerow(("part", "tables", "column", "datasets", *tested, "passes", "scores"))
    for one in verdict.columns:
        by_kind: dict[str, JointTest] = {test.kind: test for test in one.tests}
        numbers = [value for kind in kinds for value in _numbers(by_kind.get(kind))]
        scores = " ".join(f"{name}={score:.3f}" for name, score in one.scores.items())
        tables = "-".join(map(str, TABLES_OF[one.part]))
        passes = one.p_value * verdict.test_count >= LEVEL
        writer.writerow((one.part, tables, one.column, len(one.scores), *numbers, passes, scores))
    return out.getvalue()


def _numbers(test: JointTest | None) -> tuple[str, str]:
    return ("", "") if test is None else (f"{test.statistic:.6g}", f"{test.p_value:.6g}")
