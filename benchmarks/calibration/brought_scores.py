"""Calibration of comparisons of fixed models by scores that were brought: levels, coverages, power.

Models answer n questions R times each. A question is contested with some chance: every model then has a
chance of its own to be right, else all are right or all are wrong; so two models that answer once differ on
half of the contested ones. All claims and intervals are those of `redelve compare`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, sqrt

import numpy as np
from scipy.special import ndtri

from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
from benchmarks.calibration.simulation import Generator
from redelve.stats.case_pairs import pairs_of_cases, unit_parts
from redelve.stats.estimates import Interval
from redelve.stats.families import PairFamily, PairSquares, unmoderated
from redelve.stats.mean_squares import FloatArray
from redelve.stats.units import pool_units, weighted

LEVEL = 0.05
MANY = 29
BATCH = 2**22
"""Scores drawn at a time."""
LIMITS = (0.0, 1.0)
MOST_TRIED, MOST_SHORT = 100, 50
"""With so few data sets the page is only tried, on so many questions."""


@dataclass(frozen=True)
class Drawn:
    """Scores[data set, model, question], each the mean of its answers, with the models' expected scores."""

    scores: FloatArray
    truths: FloatArray
    groups: FloatArray | None = None
    limits: Interval = LIMITS
    weights: FloatArray | None = None

    @property
    def is_plain(self) -> bool:
        """Whether cases are alone and count the same."""
        return self.groups is None and self.weights is None


@dataclass(frozen=True)
class Questions:
    """Right and wrong answers: so many questions, answers each, and how often two models differ on one.

    `accuracy` is that of all models; the first one is right on `ahead` more of the questions. Where models
    are `spread`, they fail by themselves, the last one on so many questions, on which others seldom do.
    """

    questions: int
    answers: int = 1
    discordance: float = 0.1
    accuracy: float = 0.7
    ahead: float = 0.0
    spread: float = 0.0

    @property
    def words(self) -> str:
        """The setting in a few words."""
        if self.spread:
            return f"n = {self.questions:,}, R = {self.answers}, errors from 0 to {100 * self.spread:g} %"
        return (
            f"n = {self.questions:,}, R = {self.answers}, {100 * self.discordance:g} % differ, "
            f"accuracy {100 * self.accuracy:g} %"
        )

    def draw(self, models: int, count: int, rng: Generator) -> Drawn:
        """So many data sets."""
        size = (count, models, self.questions)
        if self.spread:
            errors = np.linspace(0.0, self.spread, models)
            right = 1.0 - rng.binomial(self.answers, errors[:, None], size) / self.answers
            return Drawn(right, np.tile(1 - errors, (count, 1)))
        contested, rest = 2 * self.discordance, self.accuracy - self.discordance
        which = rng.random((count, 1, self.questions))
        chances = rng.beta(0.5, 0.5, size) if self.answers > 1 else np.full(size, 0.5)
        chances = np.where(which < contested, chances, np.where(which < contested + rest, 1.0, 0.0))
        chances[:, 0] = np.where(which[:, 0] > 1 - self.ahead, 1.0, chances[:, 0])
        truths = np.full((count, models), self.accuracy)
        truths[:, 0] += self.ahead
        return Drawn(rng.binomial(self.answers, chances) / self.answers, truths)


@dataclass(frozen=True)
class Clusters:
    """Questions in clusters of ten, or of sizes that vary much (log-normal, σ = 1); half are contested.

    A model has one chance to be right in all of a contested cluster.
    """

    clusters: int
    is_unequal: bool = False
    ahead: float = 0.0

    @property
    def words(self) -> str:
        """The setting in a few words."""
        return f"{self.clusters} clusters of {'unequal' if self.is_unequal else 'equal'} sizes"

    def draw(self, models: int, count: int, rng: Generator) -> Drawn:
        """One data set: sizes differ from one to the next."""
        sizes = np.full(self.clusters, 10)
        if self.is_unequal:
            sizes = np.ceil(rng.lognormal(np.log(6), 1.0, self.clusters)).astype(np.int64)
        chances = rng.beta(0.5, 0.5, (models, self.clusters))
        kinds = rng.random(self.clusters)
        chances = np.where(kinds < 0.5, chances, np.where(kinds < 0.75, 1.0, 0.0))
        chances[0] = np.where(kinds > 1 - self.ahead, 1.0, chances[0])
        groups = np.repeat(np.arange(self.clusters), sizes)
        truths = np.full((1, models), 0.5)
        truths[:, 0] += self.ahead
        scores = (rng.random((1, models, groups.size)) < chances[None, :, groups]).astype(np.float64)
        return Drawn(scores, truths, groups.astype(np.float64))


