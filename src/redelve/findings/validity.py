"""Numbered rules of valid assessment: what must be said beside a result, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from redelve.findings.by_method import is_folded, judged_results
from redelve.findings.claims import FEWEST_TASKS, LEVEL, Names, parts_of_level, prototask_of
from redelve.findings.failures import on_one_line
from redelve.registry import Registry
from redelve.run.results import IMPORTED, ISOLATION, SHARED, Record, Results, TaskFacts, TaskResults
from redelve.text_numbers import at_most

Severity = Literal["invalid", "caution", "note"]
FEW_TRAINING_SETS = 4
FEW_TEST_CASES = 100
Check = Callable[[Results], Iterator["Note"]]


@dataclass(frozen=True)
class Note:
    """What a rule found: `invalid` results should not be published, a `caution` belongs beside them."""

    code: str
    title: str
    text: str
    severity: Severity
    tasks: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.code} {self.title}: {self.text}"


@dataclass(frozen=True)
class ValidityRule:
    """A numbered rule: its title, why it matters, and the check that looks for violations."""

    code: str
    title: str
    explanation: str
    severity: Severity
    check: Check
    is_of_judge: bool = False
    """Whether it looks at the loss that methods are judged by, and at no other."""
    is_of_learning: bool = False
    """Whether it is about methods that learn, and has nothing to look for where models are fixed."""
    is_of_scores: bool = False
    """Whether it is about scores that were computed elsewhere."""

    def note(self, text: str, tasks: Sequence[str] = (), methods: Sequence[str] = ()) -> Note:
        """What this rule found."""
        return Note(self.code, self.title, text, self.severity, tuple(tasks), tuple(methods))


RULES: Registry[ValidityRule] = Registry("validity rule", own_name="code")


def rule(  # noqa: PLR0913  (what a rule is told stands above its check)
    code: str,
    title: str,
    severity: Severity,
    explanation: str,
    *,
    is_of_judge: bool = False,
    is_of_learning: bool = False,
    is_of_scores: bool = False,
) -> Callable[[Callable[[ValidityRule, Results], Iterator[Note]]], ValidityRule]:
    """Register a check as a numbered rule."""

    def made(check: Callable[[ValidityRule, Results], Iterator[Note]]) -> ValidityRule:
        found = ValidityRule(
            code,
            title,
            explanation,
            severity,
            lambda results: check(found, results),
            is_of_judge,
            is_of_learning,
            is_of_scores,
        )
        RULES.add(code, found)
        return found

    return made


def check_results(
    results: Results, planned: Sequence[Names] | None = None, loss: str | None = None
) -> tuple[Note, ...]:
    """Every note on these results, by the number of the rule; `planned` are all comparisons that are made.

    `loss` is the one to judge by, else each task's primary one.
    """
    judged = judged_results(results, loss)
    found = [note for one in rules_for(results) for note in one.check(judged if one.is_of_judge else results)]
    return tuple(note if planned is None else _of_planned(note, len(planned)) for note in found)


def rules_for(results: Results) -> list[ValidityRule]:
    """Every rule by its number that may have something to look for in these results."""
    are_scores = results.is_fixed or any(facts.remarks for facts in results.tasks.values())
    every = (RULES[code] for code in sorted(RULES))
    return [
        one
        for one in every
        if not (one.is_of_learning and results.is_fixed) and (are_scores or not one.is_of_scores)
    ]


def _of_planned(note: Note, pairs: int) -> Note:
    """Where comparisons were planned, these are the many."""
    if note.code != many_comparisons.code:
        return note
    made = f"{pairs} planned comparison{'s' * (pairs != 1)} on each task"
    return replace(
        note, text=f"{made}: claims allow for these together; all others are described, not tested"
    )


def _tasks(results: Results, holds: Callable[[TaskFacts], bool]) -> list[str]:
    return [address for address, facts in results.tasks.items() if holds(facts)]


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


@rule(
    "V001",
    "fewer than two training sets",
    "invalid",
    "How much a loss varies with the training set can only be seen from several training sets. With one, "
    "standard errors and tests are about this one training set and not about the method.",
    is_of_learning=True,
)
def fewer_than_two_training_sets(self: ValidityRule, results: Results) -> Iterator[Note]:
    """One instance says nothing of other training sets."""
    if found := _tasks(results, lambda facts: len(facts.instances) < 2 and not facts.is_fixed):
        yield self.note(
            f"{_listed(found)}: standard errors and tests are about this one training set alone", found
        )


@rule(
    "V002",
    "training sets overlap",
    "caution",
    "Folds and resamples share training cases, so their losses vary together. No unbiased variance of a "
    "cross-validation mean exists (Bengio and Grandvalet 2004); the corrected resampled t-test (Nadeau and "
    "Bengio 2003) is used, which is approximate. Where cases belong to groups, standard errors are by "
    "groups.",
    is_of_learning=True,
)
def overlapping_training_sets(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Cross-validation is allowed where cases are few, and said to be what it is."""
    if found := _tasks(results, lambda facts: facts.training_overlap or is_folded(facts)):
        yield self.note(
            f"on {_listed(found)} training sets share cases: intervals and p-values are approximate", found
        )


