"""One task: every method's expected loss, every pair compared, who may be the best, what would settle it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, combinations
from math import inf, isclose, isfinite, isnan

import numpy as np

from redelve.answers.losses import Loss
from redelve.errors import StatisticsError
from redelve.findings.by_method import (
    Estimate,
    MethodLosses,
    answers_to_a_case,
    expected_by_design,
    is_folded,
    losses_of,
    paired_by_design,
    shared_instances,
    squares_by_design,
)
from redelve.findings.by_metric import (
    check_metric,
    metric_estimate,
    metric_interval,
    metric_squares,
    metric_test,
    why_no_value,
)
from redelve.findings.claims import (
    Claim,
    Contest,
    ContestsByPair,
    FamilyClaims,
    Names,
    PairContests,
    Repeats,
    StandardLoss,
    TaskPairs,
    Test,
    claims_of,
    settle,
)
from redelve.findings.margin import Margin, within_margin
from redelve.findings.planned import PLANNED
from redelve.model.dataset import Numbers
from redelve.run.races import Race
from redelve.run.results import Results, TaskFacts, TaskResults
from redelve.stats import seed_runs
from redelve.stats.estimates import Analysis, Interval, possible_interval
from redelve.stats.families import PairSquares, Places, joined
from redelve.stats.pseudo_analyses import MetricInterval

SAME = 1e-12
"""Mean losses that differ by a smaller share differ by rounding alone: sums of millions are that exact."""

SELECTED = (
    "the best-looking {} was picked by the same losses that judge it, so its mean flatters it and the "
    "differences from it are on average too large; claims and intervals allow for this, differences do not"
)
NOT_SHOWN = (
    "a {} that may be the best has not been shown to be worse than another; that is not evidence that it "
    "is as good as the best"
)


Bounds = Mapping[str, Interval | None]
"""Of each method's expected loss."""


@dataclass(frozen=True)
class MethodFinding:
    """What was found of a method on a task: its expected loss and where its variation comes from.

    What cannot be told is None.
    """

    method: str
    estimate: Estimate | None
    standard: StandardLoss
    instances: int
    runs: int
    failed: int
    stood_in: int
    """Jobs whose losses are those of the baseline method."""
    why_none: str = ""
    """Why there is no expected loss, where there is none."""
    is_one_partition: bool = False
    """One training set: what varies between runs is then the seed."""
    limits: Interval = (-inf, inf)
    """What can be lost at least and at most."""
    judged_by: Loss | None = field(default=None, repr=False)
    """The loss itself, as far as it is known, for those who are shown its values."""
    scale: MetricInterval | None = field(default=None, repr=False)
    """How the interval of a metric is made."""
    bounds: Interval | None = None
    """Its confidence interval of 95 %, of this loss alone: a report prints none (decision 32)."""
    answers: float = 1.0
    """How many answers to a case it gave, on average."""
    mean: float | None = field(init=False)
    """The expected loss."""
    standard_error: float | None = field(init=False)
    standardised: float | None = field(init=False)
    """The expected loss in units of what the best constant answer loses."""
    standardised_error: float | None = field(init=False)
    loses_more_than_constant: bool | None = field(init=False, repr=False)
    """Whether more was lost than by the best constant answer; None where that is not known."""
    shown: tuple[float | None, float | None] = field(init=False, repr=False)
    """Expected value and standard error as users are shown them: an accuracy in per cent."""
    deviations: Mapping[str, float | None] = field(init=False)
    """Standard deviations of the loss by source; empty where they cannot be told apart."""

    def __post_init__(self) -> None:
        found = self.estimate
        mean, error = (None, None) if found is None else (found.mean, found.standard_error)
        standardised = self.standard.mean(mean)
        of_constant = 0.0 if self.standard.is_shift else 1.0
        settle(
            self,
            mean=mean,
            standard_error=error,
            shown=_shown(mean, error, self.judged_by),
            standardised=standardised,
            standardised_error=self.standard.spread(error),
            loses_more_than_constant=None if standardised is None else standardised > of_constant,
            deviations=_deviations(found, "seeds" if self.is_one_partition else "training sets"),
        )

    @property
    def why_no_interval(self) -> str:
        """Why there is no interval of its metric; empty where there is one."""
        return (self.scale and self.scale.why_not) or ""

    @property
    def comparable(self) -> float | None:
        """The expected loss as it is averaged over tasks: standardised, or as it is."""
        return self.standard.comparable(self.mean)

    @property
    def comparable_error(self) -> float | None:
        """Its standard error."""
        return self.standard.comparable_spread(self.standard_error)

    def interval(self, level: float = 0.95) -> Interval | None:
        """The confidence interval of the expected loss, as far as it is possible."""
        found = self.estimate
        return None if found is None else possible_interval(found, self.limits, self.scale, level)


