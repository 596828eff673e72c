"""What `mstats` shows: a method's expected loss, or the difference of two, as text, JSON and CSV.

The text keeps DELVE's layout: a colon in column 48, raw values ending in column 61, standardised ones in
column 75 (counted from 0), nine significant digits.
"""

from __future__ import annotations

import csv
import io
import json
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redelve.answers.losses import Loss
from redelve.errors import StatisticsError
from redelve.findings import MethodLosses, expected_loss, losses_on, paired_test, standard_of
from redelve.findings.claims import StandardLoss
from redelve.run.results import Results, TaskFacts
from redelve.stats.estimates import Analysis, Comparison, Interval, clipped
from redelve.stats.seed_runs import RunsAnalysis
from redelve.text_numbers import round9, tcl

HEADER = f"{'Raw value':>63}{'Standardized':>15}"
UNDEFINED = "undefined"


@dataclass(frozen=True)
class Circumstances:
    """Whose losses these are and how they came about."""

    address: str
    loss_code: str
    loss_name: str
    method: str
    scheme: str
    training_sets: int
    training_set_size: int | None
    test_cases: int | None
    standard: StandardLoss
    units: int | None = None
    caveats: tuple[str, ...] = ()
    other: str | None = None
    training_sets_are: str = "disjoint"
    test_sets_are: str = "disjoint"
    runs: int = 1
    limits: Interval = (-math.inf, math.inf)
    """What can be lost at least and at most; a difference has no limits here."""


def summarise(results: Results, loss: Loss, method: str, other: str | None = None) -> Summary:
    """The summary of a method's losses on the only task there is, or of their differences from another's."""
    (task,) = results.tasks.values()
    losses = losses_on(results, task.address, loss.code)
    own = losses[method]
    found = expected_loss(task, own) if other is None else paired_test(task, own, losses[other])
    if not isinstance(found, Analysis | Comparison | RunsAnalysis):
        raise StatisticsError(f"{task.address} is cross-validated, which DELVE's summary has no lines for")
    return Summary(_circumstances(task, loss, own, other), found)


def _circumstances(task: TaskFacts, loss: Loss, losses: MethodLosses, other: str | None) -> Circumstances:
    tested = [task.instances[number] for number in losses.by_instance]
    units = [one.units for one in task.instances if one.units is not None]
    return Circumstances(
        address=f"/{losses.method}{task.address}",
        loss_code=loss.code,
        loss_name=loss.name,
        method=losses.method,
        scheme=task.scheme,
        training_sets=len(tested),
        training_set_size=_only({one.training_set_size for one in task.instances}),
        training_sets_are="overlapping" if task.training_overlap else "disjoint",
        test_sets_are="overlapping" if task.test_overlap else "disjoint",
        runs=losses.runs,
        test_cases=_only({len(one.case_numbers) for one in tested}),
        standard=standard_of(task, loss.code),
        units=len({label for labels in units for label in labels.tolist()}) if units else None,
        caveats=task.notes,
        other=other,
        limits=loss.limits(task.targets) if other is None else (-math.inf, math.inf),
    )


def _only(numbers: set[int]) -> int | None:
    """The number, if there is but one."""
    return numbers.pop() if len(numbers) == 1 else None