@rule(
    "V003",
    "the same seed for all instances",
    "caution",
    "A method whose random seed is fixed by the user takes the same random choices on every training set. "
    "The variation of seeds is then in no standard error: the result is about this seed.",
    is_of_learning=True,
)
def same_seed_for_all(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Estimators with a fixed random_state, and records that share a seed, where it is known."""
    fixed = [name for name, facts in results.methods.items() if facts.identity.get("fixed_seeds")]
    for name in results.methods:
        seeds = [one.seed for one in results.records if one.job.method == name and _is_seed_known(one)]
        if name not in fixed and len(seeds) > 1 and len(set(seeds)) == 1:
            fixed.append(name)
    if fixed:
        yield self.note(
            f"{_listed(fixed)} used one seed throughout: leave random_state at None", (), tuple(fixed)
        )


def _is_seed_known(record: Record) -> bool:
    """Whether the seed is the one that was used; files and entries of others do not tell theirs."""
    is_from_elsewhere = IMPORTED in record.environment or not (record.seed or record.environment)
    return not is_from_elsewhere


@rule(
    "V004",
    "development data used for a formal assessment",
    "caution",
    "DELVE sets datasets apart for trying methods out (development) and for assessing them once they are "
    "finished. What was seen while a method was made cannot assess it.",
    is_of_learning=True,
)
def development_data(self: ValidityRule, results: Results) -> Iterator[Note]:
    """The dataset's own specification says what it is for."""
    if found := _tasks(results, lambda facts: facts.usage == "development"):
        yield self.note(f"{_listed(found)}: for development, not for publication", found)


@rule(
    "V005",
    "different instances compared",
    "caution",
    "Only losses on the same training and test sets can be compared case by case. A method with results on "
    "other instances is compared on those that both have, and on no others.",
    is_of_learning=True,
)
def different_instances(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Methods that lack instances others have, and instances that nobody has; in a race that is the plan."""
    plain = {address: facts for address, facts in results.tasks.items() if address not in results.races}
    for address, facts in plain.items():
        of_all = (one for name in results.methods for one in results.of(name, address))
        held = {one.job.instance for one in of_all if one.losses}
        if absent := sorted(set(range(len(facts.instances))) - held) if held else []:
            numbers = _listed([str(number) for number in absent])
            count = f"{len(facts.instances)} instances of {address}"
            yield self.note(f"of the {count} nobody has results on {numbers}: they are left out", [address])
    lacking: dict[tuple[str, ...], list[str]] = {}
    for address in plain:
        if names := _lacking_instances(results, address):
            lacking.setdefault(names, []).append(address)
    for names, tasks in lacking.items():
        yield self.note(
            f"{_listed(names)} without some instances of {_listed(tasks)} that other methods have: pairs are "
            "compared on the instances both have, but expected losses and ranks rest on different instances",
            tasks,
            names,
        )


def _lacking_instances(results: Results, address: str) -> tuple[str, ...]:
    held = {
        name: frozenset(record.job.instance for record in results.of(name, address) if record.losses)
        for name in results.methods
    }
    most = frozenset[int]().union(*held.values())
    return tuple(name for name, found in held.items() if found and found != most)


@rule(
    "V006",
    "test cases depend on each other",
    "caution",
    "Test sets that overlap partly, or cases that belong together, carry less information than their number "
    "says; standard errors that count cases are then too small.",
)
def dependent_test_sets(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Partly overlapping test sets; dependent cases are pooled into units, which is said."""
    if found := _tasks(results, lambda facts: facts.test_overlap and not is_folded(facts)):
        yield self.note(f"on {_listed(found)} test sets overlap partly: standard errors are rough", found)
    if found := _tasks(results, lambda facts: _has_units(facts) and not facts.is_fixed):
        yield self.note(
            f"on {_listed(found)} dependent test cases are counted as one unit in standard errors", found
        )
    if found := _tasks(results, lambda facts: _has_units(facts) and facts.is_fixed):
        yield self.note(
            f"{_grouped(results, found)}: each group counts as one unit in standard errors", found
        )


def _grouped(results: Results, tasks: Sequence[str]) -> str:
    """How many groups the cases of fixed models are in."""
    several = [results.tasks[address] for address in tasks]
    units = [one.units for facts in several for one in facts.instances if one.units is not None]
    cases, groups = sum(map(len, units)), sum(len(np.unique(one)) for one in units)
    return f"{cases:,} cases come in {groups:,} groups"


def _has_units(facts: TaskFacts) -> bool:
    return any(
        one.units is not None and len(np.unique(one.units)) < len(one.units) for one in facts.instances
    )


@rule(
    "V007",
    "method tuned on assessment data",
    "invalid",
    "Settings chosen by looking at these tasks' results are fitted to their test cases. A method says on "
    "what it was tuned by `tuned_on` in its identity; redelve cannot see what was not said.",
    is_of_learning=True,
)
def tuned_on_assessment_data(self: ValidityRule, results: Results) -> Iterator[Note]:
    """What a method itself declares."""
    for name, facts in results.methods.items():
        tuned = facts.identity.get("tuned_on")
        declared = (
            {tuned} if isinstance(tuned, str) else set(tuned) if isinstance(tuned, list | tuple) else set()
        )
        found = [one for one in results.tasks if one.split("/")[1] in declared or one in declared]
        if found:
            yield self.note(f"{name} was tuned on {_listed(found)}", found, (name,))


@rule(
    "V008",
    "many comparisons",
    "note",
    "Of many comparisons at 5 % each some come out significant by luck. The adjusted p-values of a report "
    "allow for all of its pairs, sizes and tasks by the loss it judges by: the chance of any false claim is "
    "5 %.",
)
def many_comparisons(self: ValidityRule, results: Results) -> Iterator[Note]:
    """More than two methods, or more than one task."""
    methods, tasks = len(results.methods), len(results.tasks)
    if methods > 2 or tasks > 1:
        pairs = methods * (methods - 1) // 2
        each = f"{pairs} comparison{'s' * (pairs != 1)} on each of {tasks} task{'s' * (tasks != 1)}"
        yield self.note(f"{each}: claims rest on p-values that allow for all of them together")


@rule(
    "V009",
    "jobs failed",
    "caution",
    "A method that fails on hard instances looks better when these are left out. Left out means left out of "
    "every comparison with that method; a stand-in means that the best constant answer was scored instead.",
    is_of_learning=True,
)
def failed_jobs(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Records without an answer of their own."""
    for name in results.methods:
        failed = [one for one in results.failures if one.job.method == name]
        if failed:
            jobs = sum(record.job.method == name for record in results.records)
            reasons = _listed(list(dict.fromkeys(record.status for record in failed)))
            policy = "the baseline stood in" if any(record.fallback for record in failed) else "left out"
            why = on_one_line(failed[0].message)
            tasks = tuple(dict.fromkeys(record.job.task for record in failed))
            told = f"{name}: {len(failed)} of {jobs} jobs ({reasons}), {policy}{': ' * bool(why)}{why}"
            yield self.note(told, tasks, (name,))


@rule(
    "V010",
    "few training sets",
    "note",
    "With two or three training sets a test is nearly powerless, and its level for losses that are not "
    "Gaussian cannot be relied on.",
    is_of_learning=True,
)
def few_training_sets(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Two or three disjoint training sets."""
    found = _tasks(
        results,
        lambda facts: 2 <= len(facts.instances) < FEW_TRAINING_SETS and not is_folded(facts),
    )
    if found:
        yield self.note(f"{_listed(found)}: fewer than {FEW_TRAINING_SETS} training sets", found)


@rule(
    "V011",
    "few test cases",
    "note",
    "With few test cases the mean loss of a test set is far from Gaussian, and rare expensive errors may not "
    "occur at all.",
)
def few_test_cases(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Fewer than a hundred distinct test cases in all, where they are known: scores of folds hide them."""
    if found := _tasks(
        results, lambda facts: _test_cases(facts) < FEW_TEST_CASES and facts.test_ratio is None
    ):
        yield self.note(f"{_listed(found)}: fewer than {FEW_TEST_CASES} test cases in all", found)


def _test_cases(facts: TaskFacts) -> int:
    return len(np.unique(np.concatenate([one.case_numbers for one in facts.instances])))


@rule(
    "V012",
    "infinite losses",
    "caution",
    "A target that was held to be impossible has an infinite log loss; then nothing but the mean is defined, "
    "and that is infinite.",
)
def infinite_losses(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Any infinite loss; a metric that is not defined has NaN, and reports tell why."""
    seen: dict[str, set[str]] = {}
    for record in results.records:
        for code, losses in record.losses.items():
            if np.isinf(losses).any():
                seen.setdefault(record.job.method, set()).add(f"{code} on {record.job.task}")
    for name, places in seen.items():
        yield self.note(f"{name} has infinite losses: {_listed(sorted(places))}", (), (name,))


@rule(
    "V013",
    "warnings while learning",
    "note",
    "A method that warned (of iterations that did not converge, say) may not be what its summary says.",
    is_of_learning=True,
)
def warned(self: ValidityRule, results: Results) -> Iterator[Note]:
    """What methods said while they were at work."""
    for name in results.methods:
        said = [
            record.message
            for record in results.records
            if record.job.method == name and record.status == "done" and record.message
        ]
        if said:
            yield self.note(
                f"{name} in {len(said)} jobs, first: {said[0].splitlines()[0][:160]}", (), (name,)
            )


@rule(
    "V014",
    "times of different machines",
    "note",
    "Seconds of one machine cannot be compared with seconds of another, nor those of a busy one with those "
    "of a quiet one.",
    is_of_learning=True,
)
def different_machines(self: ValidityRule, results: Results) -> Iterator[Note]:
    """More than one processor among the records."""
    found = {record.environment.get("processor", "") for record in results.records} - {""}
    if len(found) > 1:
        yield self.note(f"jobs ran on {_listed(sorted(found))}: don't compare times")


@rule(
    "V015",
    "one run per training set",
    "note",
    "With one run, what the seed does is counted with the training sets. That keeps tests valid for new "
    "training sets with new seeds; it cannot tell how much another seed would change.",
    is_of_learning=True,
)
def one_run(self: ValidityRule, results: Results) -> Iterator[Note]:
    """No repeated runs with other seeds; of scores from elsewhere nobody here knows the seeds."""
    if results.records and not results.is_brought and max(record.job.run for record in results.records) == 0:
        yield self.note("seeds are not told apart from training sets: use runs=2 or more for that")


@rule(
    "V016",
    "the design's own caveats",
    "caution",
    "What is special about how the training and test sets of a task were made.",
    is_of_learning=True,
)
def design_caveats(self: ValidityRule, results: Results) -> Iterator[Note]:
    """What the design itself says."""
    by_note: dict[str, list[str]] = {}
    for text, tasks in _notes_of_tasks(results):
        by_note.setdefault(text, []).extend(tasks)
    is_several = len({prototask_of(address) for address in results.tasks}) > 1
    for text, tasks in by_note.items():
        where = _listed(list(dict.fromkeys(map(prototask_of, tasks))))
        yield self.note(f"{where}: {text}" if is_several else text, tasks)


def _notes_of_tasks(results: Results) -> Iterator[tuple[str, list[str]]]:
    """The notes of tasks; where they differ by numbers alone, that of a prototask's largest training sets."""
    alike: dict[tuple[str, str], dict[str, str]] = {}
    for address, facts in sorted(results.tasks.items(), key=lambda one: one[1].training_set_size):
        for text in facts.notes:
            alike.setdefault((prototask_of(address), re.sub(r"\d+", "#", text)), {})[address] = text
    for texts in alike.values():
        last = list(texts.values())[-1]
        more = "" if set(texts.values()) == {last} else " (with the largest training sets; others are alike)"
        yield last + more, list(texts)


LOOKS_PLANNED = "to look while sets are added, use --until-settled"
SETS_PLANNED = "this design can't be raced: decide how many sets or folds to make before you look at any"
IN_A_RACE = "the race allows for its own looks, not for one before it"


@rule(
    "V018",
    "looked at before with fewer instances",
    "caution",
    "Whoever adds training sets until a difference is significant finds one where there is none in 16 to "
    "26 % of experiments, not in 5 %. A race (until_settled) plans its looks beforehand and shares the 5 % "
    "among them.",
    is_of_learning=True,
)
def looked_at_before(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Analyses and looks that compared two of these methods on fewer instances than they share now."""
    fewer: dict[tuple[int, int, str], list[str]] = {}
    for address in results.tasks:
        every = {name: results.of(name, address) for name in results.methods}
        held = {name: {one.job.instance for one in each if one.losses} for name, each in every.items()}
        looks = (
            look.fewer_than(held)
            for look in results.looked.get(address, ())
            if look.data in ("", results.task(address).data_digest)
        )
        if before := min(filter(None, looks), default=None):
            fewer.setdefault((*before, _way_to_look(address, results)), []).append(address)
    for (before_count, count, way), tasks in fewer.items():
        yield self.note(
            f"{_listed(tasks)}: looked at before with {before_count} instances, now with {count}; adding "
            "sets until a difference is significant finds one that is none in 16 to 26 %: claims hold only "
            f"if you would have gone on whatever you saw; {way}",
            tasks,
        )


def _way_to_look(address: str, results: Results) -> str:
    """What a look before this one asks for: a race, where there can be one."""
    if address in results.races:
        return IN_A_RACE
    return LOOKS_PLANNED if results.task(address).scheme in ("hierarchical", "common") else SETS_PLANNED


@rule(
    "V032",
    "claims of several plans",
    "caution",
    "A race keeps the level that it was begun with: 5 %, shared by the tasks of one call. Races that several "
    "calls began, or that stand beside tasks that were not raced, have 5 % for each call, and the more there "
    "are in one report, the likelier is a false claim in it.",
    is_of_learning=True,
)
def several_plans(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Races whose levels come to more than one level, together and with that of all other tasks."""
    compared = [one for one in results.tasks if _with_losses(results.on(one)) > 1]
    races = [results.races[one].plan.level for one in compared if one in results.races]
    others = len(compared) - len(races)
    level = sum(races) + LEVEL * (others > 0) + _over_tasks(compared)
    if races and level > LEVEL * (1 + 1e-9):
        counted = f"{len(races)} race{'s' * (len(races) > 1)}"
        beside = f" and {others} other task{'s' * (others > 1)}" if others else ""
        yield self.note(
            f"{counted}{beside} have levels of their own: of reports like this up to {at_most(level)} "
            "contain a false claim if all methods are equal, instead of 5 %; race all tasks by one call, or "
            "take each by itself"
        )


def _with_losses(work: TaskResults) -> int:
    """How many methods have losses on a task."""
    return sum(any(one.losses for one in records) for records in work.records.values())


def _over_tasks(addresses: Sequence[str]) -> float:
    """What claims over tasks have of the level."""
    prototasks = len({prototask_of(one) for one in addresses})
    return LEVEL / parts_of_level(prototasks) if prototasks >= FEWEST_TASKS else 0.0


@rule(
    "V023",
    "methods beside the true targets",
    "caution",
    "A method that works in the process that scores it can find the true targets there, and can change how "
    "it and others are scored; a module that it imports can change others' results without meaning to. Jobs "
    "have processes of their own unless you choose otherwise.",
    is_of_learning=True,
)
def beside_the_truths(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Records of code that is neither redelve's nor scikit-learn's, from a process that had the targets."""
    beside = dict.fromkeys(
        record.job.method for record in results.records if record.environment.get(ISOLATION) == SHARED
    )
    if beside:
        yield self.note(
            f"{_listed(list(beside))} worked in the process that holds the true targets: leave out "
            "isolated=False, or know the code",
            (),
            tuple(beside),
        )
