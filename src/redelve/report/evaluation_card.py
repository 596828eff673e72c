"""The benchmark card of models that are compared as they are: eight points, filled in from the scores.

What an evaluation should state: Biderman et al. (2024), arXiv:2405.14782, section 4 (prompts, versions,
sampling, statistics); Miller (2024), arXiv:2411.00640 (clusters, paired differences, standard errors).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from redelve.findings import Findings
from redelve.findings.by_method import answers_to_a_case
from redelve.report.card_points import Card, CardEntry, Point
from redelve.report.formatting import listed, plain, several_names
from redelve.run.results import Results, TaskFacts

FROM_NOTES = ("V024", "V025", "V026", "V029", "V030", "V031")
"""The rules whose notes belong on the card."""


def evaluation_card(findings: Findings) -> Card:
    """The card of an evaluation."""
    results = findings.results
    notes = [note for note in findings.notes if note.code in FROM_NOTES]
    told = tuple(CardEntry(note.title, note.text) for note in notes)
    models = several_names(list(results.methods), "models")
    return Card(
        (
            _cases(results),
            Point(2, "Models", (CardEntry("Compared", models),), (_VERSIONS,)),
            Point(3, "Prompts and sampling", (), (_PROMPTS,)),
            _score(findings),
            _answers(results),
            _units(results),
            Point(7, "Left out, chosen and known before", told, (_CONTAMINATION,)),
            Point(8, "Statistics", (CardEntry("Claims", _STATISTICS),)),
        )
    )


_VERSIONS = "the exact version of every model and when it was asked"
_PROMPTS = "the prompts, the number of examples in them, temperature and other settings of sampling"
_CONTAMINATION = "whether a model may have seen the cases, and what was chosen by looking at these scores"
_STATISTICS = (
    "paired differences case by case; standard errors for new cases like these; all claims of the report are "
    "one family with at most 5 % for any false one"
)


def _cases(results: Results) -> Point:
    entries = [
        CardEntry(facts.title, f"{facts.case_count:,} cases; digest {facts.data_digest[:12]}")
        for facts in results.tasks.values()
    ]
    return Point(1, "Cases: name, address, version", tuple(entries), ("where others can get the cases",))


def _score(findings: Findings) -> Point:
    judges = {task.loss: task.judged_by for task in findings.tasks}
    entries = []
    for judge in judges.values():
        low, high = (plain(end) for end in judge.limits(()))
        better = "higher is better" if judge.higher_is_better else "lower is better"
        kind = "right or wrong" if judge.is_share else f"lost at least {low}, at most {high}"
        entries.append(CardEntry(judge.shown_name, f"mean over cases; {better}; {kind}"))
    hint = "how answers were judged: by what rule, program or model"
    return Point(4, "Score", tuple(entries), (hint,))


def _answers(results: Results) -> Point:
    counts = sorted({answers_to_a_case(results.of(name, task)) for name, task in _work(results)})
    several = " to ".join(f"{one:.3g}" for one in dict.fromkeys((counts[0], counts[-1]))) if counts else "0"
    return Point(5, "Answers to a case", (CardEntry("Of each model", several),))


def _work(results: Results) -> Sequence[tuple[str, str]]:
    return [(name, task) for task in results.tasks for name in results.methods if results.of(name, task)]


def _units(results: Results) -> Point:
    grouped = [f"{facts.title} {_groups(facts):,}" for facts in results.tasks.values() if _groups(facts)]
    weighted = [facts.title for facts in results.tasks.values() if facts.instances[0].weights is not None]
    text = f"clusters count as one: {listed(grouped)}" if grouped else "every case counts as one"
    entries = [CardEntry("Independent units", text)]
    entries += [CardEntry("Weights", f"cases have weights on {listed(weighted)}")] if weighted else []
    hint = "which cases belong together (same passage, same repository), where that is not said here"
    return Point(6, "Clusters and weights", tuple(entries), () if grouped else (hint,))


def _groups(facts: TaskFacts) -> int:
    units = facts.instances[0].units
    return 0 if units is None else len(np.unique(units))
