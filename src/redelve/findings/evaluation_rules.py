"""Rules for scores that were computed elsewhere: what reading them found, and what the scores show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import combinations
from math import isfinite
from typing import Any

import numpy as np

from redelve.findings.by_method import answers_to_a_case
from redelve.findings.validity import Note, ValidityRule, rule
from redelve.model.dataset import Numbers
from redelve.run.results import Results, TaskFacts

SATURATED = 0.03
"""So much of the range of the score is lost by the best model at most where a benchmark is saturated."""
EXAMPLES = 4
FEW_ALIKE = 10
"""Models that have the same scores on fewer cases than this may have them by chance."""


def _of_reading(self: ValidityRule, results: Results) -> Iterator[Note]:
    """What was found when the scores were read, told once for all tasks that it is true of."""
    found: dict[str, list[str]] = {}
    for address, facts in results.tasks.items():
        for text in _texts(facts, self.code):
            found.setdefault(text, []).append(address)
    is_several = len(results.tasks) > 1
    for text, tasks in found.items():
        titles = [results.tasks[one].title for one in tasks]
        where = "" if len(tasks) == len(results.tasks) or not is_several else f"{titles[0]}: "
        more = f" ({len(tasks) - 1} more tasks alike)" if where and len(tasks) > 1 else ""
        yield self.note(f"{where}{text}{more}", tasks)


@rule(
    "V024",
    "how scores were read",
    "note",
    "Scores that were computed elsewhere come without a description. What redelve had to take for granted, "
    "such as the direction of the score by its name, is written here: say it yourself to be sure.",
    is_of_scores=True,
)
def how_read(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Wide tables, directions, averages over answers."""
    yield from _of_reading(self, results)


