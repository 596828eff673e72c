"""Results on PROBEN1's own problems in its terms: errors in per cent, and sentences for the eight points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from redelve.data.proben1.problem_names import variants_of
from redelve.findings import Findings
from redelve.findings.error_percentages import RunErrors, run_errors
from redelve.report import formatting
from redelve.report.formatting import listed
from redelve.report.sections import ProblemCollection
from redelve.run.results import Results, TaskFacts
from redelve.stats.many_runs import RunSummary, summarise_runs
from redelve.studies.proben1.checklist_phrases import Benchmark, phrases_for
from redelve.studies.proben1.network_words import network_words

MOST_RESULTS = 6
"""So many summaries are put into sentences; more belong into a table."""
MEASURES = {
    "squared_error_percentage": "test set squared error percentage",
    "classification_error": "test set classification error (per cent)",
}


class Proben1Collection(ProblemCollection):
    """PROBEN1's problems, for benchmark cards and reports."""

    def source(self, facts: TaskFacts) -> str:
        """The PROBEN1 datasets of a task."""
        named = variants(facts)
        return f"PROBEN1's {listed(named)} (Prechelt 1994)" if named else ""

    def validation_sets(self, facts: TaskFacts) -> str:
        """Where PROBEN1 takes its validation sets from."""
        said = "PROBEN1's validation sets are the last third of the training cases, rounded as in its files"
        return said if variants(facts) else ""

    def words(self, findings: Findings) -> Mapping[int, str]:
        """PROBEN1's phrases."""
        return suggested_words(findings)

    def tables(self, findings: Findings) -> tuple[formatting.ReportTable, ...]:
        """PROBEN1's errors."""
        found = errors_table(findings)
        return () if found is None else (found,)


def variants(facts: TaskFacts) -> tuple[str, ...]:
    """The PROBEN1 datasets that a task is made of; none for other tasks.

    A file of the user's own may have any name: it is not in historical use, as PROBEN1's are.
    """
    return variants_of(facts.address.split("/")[1]) if facts.usage == "historical" else ()


def errors_table(findings: Findings) -> formatting.ReportTable | None:
    """PROBEN1's errors of every method on PROBEN1's problems; None where there are no such tasks."""
    chosen = [task for task in findings.results.tasks.values() if variants(task)]
    if not chosen:
        return None
    grouped = _by_pair(_errors(findings.results))
    rows = [
        _row(task.address, name, grouped[task.address, name])
        for task in chosen
        for name in findings.results.methods
        if (task.address, name) in grouped
    ]
    return formatting.ReportTable(
        "proben1-errors",
        "Errors as PROBEN1 measures them",
        (
            formatting.TASK,
            formatting.METHOD,
            formatting.ReportColumn("Jobs", ("jobs",)),
            formatting.ReportColumn("Squared error percentage", ("squared", "squared_sd")),
            formatting.ReportColumn("Classification error", ("wrong", "wrong_sd")),
            formatting.ReportColumn("Thresholds 0.5: wrong, rejected", ("half_wrong", "half_rejected")),
            formatting.ReportColumn("0.3 and 0.7: wrong, rejected", ("strict_wrong", "strict_rejected")),
        ),
        tuple(rows),
        "Per cent, on the test sets (Prechelt 1994, 2.6): mean and, in brackets, n − 1 standard deviation "
        "over jobs, which differ by their seeds or, where there are several partitions, by these as well. "
        "Class probabilities are taken as a network's outputs; – where a method gives none.",
    )


def _errors(results: Results) -> list[RunErrors]:
    own = [address for address, facts in results.tasks.items() if variants(facts)]
    return list(run_errors(results.select(tasks=own))) if own else []


def _by_pair(found: Iterable[RunErrors]) -> dict[tuple[str, str], list[RunErrors]]:
    grouped: dict[tuple[str, str], list[RunErrors]] = {}
    for one in found:
        grouped.setdefault((one.task, one.method), []).append(one)
    return grouped


def _summary(found: Iterable[RunErrors], measure: str) -> RunSummary | None:
    values = [getattr(one, measure) for one in found]
    known = [value for value in values if value is not None]
    usable = len(known) == len(values) and bool(known) and bool(np.isfinite(known).all())
    return summarise_runs(known) if usable else None


def _row(address: str, method: str, found: list[RunErrors]) -> formatting.Row:
    squared, wrong = (_spread(_summary(found, measure)) for measure in MEASURES)
    pairs = [
        _both(_summary(found, f"{rule}_wrong"), _summary(found, f"{rule}_rejected"))
        for rule in ("half", "strict")
    ]
    return (
        formatting.Cell(address),
        formatting.name_cell(method),
        formatting.count_cell(len(found)),
        squared,
        wrong,
        *pairs,
    )


def _spread(summary: RunSummary | None) -> formatting.Cell:
    if summary is None:
        return formatting.Cell(formatting.UNKNOWN)
    deviation = summary.standard_deviation
    more = "" if deviation is None else f" ({formatting.plain(deviation, 2)})"
    return formatting.Cell(f"{formatting.plain(summary.mean, 4)}{more}", (summary.mean, deviation))


def _both(wrong: RunSummary | None, rejected: RunSummary | None) -> formatting.Cell:
    if wrong is None or rejected is None:
        return formatting.Cell(formatting.UNKNOWN)
    means = wrong.mean, rejected.mean
    return formatting.Cell(", ".join(formatting.plain(mean, 3) for mean in means), means)


def suggested_words(findings: Findings) -> dict[int, str]:
    """PROBEN1's phrases by the number of the point, where they follow from the records; else none."""
    results = findings.results
    own = [facts for facts in results.tasks.values() if variants(facts)]
    if not own:
        return {}
    names = [variants(facts) or (facts.address.split("/")[1],) for facts in results.tasks.values()]
    runs = 1 + max(record.job.run for record in results.records)
    found = Benchmark(
        tuple(dict.fromkeys(name for several in names for name in several)),
        is_classification=any(facts.targets[0].kind == "categorical" for facts in own),
        runs=None if any(results.failures) else runs,
        results=_results(results),
    )
    words = {phrase.number: phrase.text for phrase in phrases_for(found) if phrase.text}
    return {**words, **network_words(results, own)}


def _results(results: Results) -> Mapping[str, RunSummary]:
    several = len([facts for facts in results.tasks.values() if variants(facts)]) > 1
    found = {}
    for (address, method), errors in _by_pair(_errors(results)).items():
        for measure, words in MEASURES.items():
            summary = _summary(errors, measure)
            if summary is not None:
                where = f" on {address.split('/')[1]}" if several else ""
                found[f"{words} of {method}{where}"] = summary
    return found if len(found) <= MOST_RESULTS else {}