@dataclass(frozen=True)
class Summary:
    """One block of `mstats`: circumstances and what the analysis found."""

    circumstances: Circumstances
    result: Analysis | Comparison | RunsAnalysis

    @property
    def analysis(self) -> Analysis | RunsAnalysis:
        """The analysis of the losses, or of the differences."""
        if isinstance(self.result, Comparison):
            return self.result.differences
        return self.result

    @property
    def caveats(self) -> tuple[str, ...]:
        """All that must be said beside the numbers."""
        return tuple(dict.fromkeys((*self.circumstances.caveats, *self.result.caveats)))

    def text(self) -> str:
        """The block as DELVE lays it out."""
        about = self.circumstances
        parts = [
            f"{about.address}\nLoss: {about.loss_code} ({about.loss_name})\n{HEADER}\n",
            "\n".join(self._estimates()),
            "\n" + "\n".join(self._deviations()),
        ]
        if significance := self._significance():
            parts.append("\n" + "\n".join(significance))
        parts.append("\n" + "\n".join(self._footer()))
        if self.caveats:
            parts.append("\n" + "\n".join(_note(caveat) for caveat in self.caveats))
        return "\n".join(parts) + "\n"

    def _estimates(self) -> list[str]:
        about, result = self.circumstances, self.result
        if not isinstance(result, Comparison):
            return [
                self._mean_line("Estimated expected loss", result.mean),
                self._line("Standard error for estimate", result.standard_error),
            ]
        return [
            self._mean_line(f"Estimated expected loss for {about.method}", result.mean_first),
            self._mean_line(f"Estimated expected loss for /{about.other}", result.mean_second),
            self._line("Estimated expected difference", result.difference),
            self._line("Standard error for difference estimate", result.standard_error),
        ]

    def _deviations(self) -> list[str]:
        return [self._line(label, value) for label, value in _labelled_deviations(self.analysis)]

    def _mean_line(self, label: str, value: float | None) -> str:
        return _line(label, value, self.circumstances.standard.mean(_rounded(value)))

    def _line(self, label: str, value: float | None) -> str:
        return _line(label, value, self.circumstances.standard.spread(_rounded(value)))

    def _significance(self) -> list[str]:
        result = self.result
        if not isinstance(result, Comparison):
            return []
        lines = [f"    Significance of difference ({result.test}), {p_text(result.p_value)}"]
        if result.quasi_f is not None:
            lines.append(
                f"    (quasi-F test as in DELVE 1.1, not well calibrated: {p_text(result.quasi_f.p_value)})"
            )
        return lines

    def _footer(self) -> list[str]:
        about = self.circumstances
        count = about.training_sets
        training = _sets(count, about.training_sets_are, "training", about.training_set_size)
        testing = f"a common test set containing {about.test_cases} cases"
        if about.scheme == "hierarchical":
            testing = _sets(count, about.test_sets_are, "test", about.test_cases)
        lines = [f"    Based on {training} and", f"             {testing}."]
        if about.runs > 1:
            lines.append(f"    Each training set was used in {about.runs} runs with different random seeds.")
        if about.units is not None:
            lines.append(
                f"    Cases with the same commonality index count as one: {about.units} units in all."
            )
        return lines

    def record(self) -> dict[str, Any]:
        """Every figure by name, for JSON and CSV; what is undefined is None."""
        about, result, analysis = self.circumstances, self.result, self.analysis
        low, high = clipped(analysis.interval(), about.limits) or (None, None)
        cautious_low, cautious_high = clipped(analysis.cautious_interval(), about.limits) or (None, None)
        figures: dict[str, Any] = {
            "address": about.address,
            "loss": about.loss_code,
            "loss_name": about.loss_name,
            "method": about.method,
            "compared_with": about.other,
            "design": about.scheme,
            "training_sets": about.training_sets,
            "training_set_size": about.training_set_size,
            "test_cases": about.test_cases,
            "runs": about.runs,
            "units": about.units,
            "estimate": analysis.mean,
            "standard_error": analysis.standard_error,
            "degrees_of_freedom": analysis.degrees_of_freedom,
            "interval_low": low,
            "interval_high": high,
            "cautious_interval_low": cautious_low,
            "cautious_interval_high": cautious_high,
            "standardized_estimate": self._standardised_estimate(),
            "standardized_standard_error": about.standard.spread(analysis.standard_error),
        }
        for name, value in _named_deviations(analysis):
            figures[name] = value
            figures[f"standardized_{name}"] = about.standard.spread(value)
        figures |= _comparison_figures(result, about.standard)
        return {**figures, "caveats": list(self.caveats)}

    def _standardised_estimate(self) -> float | None:
        standard, mean = self.circumstances.standard, self.analysis.mean
        return standard.spread(mean) if self.circumstances.other else standard.mean(mean)