@rule(
    "V025",
    "unequal subsets",
    "caution",
    "Models are compared on the cases that all of them have a score on, and a case counts by the mean of the "
    "answers that have one. Scores are seldom missing by chance: answers that ran out of time or tokens, or "
    "were refused, are mostly those to the harder cases. Leaving them out flatters the model that lacks "
    "them, and counting them as wrong may wrong it; the truth lies between the two.",
    is_of_scores=True,
)
def unequal_subsets(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Cases, and answers to a case, that some model has no score on: how many, and whose."""
    told = [(address, text) for address, facts in results.tasks.items() for text in _texts(facts, self.code)]
    tasks, found = [address for address, _ in told], [json.loads(text) for _, text in told]
    lacking = Counter[str]()
    for one in found:
        lacking.update(one["lacking"])
    if lacking:
        kept = sum(facts.case_count for facts in results.tasks.values())
        yield self.note(_lacking_words(found, lacking, kept), tasks, tuple(lacking))
    if names := tuple(dict.fromkeys(name for one in found for name in one.get("answers", {}))):
        yield self.note(_answers_words(found, names), tasks, names)
    for address, one in zip(tasks, found, strict=True):
        if absent := one["absent"]:
            title = results.tasks[address].title
            yield self.note(f"{_some(absent)} without any score on {title}", (address,), tuple(absent))


def _texts(facts: TaskFacts, code: str) -> list[str]:
    """What was found for a rule when the scores were read."""
    return [one.partition(" ")[2] for one in facts.remarks if one.startswith(f"{code} ")]


def _lacking_words(found: Sequence[Mapping[str, Any]], lacking: Counter[str], kept: int) -> str:
    """How many cases are left out, or count as the worst, and whose they are."""
    whose = [f"{name} {count:,}" for name, count in lacking.most_common()]
    if found[0]["missing"] == "worst":
        return f"missing scores count as the worst there are: {_some(whose)}"
    left = sum(one["left_out"] for one in found)
    return (
        f"{left:,} of {left + kept:,} cases are left out for all models, since some model has no score on "
        f'them ({_some(whose)}); see whether anything changes when they count as wrong (missing="worst", '
        "--missing worst)"
    )


def _answers_words(found: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """How many answers have no score beside others to the same case, and whose they are."""
    several = {
        name: [one["answers"][name] for one in found if name in one.get("answers", {})] for name in names
    }
    whose = _some(
        [f"{name} {sum(a for a, _ in of):,} of {sum(b for _, b in of):,}" for name, of in several.items()]
    )
    if found[0]["missing"] == "worst":
        return f"answers without a score count as the worst there is: {whose}"
    return (
        f"answers without a score do not count ({whose}), and a case counts by the mean of the others; see "
        'whether anything changes when they count as wrong (missing="worst", --missing worst)'
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - EXAMPLES} more" if len(names) > EXAMPLES else ""
    return ", ".join(names[:EXAMPLES]) + more


@rule(
    "V026",
    "prompts differ",
    "caution",
    "Where two models were asked the same case in different words, what differs between them is the model "
    "and the prompt together. Prompts move scores by several points; that is in no standard error.",
    is_of_scores=True,
)
def different_prompts(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Cases whose prompts differ between models."""
    yield from _of_reading(self, results)


@rule(
    "V027",
    "identical scores",
    "caution",
    "Two models that have the same score on every case are mostly one: the same file twice, an alias, an "
    "answer that was cached. Their comparison says nothing, and they crowd the board.",
    is_of_scores=True,
)
def identical_scores(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Models whose scores agree on all cases of all tasks, where scores vary and are their own."""
    alike: dict[tuple[int, tuple[tuple[str, float], ...], bytes], list[str]] = {}
    made_up = _with_missing_answers(results)
    for name in results.methods if results.is_fixed else ():
        each = {address: results.of(name, address) for address in results.tasks}
        work = tuple((address, answers_to_a_case(records)) for address, records in each.items() if records)
        values = _every_loss(results, name)
        if values.size >= FEW_ALIKE and np.ptp(values) > 0 and name not in made_up:
            alike.setdefault((values.size, work, blake2b(values.tobytes()).digest()), []).append(name)
    for (cases, _, _), names in alike.items():
        for first, second in combinations(names, 2):
            yield self.note(
                f"{first} and {second} have the same score on all {cases:,} cases: are they one model?",
                (),
                (first, second),
            )


def _with_missing_answers(results: Results) -> set[str]:
    """Models of which some score is that of missing answers, or of those beside them."""
    found = [
        json.loads(text) for facts in results.tasks.values() for text in _texts(facts, unequal_subsets.code)
    ]
    empty = {name for one in found for name in one.get("answers", {})}
    return empty | {name for one in found if one["missing"] == "worst" for name in one["lacking"]}


def _every_loss(results: Results, name: str) -> Numbers:
    each = [
        losses
        for address in results.tasks
        for record in results.of(name, address)
        for losses in record.losses.values()
    ]
    return np.concatenate(each) if each else np.zeros(0)


@rule(
    "V028",
    "saturation",
    "caution",
    "Where the best model gets nearly everything right, a handful of cases decides between the best, and "
    "among these are the cases that are themselves wrong: in ten much used test sets 3.4 % of the labels "
    "were (Northcutt, Athalye and Mueller 2021). The order at the top then says little.",
    is_of_judge=True,
    is_of_scores=True,
)
def saturation(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Tasks of which the best model loses at most 3 % of the range of the score."""
    for address in results.tasks if results.is_fixed else ():
        best = _least_loss(results, address)
        if best is not None and best[1] <= SATURATED:
            name, share = best
            yield self.note(
                f"{results.tasks[address].title}: {name} is {100 * share:.2g} % of the range from the best "
                "score there can be; few cases decide, and some of them may be wrong themselves",
                (address,),
                (name,),
            )


def _least_loss(results: Results, address: str) -> tuple[str, float] | None:
    """The model that loses least, with its loss as a share of the range; None where that has no limits."""
    work = results.on(address)
    means: Mapping[str, float] = {}
    for code, judge in list(work.losses.items())[:1]:
        low, high = judge.limits
        if isfinite(high - low):
            means = {
                name: (float(np.mean([one.losses[code].mean() for one in records])) - low) / (high - low)
                for name, records in work.records.items()
                if records and all(code in one.losses for one in records)
            }
    return min(means.items(), key=lambda one: one[1]) if means else None


@rule(
    "V029",
    "what you say of the data",
    "caution",
    "What no table shows and its owner knows: that a model may have seen the cases (contamination), that a "
    "judge is a model itself, that a subset was chosen. It stands beside the results wherever they go.",
    is_of_scores=True,
)
def said_by_user(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Notes that were given with the scores."""
    yield from _of_reading(self, results)


@rule(
    "V030",
    "chosen as the best of several",
    "caution",
    "A model that was picked as the best of n on these very cases (checkpoints, prompts, settings) has a "
    "score that flatters it: part of being the best was luck on these cases. Claims in its favour are not "
    "covered by the 5 %. Choose on other cases, or bring all n.",
    is_of_scores=True,
)
def best_of_several(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Models that are said to be the best of n on these cases, and candidates of a search."""
    yield from _of_reading(self, results)
    for name, facts in results.methods.items():
        several = facts.identity.get("chosen_of")
        if isinstance(several, int) and several > 1:
            yield self.note(
                f"{name} was picked as the best of {several} on these cases: its score is too good, and what "
                "is claimed in its favour may be luck",
                (),
                (name,),
            )


@rule(
    "V031",
    "cases paired by their order",
    "caution",
    "Scores are compared case by case, so files must agree on which case is which. Files without a column of "
    "cases are paired row by row: if one is sorted differently or lacks a row, all that follows is wrong, "
    "and nothing shows it.",
    is_of_scores=True,
)
def paired_by_order(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Files that name no cases."""
    yield from _of_reading(self, results)