def _shown(mean: float | None, error: float | None, loss: Loss | None) -> tuple[float | None, float | None]:
    if loss is None or not loss.is_metric or mean is None:
        return mean, error
    return loss.shown_value(mean), None if error is None else loss.shown_spread(error)


def _deviations(found: Estimate | None, between: str) -> dict[str, float | None]:
    """Standard deviations by source; `between` is what varies from one training to the next."""
    if isinstance(found, seed_runs.RunsAnalysis):
        return {
            "training sets": found.sd_training,
            "seeds": found.sd_seed,
            "test cases": found.sd_test_cases,
            "training set × test case": found.sd_interaction,
            "residual": found.sd_residual,
        }
    if isinstance(found, Analysis):
        return {
            between: found.sd_training,
            "test cases": found.sd_test_cases,
            "residual": found.sd_residual,
        }
    return {}


def is_same_mean(first: float | None, second: float | None) -> bool:
    """Whether two mean losses are the same but for rounding: the same losses may be added in another order.

    >>> is_same_mean((0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3), is_same_mean(0.2, 0.2001)
    (True, False)
    """
    return first is not None and second is not None and isclose(first, second, rel_tol=SAME)


@dataclass(frozen=True)
class TaskFindings:
    """Everything found on one task by one loss."""

    task: TaskFacts
    loss: str
    judged_by: Loss
    """The loss itself, as far as it is known here."""
    loss_words: str
    """The loss as within a sentence."""
    best_words: str
    """What the best method has, such as "the smallest loss"."""
    methods: tuple[MethodFinding, ...]
    contests: Sequence[Contest]
    """The comparisons, each made when somebody asks for it."""
    why_not: tuple[str, ...] = field(default=(), repr=False)
    """Why nothing could be compared."""
    margin: Margin | None = None
    """The difference that does not matter, where one was given."""
    is_planned: bool = False
    """Whether the comparisons are those that were planned; others are described only."""
    race: Race | None = field(default=None, repr=False)
    """The race that says which methods may be the best, where training sets were added until settled."""
    without: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Methods without a value, or without any comparison, while others have one, with the reasons.

    They are not among `methods`.
    """
    alone: Collection[str] = field(default=(), repr=False)
    """Those of them that have losses, and no other method with which they can be compared."""
    leader: str | None = field(init=False)
    """The method with the smallest loss seen."""
    leaders: tuple[str, ...] = field(init=False, repr=False)
    """The leader, and the methods whose mean loss is the same."""
    best_group: tuple[str, ...] = field(init=False)
    """The methods that may be the best, by loss: none of them was shown to be worse than another.

    Empty where comparisons were planned, which are about those pairs and not about the best.
    """
    worse: tuple[str, ...] = field(init=False)
    """The methods that were shown to be worse than some other, by loss."""
    unequal_sets: Mapping[str, int] = field(init=False, repr=False)
    """How many training sets (folds) each mean is over, where methods have different numbers of them."""
    sets_of_best: tuple[int, int] | None = field(init=False, repr=False)
    """Over how many sets the smallest mean is and over how many others are, where these are more.

    None in a race, where means over fewer sets are those of methods that dropped out.
    """
    caveats: tuple[str, ...] = field(init=False, repr=False)
    """What must be said beside these numbers: of the methods, and of comparisons with the leader."""

    def __post_init__(self) -> None:
        losers = {loser for _, loser in self.pairs.outcomes()}
        compared = [one.method for one in self.methods] if self.contests else []
        if self.race is not None:
            looked_at = [*self.race.left, *self.race.dropped] if self.race.looks else []
            losers, compared = set(self.race.dropped), looked_at
        leaders = self._first(losers)
        leader = leaders[0] if leaders else None
        places, sets = {one.method: place for place, one in enumerate(self.by_loss)}, self._unequal_sets()
        compared.sort(key=lambda name: places.get(name, len(places)))
        settle(
            self,
            leader=leader,
            leaders=leaders,
            best_group=tuple(name for name in compared if name not in losers and not self.is_planned),
            worse=tuple(name for name in compared if name in losers),
            unequal_sets=sets,
            sets_of_best=self._sets_of_best(leaders, sets),
            caveats=self._caveats(leader),
        )

    def _first(self, losers: Collection[str]) -> tuple[str, ...]:
        """The methods with the smallest finite mean loss; in a race, of those that are still in it.

        Who was shown to be worse is no tie, however large the losses are that both have in common.
        """
        known = [one for one in self.by_loss if one.mean is not None and isfinite(one.mean)]
        known = [one for one in known if self.race is None or one.method in self.race.left] or known
        ties = [one.method for one in known[1:] if is_same_mean(one.mean, known[0].mean)]
        return tuple(one.method for one in known[:1]) + tuple(name for name in ties if name not in losers)

    def __repr__(self) -> str:
        return (
            f"<TaskFindings on {self.task.address}, judged by {self.loss_words}: {len(self.methods)} methods>"
        )

    @cached_property
    def by_loss(self) -> tuple[MethodFinding, ...]:
        """The methods from the smallest loss to the largest; those without one last.

        In a race those still in it come first: means over different training sets are in no order.
        """
        left = None if self.race is None or not self.race.looks else self.race.left
        return tuple(
            sorted(
                self.methods,
                key=lambda one: (
                    left is not None and one.method not in left,
                    inf if one.mean is None else one.mean,
                ),
            )
        )

    def _unequal_sets(self) -> dict[str, int]:
        counts = {one.method: one.instances for one in self.methods if one.mean is not None}
        is_nested = self.task.scheme == "nested-cross-validation"  # most of its parts are pairs of folds
        return {} if is_nested or len(set(counts.values())) < 2 else counts

    @property
    def is_raced(self) -> bool:
        """Whether training sets were added until a question was settled, be it by another loss."""
        return self.race is not None or any(one.claim.has_looks for one in self.contests[:1])

    def _sets_of_best(self, leaders: Sequence[str], sets: Mapping[str, int]) -> tuple[int, int] | None:
        own = {sets[name] for name in leaders if name in sets}
        most = max(sets.values(), default=0)
        return None if len(own) != 1 or own == {most} or self.is_raced else (own.pop(), most)

    @cached_property
    def pairs(self) -> PairContests:
        """The comparisons as a whole: who was shown to be worse, who met whom."""
        return PairContests.of(self.contests)

    @cached_property
    def by_pair(self) -> Mapping[frozenset[str], Contest]:
        """The comparison of every pair."""
        places = {frozenset(names): place for place, names in enumerate(self.pairs.names)}
        return ContestsByPair(self.pairs, places)

    def _tested(self, leader: str | None) -> list[Contest]:
        """The comparisons with the leader whose tests may have caveats: those of fixed models have none.

        Where a model's losses cannot be analysed the test raises the error that says why.
        """
        is_fixed = self.task.is_fixed and self.judged_by.mean_of_cases
        if is_fixed and all(one.estimate is not None for one in self.methods):
            return []
        return self.pairs.of_method(leader)

    def _caveats(self, leader: str | None) -> tuple[str, ...]:
        own = [caveat for method in self.methods if method.estimate for caveat in method.estimate.caveats]
        of_tests = [caveat for contest in self._tested(leader) for caveat in contest.caveats]
        without = [" and ".join(names) for names in self.pairs.untested()]
        if without:
            of_tests.append(
                f"no test is defined between {', '.join(without)}: they count as not distinguished"
            )
        found = (
            (*of_tests, *(text.format(self.task.contender) for text in (SELECTED, NOT_SHOWN)))
            if self.contests
            else tuple(own)
        )
        if self.is_planned:
            found = (PLANNED, *found)
        return tuple(dict.fromkeys((*found, *self.why_not)))

    @cached_property
    def _by_name(self) -> Mapping[str, MethodFinding]:
        return {one.method: one for one in self.methods}

    def method(self, name: str) -> MethodFinding:
        """What was found of a method."""
        if (finding := self._by_name.get(name)) is not None:
            return finding
        reason = f": {self.without[name]}" if name in self.without else ""
        raise StatisticsError(f'method "{name}" has no losses on {self.task.address}{reason}')

    def contest(self, first: str, second: str) -> Contest:
        """The comparison of two methods, whichever of them is called the first."""
        if (contest := self.by_pair.get(frozenset((first, second)))) is not None:
            return contest
        reasons = [self.without[name] for name in (first, second) if name in self.without]
        why = "".join(f": {reason}" for reason in (*reasons, *self.why_not)[:1])
        raise StatisticsError(f'"{first}" and "{second}" were not compared on {self.task.address}{why}')


@dataclass(frozen=True)
class ComparedTask:
    """A task analysed but for what may be claimed, which depends on what else is claimed with it."""

    work: TaskResults
    code: str
    losses: Mapping[str, MethodLosses]
    pairs: TaskPairs | None
    why_not: tuple[str, ...] = ()
    is_planned: bool = False
    without: Mapping[str, str] = field(default_factory=dict)
    """Methods left out, with the reasons: some loss is no number, or they can be compared with no other."""
    alone: Collection[str] = ()
    """Those of them that can be compared with no other."""

    @property
    def address(self) -> str:
        """That of the task."""
        return self.work.facts.address

    @property
    def standard(self) -> StandardLoss:
        """How losses of this task are made comparable with those of others."""
        return standard_of(self.work.facts, self.code)

    def findings(
        self, claims: Sequence[Claim] = (), margin: Margin | None = None, race: Race | None = None
    ) -> TaskFindings:
        """What was found, with the claims that may be made."""
        work, facts, judge = self.work, self.work.facts, self.work.losses[self.code]
        standard = self.standard
        if margin is not None and judge.is_shift and judge.limits[0] < 0:
            margin.refuse_share(f"{judge.words} on {facts.address}")
        methods = tuple(finding_of(work, self.losses[name], standard, judge.limits) for name in self.losses)
        bounds = {one.method: one.bounds for one in methods}
        same = race.equivalent if race and margin and margin.is_that_of(race.plan.margin) else ()
        contests = () if self.pairs is None else self._contests(self.pairs, claims, (margin, bounds, same))
        told = (facts, self.code, judge.loss, judge.words, judge.best_words)
        more = (self.why_not, margin, self.is_planned, race, self.without)
        return TaskFindings(*told, methods, contests, *more, alone=self.alone)

    def _contests(
        self, pairs: TaskPairs, claims: Sequence[Claim], within: tuple[Margin | None, Bounds, Sequence[str]]
    ) -> PairContests:
        """The comparisons with their claims, and with what they say of a margin."""
        if len(claims) != len(pairs.names):
            raise ValueError(f"{len(pairs.names)} comparisons have {len(claims)} claims")
        instances = {name: tuple(sorted(one.by_instance)) for name, one in self.losses.items()}
        repeats = _repeats(self.work.facts, pairs.squares)
        make = _ContestMaker(self, pairs, claims, self.standard, instances, repeats, *within)
        return PairContests(pairs.names, pairs.squares.differences, _adjusted(claims), make)


@dataclass(frozen=True)
class _ContestMaker:
    """Makes the comparison of a pair, by its place among the pairs of a task."""

    task: ComparedTask
    pairs: TaskPairs
    claims: Sequence[Claim]
    standard: StandardLoss
    instances: Mapping[str, tuple[int, ...]]
    repeats: Repeats
    margin: Margin | None
    bounds: Bounds
    equivalent: Sequence[str]
    """The methods that a race found to be equivalent within the margin."""

    def __call__(self, place: int) -> Contest:
        facts, judge = self.task.work.facts, self.task.work.losses[self.task.code]
        names, claim, squares = self.pairs.names[place], self.claims[place], self.pairs.squares
        both = [self.task.losses[name] for name in names]
        own, other = (self.instances[name] for name in names)
        why = self.pairs.untested.get(names, "")
        contest = Contest(
            *names,
            _number(squares.differences.item(place)),
            _error_of(squares.standard_errors.item(place), claim),
            claim,
            self.standard,
            own if own == other else shared_instances(*both),
            facts.training_set_size,
            partial(paired_test, facts, *both),
            self.repeats,
            judged_by=judge.loss,
            span=judge.limits[1] - judge.limits[0],
            is_same=not why
            and isnan(squares.standard_errors.item(place))
            and claim.bounds is None
            and _is_same(*both),
            why_untested=why,
            unit=judge.difference_unit,
        )
        if self.margin is None:
            return contest
        return within_margin(contest, self.margin, self.bounds, self.equivalent)


def _is_same(first: MethodLosses, second: MethodLosses) -> bool:
    """Whether two methods lost the same, but for rounding, on every case that both have."""
    shared = shared_instances(first, second)
    tables = [(first.by_instance[number], second.by_instance[number]) for number in shared]
    return bool(tables) and all(
        one.shape == two.shape and np.allclose(one, two, rtol=SAME, atol=0.0) for one, two in tables
    )


def _adjusted(claims: Sequence[Claim]) -> Numbers:
    """Adjusted p-values, NaN where no test is defined."""
    if isinstance(claims, FamilyClaims):
        return claims.p_values
    return np.array([one.adjusted_p_value for one in claims], dtype=np.float64)


def _repeats(facts: TaskFacts, squares: PairSquares) -> Repeats:
    """What the comparisons of a task have several of."""
    if facts.is_fixed:
        is_grouped = any(one.has_groups for one in facts.instances)
        return "groups of cases" if is_grouped else "cases"
    if is_folded(facts):
        return "folds"
    if len(facts.instances) > 1:
        return "training sets"
    return "test cases" if squares.shared is None else "runs"


def _error_of(error: float, claim: Claim) -> float | None:
    """A standard error; 0 where all answers agree and the limits of the score tell what is possible."""
    return 0.0 if isnan(error) and claim.bounds is not None else _number(error)


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)


def comparisons_on(
    work: TaskResults, code: str | None = None, planned: Sequence[Names] | None = None
) -> ComparedTask:
    """The losses of one task with the comparisons of all pairs of methods, or of those that were planned."""
    code = code or work.primary
    every = losses_of(work, code)
    without = {name: why_no_value(work, one) for name, one in every.items() if one.has_nan}
    is_planned = bool(planned)
    if len(without) == len(every):
        reason = f"no comparison is possible: {next(iter(without.values()))}"
        return ComparedTask(work, code, every, None, (reason,), is_planned)
    losses = {name: one for name, one in every.items() if name not in without}
    wanted = combinations(losses, 2) if planned is None else planned
    names = tuple(wanted if planned is None else (pair for pair in wanted if losses.keys() >= set(pair)))
    pairs, why_not, alone = _pairs_or_reason(work.facts, losses, names, is_planned=is_planned)
    losses = {name: one for name, one in losses.items() if name not in alone}
    return ComparedTask(work, code, losses, pairs, why_not, is_planned, {**without, **alone}, tuple(alone))


def _pairs_or_reason(
    facts: TaskFacts, losses: Mapping[str, MethodLosses], names: tuple[Names, ...], *, is_planned: bool
) -> tuple[TaskPairs | None, tuple[str, ...], Mapping[str, str]]:
    """The comparisons of pairs, or why there is none; neither where there are no pairs.

    And methods that can be compared with no other, though others can, with the reasons: where all pairs are
    wanted, such a method is left out.
    """
    if not names:
        return None, (), {}
    try:
        squares, untested = _squares_or_reasons(facts, losses, names)
    except StatisticsError as error:
        return None, (f"no comparison is possible: {error}",), {}
    alone = {} if is_planned else _alone(names, untested)
    if alone:
        names = tuple(pair for pair in names if alone.keys().isdisjoint(pair))
        squares, untested = _squares_or_reasons(facts, losses, names)
    return TaskPairs(facts, len(losses) - len(alone), names, squares, untested), (), alone


def _alone(names: Sequence[Names], untested: Mapping[Names, str]) -> dict[str, str]:
    """The methods no pair of which can be compared, with the first reason of each."""
    met = set(chain.from_iterable(pair for pair in names if pair not in untested))
    found: dict[str, str] = {}
    for pair, reason in untested.items():
        for name in pair:
            if name not in met:
                found.setdefault(name, reason)
    return found


def squares_of_pairs(
    facts: TaskFacts, losses: Mapping[str, MethodLosses], names: Sequence[Names]
) -> PairSquares:
    """What the differences of pairs vary, NaN where a pair cannot be compared; an error where none can."""
    return _squares_or_reasons(facts, losses, names)[0]


def _squares_or_reasons(
    facts: TaskFacts, losses: Mapping[str, MethodLosses], names: Sequence[Names]
) -> tuple[PairSquares, Mapping[Names, str]]:
    """The same with the reasons of pairs that cannot; all at once where methods have the same instances."""
    used = list(dict.fromkeys(chain.from_iterable(names)))
    if len({tuple(sorted(losses[name].by_instance)) for name in used}) == 1:
        number = {name: place for place, name in enumerate(used)}
        flat = np.fromiter(map(number.__getitem__, chain.from_iterable(names)), np.int64, 2 * len(names))
        return pair_squares(facts, [losses[name] for name in used], (flat[::2], flat[1::2])), {}
    found: dict[Names, PairSquares] = {}
    reasons: dict[Names, str] = {}
    for one, two in names:
        try:
            found[one, two] = pair_squares(facts, [losses[one], losses[two]], ([0], [1]))
        except StatisticsError as error:
            reasons[one, two] = str(error)
    if not found:
        raise StatisticsError(next(iter(reasons.values())))
    unknown = next(iter(found.values())).unknown
    return joined([found.get(pair, unknown) for pair in names]), reasons


def claimed(tasks: Sequence[ComparedTask], margin: Margin | None = None) -> tuple[TaskFindings, ...]:
    """The findings of tasks whose comparisons are all made together."""
    claims = claims_of([task.pairs for task in tasks if task.pairs])
    return tuple(task.findings(claims.get(task.address, ()), margin) for task in tasks)


def described(work: TaskResults, code: str) -> TaskFindings:
    """Expected losses by a loss that nothing is judged by: no comparison is made."""
    return comparisons_on(work, code, planned=()).findings()


def analyse_task(results: Results, address: str, code: str | None = None) -> TaskFindings:
    """Expected losses and comparisons of all methods on a task by one loss, as if it were the only task."""
    return claimed([comparisons_on(results.on(address), code)])[0]


def standard_of(facts: TaskFacts, code: str) -> StandardLoss:
    """How a loss is standardised on a task."""
    judge = facts.loss(code)
    return StandardLoss(facts.baselines.get(code), judge.is_shift, judge.has_one_unit)


def finding_of(
    work: TaskResults, losses: MethodLosses, standard: StandardLoss, limits: Interval = (-inf, inf)
) -> MethodFinding:
    """What was found of one method on a task; compared with none."""
    records, judge = work.records[losses.method], work.losses[losses.code].loss
    is_plain = judge.mean_of_cases and judge.interval_scale == "plain"
    found, reason = _expected_or_reason(work, losses)
    scale = None if is_plain or found is None else metric_interval(work.facts, losses, judge)
    return MethodFinding(
        losses.method,
        found,
        standard,
        len(losses.by_instance),
        losses.runs,
        sum(record.status != "done" for record in records),
        sum(record.fallback is not None for record in records),
        reason,
        is_one_partition=len(work.facts.instances) == 1,
        limits=limits,
        judged_by=judge,
        scale=scale,
        bounds=None if found is None else possible_interval(found, limits, scale),
        answers=answers_to_a_case(records),
    )


def _expected_or_reason(work: TaskResults, losses: MethodLosses) -> tuple[Estimate | None, str]:
    """A method's expected loss, or why there is none."""
    if losses.has_nan:
        return None, why_no_value(work, losses)
    try:
        return expected_loss(work.facts, losses), ""
    except StatisticsError as error:
        return None, str(error)