def _comparison_figures(
    result: Analysis | Comparison | RunsAnalysis, standard: StandardLoss
) -> dict[str, Any]:
    if not isinstance(result, Comparison):
        return {}
    return {
        "mean_first": result.mean_first,
        "mean_second": result.mean_second,
        "standardized_mean_first": standard.mean(result.mean_first),
        "standardized_mean_second": standard.mean(result.mean_second),
        "test": result.test,
        "statistic": result.statistic,
        "df1": result.df1,
        "df2": result.df2,
        "p_value": result.p_value,
        "cautious_p_value": result.cautious_p_value,
        "quasi_f_p_value": None if result.quasi_f is None else result.quasi_f.p_value,
    }


def _named_deviations(analysis: Analysis | RunsAnalysis) -> list[tuple[str, float | None]]:
    names = ["sd_training", "sd_test_cases", "sd_residual"]
    if isinstance(analysis, RunsAnalysis):
        names = ["sd_training", "sd_seed", "sd_test_cases", "sd_interaction", "sd_residual"]
    return [(name, getattr(analysis, name)) for name in names]


def _labelled_deviations(analysis: Analysis | RunsAnalysis) -> list[tuple[str, float | None]]:
    if isinstance(analysis, RunsAnalysis):
        labels = [
            ("SD from training sets", analysis.sd_training),
            ("SD from random seeds", analysis.sd_seed),
        ]
        labels.append(("SD from test cases", analysis.sd_test_cases))
        if analysis.averaged.scheme == "common":
            labels.append(("SD from training set by test case interactions", analysis.sd_interaction))
        return [*labels, ("SD from seed by test case interactions", analysis.sd_residual)]
    first = ("SD from training sets & stochastic training", analysis.sd_training)
    if analysis.scheme == "hierarchical":
        return [first, ("SD from test cases & stoch. pred. & interactions", analysis.sd_residual)]
    return [
        first,
        ("SD from test cases", analysis.sd_test_cases),
        ("SD from stoch. pred. & interactions", analysis.sd_residual),
    ]


def _sets(count: int, how: str, role: str, size: int | None) -> str:
    sizes = " of different sizes" if size is None else f", each containing {size} cases"
    return f"{count} {how} {role} sets{sizes}"


def _line(label: str, raw: float | None, standardised: float | None) -> str:
    return f"{label:>48}: {_number(raw):>12}  {_number(standardised):>12}"


def _rounded(value: float | None) -> float | None:
    return value if value is None or not math.isfinite(value) else round9(value)


def _number(value: float | None) -> str:
    return UNDEFINED if value is None else tcl(value)


def p_text(p_value: float | None) -> str:
    """A p-value as DELVE words it.

    >>> p_text(0.0529880206), p_text(0.0), p_text(None)
    ('p = 0.0529880206', 'p < 1e-300', 'p undefined')
    """
    if p_value is None:
        return f"p {UNDEFINED}"
    return f"p = {tcl(p_value)}" if p_value > 1e-300 else "p < 1e-300"


def _note(caveat: str) -> str:
    return textwrap.fill(caveat, 78, initial_indent="    Note: ", subsequent_indent="          ")


def to_json(summaries: Sequence[Summary]) -> str:
    """All figures of all blocks as a JSON list; infinite numbers as the texts Inf and -Inf."""
    records = [{key: _plain(value) for key, value in summary.record().items()} for summary in summaries]
    return json.dumps(records, indent=2, allow_nan=False) + "\n"


def to_csv(summaries: Sequence[Summary]) -> str:
    """All figures of all blocks, a row each; numbers as in JSON, and nothing where one is undefined."""
    records = [summary.record() for summary in summaries]
    columns = list(dict.fromkeys(key for record in records for key in record))
    output = io.StringIO()
    writer = csv.DictWriter(output, columns, lineterminator="\n")
    writer.writeheader()
    for record in records:
        plain = {key: _plain(value) for key, value in record.items()}
        writer.writerow({**plain, "caveats": "; ".join(record["caveats"])})
    return output.getvalue()


def _plain(value: Any) -> Any:
    return tcl(value) if isinstance(value, float) and math.isinf(value) else value