Draw = Callable[[Generator, tuple[int, ...]], FloatArray]


def _rubric(rng: Generator, size: tuple[int, ...]) -> FloatArray:
    """Scores in [0, 1] around a hardness that all models share."""
    hardness = rng.beta(5.0, 2.0, (size[0], 1, size[2]))
    return np.asarray(rng.beta(10 * hardness, 10 * (1 - hardness), size))


def _partial(rng: Generator, size: tuple[int, ...]) -> FloatArray:
    """The first model always has 0.9; the others have 1 nine times in ten, else 0."""
    scores = (rng.random(size) < 0.9).astype(np.float64)
    scores[:, 0] = 0.9
    return scores


SHAPES: dict[str, tuple[Draw, float, Interval]] = {
    "bounded, in tenths": (lambda rng, size: np.round(_rubric(rng, size), 1), 5 / 7, LIMITS),
    "bounded": (_rubric, 5 / 7, LIMITS),
    "bounded, one model constant": (_partial, 0.9, LIMITS),
    "unbounded, Gaussian": (lambda rng, size: rng.standard_normal(size), 0.0, (-inf, inf)),
    "unbounded, exponential": (lambda rng, size: rng.standard_exponential(size), 1.0, (-inf, inf)),
}


@dataclass(frozen=True)
class Shape:
    """Scores of another kind, by its name among `SHAPES`; the first model is `ahead` on average."""

    kind: str
    questions: int
    ahead: float = 0.0

    @property
    def words(self) -> str:
        """The setting in a few words."""
        return f"{self.kind}, n = {self.questions:,}"

    def draw(self, models: int, count: int, rng: Generator) -> Drawn:
        """So many data sets."""
        make, mean, limits = SHAPES[self.kind]
        scores, truths = make(rng, (count, models, self.questions)), np.full((count, models), mean)
        room = (limits[1] - scores[:, 0]) / (limits[1] - mean) if np.isfinite(limits[1]) else 1.0
        scores[:, 0] += self.ahead * room
        truths[:, 0] += self.ahead
        return Drawn(scores, truths, limits=limits)


@dataclass(frozen=True)
class Heavy:
    """Gaussian scores of units that count as their sizes say: clusters, or cases with weights.

    They vary alike, or are means of independent cases: the larger, the less they vary.
    """

    name: str
    sizes: tuple[float, ...]
    is_independent: bool = False

    @property
    def words(self) -> str:
        """The setting in a few words."""
        return f"{self.name}, {'independent cases' if self.is_independent else 'units vary alike'}"

    def draw(self, models: int, count: int, rng: Generator) -> Drawn:
        """So many data sets."""
        weights = np.array(self.sizes)
        scores = rng.standard_normal((count, models, weights.size))
        if self.is_independent:
            scores /= np.sqrt(weights)
        return Drawn(scores, np.zeros((count, models)), limits=(-inf, inf), weights=weights)


Setting = Questions | Clusters | Shape | Heavy


class _Alone(PairFamily):
    """Pairs that have nothing to do with each other: each is the only one of its data set."""

    @property
    def pairs(self) -> int:
        """One."""
        return 1


def families(drawn: Drawn) -> Iterator[tuple[PairFamily, FloatArray]]:
    """The comparisons of each data set, with their true differences; two models all sets at once."""
    count, models, cases = drawn.scores.shape
    if models == 2 and drawn.is_plain:
        places = list(range(0, 2 * count, 2)), list(range(1, 2 * count, 2))
        squares = pairs_of_cases(drawn.scores.reshape(2 * count, cases), places, None, drawn.limits)
        nothing = np.zeros_like(squares.between)
        family = _Alone(squares, squares.between, nothing, 0.0, squares.between)
        yield family, drawn.truths[:, 0] - drawn.truths[:, 1]
        return
    first, second = zip(*combinations(range(models), 2), strict=True)
    for scores, truths in zip(drawn.scores, drawn.truths, strict=True):
        squares = _squares(drawn, scores, (list(first), list(second)))
        yield unmoderated(squares), truths[list(first)] - truths[list(second)]


