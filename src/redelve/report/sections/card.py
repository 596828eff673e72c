"""The benchmark card: PROBEN1's eight points (Prechelt 1994, section 2.11), filled in from the records."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from redelve.findings import Findings
from redelve.report.card_points import BY_AUTHOR, Card, CardEntry, Point
from redelve.report.evaluation_card import evaluation_card
from redelve.report.formatting import listed, plain, seconds, tidy
from redelve.report.sections import (
    SECTIONS,
    PagePart,
    ProblemCollection,
    ReportContext,
    Section,
    collections_of,
)
from redelve.run.results import MethodFacts, Results, TaskFacts

NETWORK = re.compile(
    r"hidden|layer|(?<!leaf_)units?\b|(?<!leaf_)(?<!by)nodes?\b|activation|architecture|topology|network|connect",
    re.IGNORECASE,
)
"""Settings of networks; trees have nodes too, as in `max_leaf_nodes` and `colsample_bynode`."""
OF_BENCHMARKS = "a benchmark should state (Prechelt 1994, PROBEN1, section 2.11)"
OF_EVALUATIONS = "an evaluation should state (after Biderman et al. 2024 and Miller 2024)"
LONGEST_ENTRY = 160
"""Longer entries are folded on the page."""
INITIAL = re.compile("init|start|seed|random_state", re.IGNORECASE)
ENDING = re.compile(
    "iter|epoch|tol|stop|patience|budget|passes|rounds|restart|converge|n_estimators", re.IGNORECASE
)
SCHEMES = {
    "hierarchical": "each training set has a test set of its own",
    "common": "all training sets share one test set",
    "cross-validation": "cross-validation: training and test sets are folds of the same cases",
    "time": "forward in time: each training set is a window of cases, each test set the block after it",
    "fixed": "fixed models: there are no training sets, and the cases are a sample of those to come",
    "nested-cross-validation": "nested cross-validation: folds of the same cases, each and in pairs",
}


class CardSection(Section):
    """The card, at the end of Markdown and LaTeX, and as a file of its own."""

    place = 600
    title = "Benchmark card"
    anchor = "card"
    is_appendix = True
    template = """\