def expected_loss(facts: TaskFacts, losses: MethodLosses) -> Estimate:
    """A method's expected loss by the analysis that fits the task's design; an error where none does."""
    if losses.metric is None:
        return expected_by_design(facts, losses)
    check_metric(facts, losses.metric)
    return metric_estimate(facts, losses, expected_by_design(facts, losses))


def paired_test(facts: TaskFacts, first: MethodLosses, second: MethodLosses) -> Test:
    """Two methods compared on the instances that both have, by the analysis that fits the task's design."""
    instances = shared_instances(first, second)
    if not instances:
        raise StatisticsError(
            f"{first.method} and {second.method} have no instance of {facts.address} in common: "
            "nothing can be compared"
        )
    if first.metric is None:
        return paired_by_design(facts, first, second, instances)
    return metric_test(facts, first, second, paired_by_design(facts, first, second, instances))


def pair_squares(facts: TaskFacts, several: Sequence[MethodLosses], places: Places) -> PairSquares:
    """What pairs of methods on the same instances differ by, and what that varies, by the task's design."""
    instances: Sequence[int] = sorted(set.intersection(*(set(one.by_instance) for one in several)))
    if not instances:
        raise StatisticsError(
            f"{' and '.join(one.method for one in several)} have no instance of {facts.address} in common: "
            "nothing can be compared"
        )
    if (metric := several[0].metric) is None:
        return squares_by_design(facts, several, places, instances)
    check_metric(facts, metric)
    return metric_squares(facts, several, places, squares_by_design(facts, several, places, instances))