def _squares(drawn: Drawn, scores: FloatArray, places: tuple[list[int], list[int]]) -> PairSquares:
    if drawn.weights is not None:
        parts = unit_parts(None, drawn.weights, drawn.weights.size)
        values = np.array([weighted(row, drawn.weights) for row in scores])
        return pairs_of_cases(values, places, parts, drawn.limits)
    if drawn.groups is None:
        return pairs_of_cases(scores, places, None, drawn.limits)
    parts = unit_parts(drawn.groups, None, drawn.groups.size)
    return pairs_of_cases(pool_units([scores], [drawn.groups])[0], places, parts, drawn.limits)


def _ends(family: PairFamily, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The intervals as they are printed: they leave out zero exactly where a difference is claimed."""
    lows, highs = family.ends(LEVEL)
    is_up, is_down = ((p < LEVEL) & (sign * family.squares.differences > 0) for sign in (1, -1))
    return (
        np.where(is_up, np.maximum(lows, 0.0), np.minimum(lows, 0.0)),
        np.where(is_down, np.minimum(highs, 0.0), np.maximum(highs, 0.0)),
    )


@dataclass(frozen=True)
class ScoreRates:
    """Per cent of data sets: with any false claim, with any interval that misses, without any; and power.

    `power` is the share of the first model's comparisons that are claimed, `bare` that by the t-test of
    question means, `t_misses` data sets in which any t-interval misses or is not defined.
    """

    claims: float
    misses: float
    t_misses: float
    power: float
    bare: float


def score_rates(setting: Setting, models: int, count: int, rng: Generator) -> ScoreRates:
    """What is measured of a setting."""
    found = [row for drawn in _draws(setting, models, count, rng) for row in _outcomes(drawn, models)]
    return ScoreRates(*(100 * np.concatenate(found).reshape(-1, 5).mean(axis=0)).tolist())


def _draws(setting: Setting, models: int, count: int, rng: Generator) -> Iterator[Drawn]:
    if isinstance(setting, Clusters):
        yield from (setting.draw(models, 1, rng) for _ in range(count))
        return
    cases = len(setting.sizes) if isinstance(setting, Heavy) else setting.questions
    step = max(min(BATCH // (models * cases), 250), 1)
    for start in range(0, count, step):
        yield setting.draw(models, min(step, count - start), rng)


def _outcomes(drawn: Drawn, models: int) -> Iterator[FloatArray]:
    """For each data set: false claim, interval that misses, t-interval that misses, claims found, by t."""
    from scipy.special import stdtrit

    for family, truths in families(drawn):
        p = family.p_values()
        lows, highs = _ends(family, p)
        squares = family.squares
        with np.errstate(invalid="ignore", divide="ignore"):
            t = np.abs(squares.differences) / squares.standard_errors
            away = np.abs(squares.differences - truths) / squares.standard_errors
        reach = stdtrit(squares.df, 1 - LEVEL / (2 * family.pairs))
        is_wrong = (p < LEVEL) & (np.sign(squares.differences) * truths <= 0)
        is_out = (truths < lows - 1e-7) | (truths > highs + 1e-7)
        columns = np.array([is_wrong, is_out, ~(away <= reach), p < LEVEL, t > reach], dtype=np.float64)
        if models == 2 and drawn.is_plain:
            yield columns.T
        else:
            of_first = columns[3:, : models - 1].mean(axis=1)
            yield np.concatenate([columns[:3].max(axis=1), of_first])[None]


def gap(discordance: float, questions: float, errors: float) -> float:
    """So many standard errors of a difference of right and wrong answers."""
    return errors * sqrt(discordance / questions)


def equal_settings() -> Iterator[Setting]:
    """Models that are equally good."""
    for n in (50, 200, 1000, 10_000):
        for answers in (1, 2, 3, 5):
            yield Questions(n, answers)
    for n in (50, 200, 1000):
        yield Questions(n, 1, 0.02, 0.97)
        yield Questions(n, 1, 0.02, 0.5)
        yield Questions(n, 1, 0.25, 0.5)
        yield Questions(n, 1, 0.01, 0.99)
        yield Questions(n, 3, 0.02, 0.97)
    for clusters in (10, 30, 100):
        for is_unequal in (False, True):
            yield Clusters(clusters, is_unequal)
    for kind in SHAPES:
        for n in (50, 200, 1000):
            yield Shape(kind, n)


def apart_settings() -> Iterator[Setting]:
    """Models that differ: intervals must hold what is not zero."""
    for n in (50, 200, 1000):
        for answers in (1, 3):
            yield Questions(n, answers, spread=0.02)
            yield Questions(n, answers, spread=0.1)


SWE_BENCH_LITE = (114, 77, 23, 23, 17, 16, 6, 6, 6, 5, 4, 3)
"""Issues of each of its repositories (Jimenez et al. 2024)."""


def heavy_settings() -> Iterator[Setting]:
    """A few units that have much of all weight."""
    log_normal = np.exp(1.5 * ndtri((np.arange(50) + 0.5) / 50))
    for is_independent in (False, True):
        for few, size, rest in ((1, 20, 40), (3, 30, 30), (3, 100, 100), (5, 10, 50), (8, 10, 100)):
            sizes = (*[float(size)] * few, *[1.0] * rest)
            yield Heavy(f"{few} of {size} and {rest} of 1", sizes, is_independent)
        yield Heavy("as SWE-bench Lite's repositories", SWE_BENCH_LITE, is_independent)
        yield Heavy("50 log-normal sizes, σ = 1.5", tuple(log_normal.tolist()), is_independent)


def power_settings(models: int) -> Iterator[Setting]:
    """The first model is ahead by what is found about every second time."""
    errors = 2.2 if models == 2 else 4.2
    for n in (50, 200, 1000, 10_000):
        for answers in (1, 2, 3, 5):
            yield Questions(n, answers, 0.1, 0.5, ahead=gap(0.1, n, errors))
    for clusters in (30, 100):
        for is_unequal in (False, True):
            yield Clusters(clusters, is_unequal, ahead=min(gap(0.25, clusters, errors), 0.2))
    for n in (50, 200, 1000):
        yield Shape("bounded", n, gap(0.033, n, errors))
        yield Shape("unbounded, Gaussian", n, gap(2.0, n, errors))
    for n in (200, 1000):
        yield Shape("bounded, one model constant", n, gap(0.09, n, errors))


@dataclass(frozen=True)
class Line:
    """A setting with so many models, measured on so many data sets by random numbers of its own."""

    setting: Setting
    models: int
    count: int
    rng: Generator

    def rates(self) -> ScoreRates:
        """What is measured."""
        return score_rates(self.setting, self.models, self.count, self.rng)

    @property
    def where(self) -> str:
        """The setting in words."""
        return f"k = {self.models}, {self.setting.words}"


def _count(setting: Setting, models: int, effort: Effort) -> int:
    """Fewer data sets where each takes long, more where rates are near 5 % by design."""
    if isinstance(setting, Heavy):
        return max(effort.least * (10 if models == 2 else 1), 2)
    is_long = isinstance(setting, Clusters) or setting.questions > 1000
    if models == 2:
        return max(effort.least if is_long else 2 * effort.least, 2)
    is_near = isinstance(setting, Shape) and not setting.ahead  # whose rates are near 5 %
    return max(effort.least // (2 if is_near else 10), 2)


def _quick(settings: Iterable[Setting], effort: Effort) -> list[Setting]:
    """All settings, or where hardly anything is measured those that take little."""
    return [
        one for one in settings if effort.least > MOST_TRIED or getattr(one, "questions", 0) <= MOST_SHORT
    ]


def lines_of(rng: Generator, effort: Effort) -> tuple[list[Line], list[Line], list[Line]]:
    """All that is measured: levels and coverages, power, heavy units' levels; two models and many in turn."""
    two = [(setting, 2) for setting in _quick(power_settings(2), effort)]
    many = [(setting, MANY) for setting in _quick(power_settings(MANY), effort)]
    pairs = [one for both in zip(two, many, strict=True) for one in both]
    levels = _quick((*equal_settings(), *apart_settings()), effort)
    wanted = [(setting, k) for setting in levels for k in (2, MANY)]
    heavy = [(setting, k) for setting in heavy_settings() for k in (2, MANY)]
    every = [*wanted, *pairs, *heavy]
    made = [
        Line(setting, models, _count(setting, models, effort), own)
        for (setting, models), own in zip(every, rng.spawn(len(every)), strict=True)
    ]
    last = len(wanted) + len(pairs)
    return made[: len(wanted)], made[len(wanted) : last], made[last:]


def brought_scores(
    rng: Generator, effort: Effort, each: Callable[..., Iterable[ScoreRates]] = map
) -> Section:
    """Level, coverage and power of comparisons of scores that were brought; `each` may use many processes."""
    lines, powers, heavy = lines_of(rng, effort)
    found = list(each(Line.rates, [*lines, *powers, *heavy]))
    last = len(lines) + len(powers)
    levels, of_powers, of_heavy = found[: len(lines)], found[len(lines) : last], found[last:]
    findings = [
        *_level_findings([*lines, *heavy], [*levels, *of_heavy]),
        *_power_findings(powers, of_powers),
    ]
    equal = 2 * len(_quick(equal_settings(), effort))
    parts = [
        _levels("Models that are equally good", lines[:equal], levels[:equal]),
        _levels("Models that differ", lines[equal:], levels[equal:]),
        _powers(powers, of_powers),
        _levels("A few heavy units, equally good", heavy, of_heavy),
    ]
    few, most = min(one.count for one in lines), max(one.count for one in lines)
    words = f"""Fixed models on n questions with R answers each, compared as `redelve compare` does: two
        models, or {MANY} and all their {MANY * (MANY - 1) // 2} pairs at once. A question is contested with
        twice the chance that two models differ on it; several answers are then drawn with a chance of the
        model's own (Beta(½, ½)). *False claim*: per cent of data sets in which any difference is claimed that
        is none, or in the wrong direction; *misses*: in which any of the intervals misses; *t misses*: the
        same of t-intervals on question means, which are not defined where all answers agree. Clusters: half
        of them contested, one chance for all of a cluster. *Constant*: one model always scores 0.9, the
        others 1 or 0, so its differences are skewed; t alone would claim one that is none in 12 % of samples
        of 50 questions, as often as its intervals miss. What a sample has none of no test of means can allow
        for: where a model that is a little better fails on every twentieth question, 50 questions have no
        failure in 8 % of samples. Two models have {most:,} data sets for most lines (standard error
        {margin(most)} near 5 %), {MANY} models fewer, {few:,} at least ({margin(few)}). Power is that of the
        first model's comparisons, beside that of the t-test of question means on the same data. It is less
        where differences are skewed against the better model: that a constant one is 2.2 standard errors
        behind is found in 47 % with 200 questions and 52 % with 1,000, by t in 56 and 61 %; t finds more
        because it does not keep its level. *Heavy units* are clusters or cases with weights, a few of which
        have much of all weight, with Gaussian scores, in {heavy[0].count:,} data sets of two models (standard
        error {margin(heavy[0].count)}); with one degree of freedom less than the effective number of units,
        as many as 10 % of two models' claims would be false."""
    return Section("Scores that were brought", words, "\n\n".join(parts), tuple(findings))


def _level_findings(lines: Sequence[Line], rates: Sequence[ScoreRates]) -> Iterator[Finding]:
    for one, found in zip(lines, rates, strict=True):
        kind = ", skewed" if getattr(one.setting, "kind", "") in SKEWED else ""
        yield Finding(f"brought scores, any false claim{kind}", one.where, found.claims, one.count)
        yield Finding(f"brought scores, all intervals hold{kind}", one.where, 100 - found.misses, one.count)


def _power_findings(lines: Sequence[Line], rates: Sequence[ScoreRates]) -> Iterator[Finding]:
    for one, found in zip(lines, rates, strict=True):
        if getattr(one.setting, "kind", "") not in SKEWED:
            lost = found.bare - found.power
            yield Finding("brought scores, power lost to t of question means", one.where, lost, one.count)


SKEWED = ("bounded, one model constant", "unbounded, exponential")
"""Told apart: t alone does not keep its level on few questions."""


def _levels(title: str, lines: Sequence[Line], rates: Sequence[ScoreRates]) -> str:
    rows: list[list[object]] = []
    for place in range(0, len(lines), 2):
        both = rates[place : place + 2]
        numbers = [number for one in both for number in (one.claims, one.misses, one.t_misses)]
        rows.append([lines[place].setting.words, *numbers])
    head = [title, *(f"k = {k}: {what}" for k in (2, MANY) for what in ("false claim", "misses", "t misses"))]
    return table(head, rows)


def _powers(lines: Sequence[Line], rates: Sequence[ScoreRates]) -> str:
    rows: list[list[object]] = []
    for place in range(0, len(lines), 2):
        numbers = [number for one in rates[place : place + 2] for number in (one.power, one.bare)]
        rows.append([lines[place].setting.words, *numbers])
    head = ["The first model ahead", *(f"k = {k}: {what}" for k in (2, MANY) for what in ("found", "by t"))]
    return table(head, rows)