<p>The eight points that a report of {{ whose }}, filled in from the records.</p>
<ol class="card">
{% for point in card.points %}
<li id="card-{{ point.number }}">
<h3>{{ point.title }}</h3>
{% if point.entries %}
<dl>{% for one in point.entries %}<div><dt>{{ one.about }}</dt><dd>{% if one.text | length > longest %}\
<details><summary>{{ one.text[:longest // 2] }} …</summary>{{ one.text }}</details>\
{% else %}{{ one.text }}{% endif %}</dd></div>{% endfor %}</dl>
{% endif %}
{% if point.words %}<p class="words"><strong>For a paper:</strong> {{ point.words }}</p>{% endif %}
{% for hint in point.missing %}<p class="missing"><strong>To be stated by the author:</strong> {{ hint }}\
.</p>{% endfor %}
</li>
{% endfor %}
</ol>
"""

    def values(self, findings: Findings, about: ReportContext) -> Mapping[str, Any]:
        """The card itself."""
        is_fixed = findings.results.is_fixed
        return {
            "card": evaluation_card(findings) if is_fixed else benchmark_card(findings, about),
            "longest": LONGEST_ENTRY,
            "whose": OF_EVALUATIONS if is_fixed else OF_BENCHMARKS,
        }

    def markdown(self, part: PagePart) -> list[str]:
        """The card as a list."""
        return [f"## {part.title}", "", part.values["card"].markdown()]

    def latex(self, part: PagePart) -> list[str]:
        """The card as a list."""
        return [rf"\section*{{{part.title}}}", part.values["card"].latex()]

    def files(self, part: PagePart) -> Mapping[str, str]:
        """The card alone."""
        return {"card.md": part.values["card"].markdown()}


SECTIONS.add("card", CardSection)


def benchmark_card(findings: Findings, about: ReportContext | None = None) -> Card:
    """The card of everything that was found."""
    results, context = findings.results, about or ReportContext()
    known = collections_of(results)
    words = {number: text for one in known for number, text in one.words(findings).items()}
    points = (
        _problem(results, context, known),
        _sets(results, known),
        _network(results),
        _initialisation(results),
        _parameters(results),
        _termination(results),
        _error_function(findings),
        _runs(results),
    )
    return Card(tuple(replace(point, words=words.get(point.number, "")) for point in points))


def _by_prototask(results: Results) -> dict[str, list[TaskFacts]]:
    grouped: dict[str, list[TaskFacts]] = {}
    for address, facts in results.tasks.items():
        grouped.setdefault(address.rpartition("/")[0], []).append(facts)
    return grouped


def _problem(results: Results, context: ReportContext, known: Sequence[ProblemCollection]) -> Point:
    entries, unknown = [], []
    for prototask, tasks in _by_prototask(results).items():
        facts = tasks[0]
        digests = listed(list(dict.fromkeys(one.data_digest[:12] for one in tasks)))
        text = f"{_known_of(facts)}; data digest {digests}"
        dataset = prototask.split("/")[1] if "/" in prototask else prototask
        said = context.data_of(dataset)
        if said is not None and said.source:
            text += f"; source: {said.source}"
        elif published := [source for one in known if (source := one.source(facts))]:
            text += f"; {listed(published)}"
        else:
            unknown.append(dataset)
        entries.append(CardEntry(prototask, text))
    hint = (
        f"where others can get {listed(list(dict.fromkeys(unknown)))}, and in which version (an address or "
        "a DOI)"
    )
    return Point(1, "Problem: name, address, version", tuple(entries), (hint,) if unknown else ())


def _has_cases(facts: TaskFacts) -> bool:
    """Whether losses are of cases: scores that were brought may be of whole test sets."""
    return bool(facts.targets) or facts.case_count > 1


def _known_of(facts: TaskFacts) -> str:
    """Cases, inputs and targets; of scores that were brought, the cases if there are any."""
    if not facts.targets:
        cases = f"{facts.case_count:,} cases" if _has_cases(facts) else "whole test sets"
        return f"scores of {cases}, computed elsewhere"
    targets = listed([f"{target.name} ({target.kind})" for target in facts.targets])
    return (
        f"{facts.case_count} cases, {facts.input_count} inputs, target {targets}; origin {facts.origin}, "
        f"usage {facts.usage}"
    )


def _sets(results: Results, known: Sequence[ProblemCollection]) -> Point:
    entries = []
    for facts in results.tasks.values():
        entries.append(CardEntry(facts.address, f"{_sizes(facts)}; digest {facts.digest[:12]}"))
    schemes = dict.fromkeys(SCHEMES[facts.scheme] for facts in results.tasks.values())
    entries += [
        CardEntry(
            "Design", f"{listed(list(schemes))}; a digest covers every case of every training and test set"
        ),
        CardEntry("Validation sets", _validation(results, known)),
    ]
    return Point(2, "Training, validation and test sets", tuple(entries))


def _sizes(facts: TaskFacts) -> str:
    """How many cases were learnt from and tested, as far as that is known."""
    if facts.test_ratio is not None:
        return (
            f"{_counted(len(facts.instances), 'fold')}, {facts.test_ratio:.3g} test cases to a training case"
        )
    tests = sorted({len(one.case_numbers) for one in facts.instances})
    training = sorted({one.training_set_size for one in facts.instances})
    return (
        f"{_counted(len(facts.instances), 'training set')} of {_range(training)} cases, test sets of "
        f"{_range(tests)}, {_distinct(facts)} different test cases in all"
    )


def _validation(results: Results, known: Sequence[ProblemCollection]) -> str:
    own = (
        "none are part of the design: a method that needs one takes it from its training cases, and its "
        "summary says how"
    )
    said = [one.validation_sets(facts) for one in known for facts in results.tasks.values()]
    return "; ".join((own, *dict.fromkeys(text for text in said if text)))


def _distinct(facts: TaskFacts) -> int:
    return len(np.unique(np.concatenate([one.case_numbers for one in facts.instances])))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _range(sizes: Sequence[int]) -> str:
    return str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def _network(results: Results) -> Point:
    hint = (
        "for methods that are networks and say nothing here: nodes of every layer, connections (shortcuts, "
        "shared weights), "
        "activation functions of hidden and output nodes"
    )
    return _settings_point(results, 3, "Network: nodes, connections, activation functions", NETWORK, hint)


def _initialisation(results: Results) -> Point:
    hint = "how each method's own parameters are initialised (range or distribution of first weights)"
    found = _settings_point(results, 4, "Initialisation", INITIAL, hint)
    fixed = [name for name, facts in results.methods.items() if facts.identity.get("fixed_seeds")]
    text = "each job has a seed of its own, a hash of method, task, instance and run, kept in its record"
    if fixed:
        text += f"; {listed(fixed)} used one seed throughout"
    if results.is_brought:
        text = "not known: the scores were computed elsewhere"
    return Point(4, found.title, (CardEntry("Seeds", text), *found.entries), found.missing)


def _parameters(results: Results) -> Point:
    entries = tuple(CardEntry(name, identity_text(facts.identity)) for name, facts in results.methods.items())
    hint = (
        "how the values of free parameters were found (never by test cases), and how sensitive results are "
        "to them"
    )
    return Point(5, "Algorithm parameters and their adaptation", entries, (hint,))


def _termination(results: Results) -> Point:
    hint = (
        "exact criteria for stopping, for changing phases and for restarts, where a method's summary does "
        "not have them"
    )
    found = _settings_point(results, 6, "Termination, phase transition and restarts", ENDING, hint)
    stopped = [record for record in results.failures if record.status in ("out of time", "out of memory")]
    extra = (
        [CardEntry("Limits", f"{len(stopped)} jobs were stopped by a limit of time or memory")]
        if stopped
        else []
    )
    return Point(6, found.title, (*found.entries, *extra), found.missing)


def _settings_point(results: Results, number: int, title: str, names: re.Pattern[str], hint: str) -> Point:
    """The settings, by method, whose names have something to do with the point."""
    entries = []
    for name, facts in results.methods.items():
        found = dict(_flat(facts.identity, lambda key: names.search(key) is not None))
        if found:
            entries.append(CardEntry(name, identity_text(found)))
    return Point(number, title, tuple(entries), (hint,))


def _flat(
    identity: Mapping[str, object], wanted: Callable[[str], bool], prefix: str = ""
) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for key, value in identity.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found += _flat(value, wanted, f"{name}.")
        elif wanted(name):
            found.append((name, value))
    return found


def identity_text(identity: Mapping[str, object]) -> str:
    """Settings as `name = value`, those of parts with a dotted name.

    >>> identity_text({"kind": "knn", "settings": {"k": 5}})
    'kind = knn, settings.k = 5'
    """
    return ", ".join(f"{name} = {tidy(str(value))}" for name, value in _flat(identity, lambda _: True))


def _error_function(findings: Findings) -> Point:
    entries: dict[str, list[str]] = {}
    for task in findings.tasks:
        others = [one.loss for one in findings.other_losses if one.task.address == task.task.address]
        baseline = task.task.baselines.get(task.loss)
        code = "" if findings.results.is_brought else f" ({task.loss})"
        over = "test cases" if _has_cases(task.task) else "test sets"
        text = f"{task.loss_words}{code}, mean over {over}"
        if baseline is None:
            text += "; not standardised"
        elif task.judged_by.is_shift:
            text += f"; standardised by subtracting {plain(baseline, 4)}, what the best constant answer loses"
        else:
            text += f"; standardised by dividing by {plain(baseline, 4)}, what the best constant answer loses"
        if others:
            text += f"; also scored by {listed(others)}"
        entries.setdefault(text, []).append(task.task.address)
    hint = (
        "the error function that a method minimises in training, where it differs and its summary does not "
        "have it"
    )
    return Point(7, "Error function and its normalisation", _merged(entries), (hint,))


def _merged(entries: Mapping[str, Sequence[str]]) -> tuple[CardEntry, ...]:
    return tuple(CardEntry(", ".join(addresses), text) for text, addresses in entries.items())


def _runs(results: Results) -> Point:
    runs = 1 + max((record.job.run for record in results.records), default=0)
    failed = list(results.failures)
    stood_in = sum(record.fallback is not None for record in failed)
    done = sum(record.status == "done" for record in results.records)
    rule = "none was excluded by its results"
    if failed:
        left_out = len(failed) - stood_in
        parts = (
            [f"{left_out} without an answer are left out of every comparison with their method"]
            if left_out
            else []
        )
        parts += [f"for {stood_in} the best constant answer stands in"] if stood_in else []
        rule = f"{len(failed)} failed: {listed(parts)}; {rule}"
    total = sum(record.costs.training_seconds or 0.0 for record in results.records)
    times = CardEntry("Training time", f"{seconds(total)} in all; times of every method are under Costs")
    return Point(
        8,
        "Number of runs, and which are included",
        (
            CardEntry(
                "Runs",
                f"{runs} for each training set and method"
                + ("" if results.is_brought else f"; {len(results.records):,} jobs, {done:,} done"),
            ),
            CardEntry("Inclusion", rule),
            CardEntry(
                "Statistics", "means, standard errors, intervals and tests over training sets and test cases"
            ),
            *(() if results.is_brought else (times,)),
        ),
    )


def summary_of(facts: MethodFacts) -> str:
    """A method's summary, or that it has none."""
    return facts.summary.strip() or BY_AUTHOR
