"""How well will a model do on new cases, and how sure is that?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from redelve.answers.losses import LossLike, ScoredMetric
from redelve.data.tables.dates import GUESSED_AT_RANDOM, dated_columns
from redelve.errors import SpecError, StatisticsError
from redelve.methods.adapters.sklearn_adapter import estimator_name
from redelve.methods.contract import Method
from redelve.model.dataset import Rows
from redelve.performance.bench import Bench, BenchSettings, Progress
from redelve.performance.best_of_several import best_of
from redelve.performance.checked_arrays import from_arrays
from redelve.performance.grouped_guesses import checked_groups
from redelve.performance.guesses import PerformanceGuess, Prediction
from redelve.performance.known_cases import FOLDS, KnownCases
from redelve.performance.measures import BER, measure_for
from redelve.performance.ways import Way, parse_way
from redelve.registry import named_options, value_told
from redelve.run.progress import fits_shown
from redelve.stats.grouped import FEW_GROUPS, few_groups
from redelve.stats.mean_squares import loss_tail

WaysLike = str | Way | Sequence[str | Way]

SQUARED = "S"
USUAL_FOLDS = 10
MANY_CASES = 1000
"""With more cases the usual ways are only those with few fits: all ways then come close together."""
MOST_LEFT_ALONE = 12
"""So many groups have a fold each, unless folds are named."""
RECOMMENDED_OF_GROUPS = ("nested", "repeated", "kfold", "loo", "combined", "632+", "bootstrap")
RECOMMENDED = ("combined", "repeated", "nested", "kfold", "632+", "bootstrap")
"""The ways whose guess is told, the first that was tried (docs/predicting.md)."""
WAYS_OF_METRICS = ("holdout", "kfold", "repeated", "kfold-naive", "loo", "apparent")
SHARE_OF_COPIES = 0.01
COPIES = (
    "{copies} of {count} cases have a double, equal in all inputs and the target. Where one case was "
    "recorded or copied more than once, it trains and tests at once and the guess is too hopeful: keep one "
    "of each. Different cases that happen to be equal do no harm"
)
FEW_OF_A_CLASS = 20
FEW = (
    'class "{name}" has only {count} cases, and counts as much as any other: intervals of folds hold the '
    "truth in about 88 % instead of 95 % of simulations with 10 cases"
)
HEAVY = "{words}: guesses and intervals rest on few cases; where these miss, the true loss is mostly larger"
HEAVY_HELD_OUT = (
    "where few cases carry so much of the loss, 95 % intervals from held-out cases held the truth in 52 to "
    "94 % of simulated data sets, the least with the heaviest tails"
)
"""Intervals of folds held it in 72 to 100 %, as the tail is: no rate is true of all (docs/predicting.md)."""
RECOMMENDED_OF_SEVERAL = ("bbc", "tibshirani", *RECOMMENDED)


@named_options
def predict_performance(  # noqa: PLR0913  (options of a public function are explicit)
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: LossLike | None = None,
    groups: Any = None,
    ways: WaysLike | None = None,
    seed: int = 0,
    level: float = 0.95,
    jobs: int = 1,
    progress: Progress | bool | None = None,
) -> Prediction:
    """Guess, with intervals, how an estimator trained on these cases will do on new ones.

    Parameters
    ----------
    estimator
        A scikit-learn classifier or regressor; copies of it are trained, it is never changed. A list of them,
        or a dictionary of names and estimators, is a choice: the one with the smallest cross-validated loss
        is taken, and the guess is corrected for that. Other ways then judge the choosing as a whole.
    X
        The inputs, a row for each case: an array, a sparse matrix or a data frame; or a text for each case.
        The estimator sees just these.
    y
        The class of each case or, for a regressor, the number; none may be missing.
    loss
        "ber", the balanced error rate (usual for classes), "error", the code of a loss: S (usual for
        numbers), A, Q, L; or a metric by scikit-learn's name, a scorer or a function: "roc_auc", "rmse".
    groups
        A label for each case, such as the patient's number; none may be missing. Cases of a group stay
        together in every split, the guess is of cases from new groups, and intervals count groups.
    ways
        One way to guess by or several, such as ``("kfold:5", "632+")``; ``redelve predict -W`` lists them.
        If left out, a few that suit the number of cases.
    seed
        A whole number, from which all splits and fits follow; splits do not depend on the estimator.
    level
        The level of the intervals, between 0 and 1.
    jobs
        How many processes fit models; 1 stays in this one. Guesses do not depend on it.
    progress
        Whether to show how far the fits are; if left out, in notebooks. A function is called with a model's
        name, and how many of how many fits of a set of splits are done.

    Returns
    -------
    Prediction
        A guess with its interval for each way. ``value`` and ``interval`` are those of the way that
        docs/predicting.md recommends, ``frame()`` holds all guesses, ``print`` shows them.

    Notes
    -----
    Where the ways and their intervals come from: corrected variance of folds (Nadeau and Bengio 2003), .632+
    (Efron and Tibshirani 1997), nested cross-validation (Bates, Hastie and Tibshirani 2024), best of several
    (Tibshirani and Tibshirani 2009; Tsamardinos, Greasidou and Borboudakis 2018), bounds (Vapnik; Bartlett
    and Mendelson 2002; Langford 2005); by groups, the jackknife (Efron and Stein 1981) and U-statistics
    (Hoeffding 1948).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["ill", "well"], 50)
    >>> X = rng.normal(size=(100, 3)) + (y == "ill")[:, None]
    >>> found = predict_performance(LogisticRegression(), X, y, ways=("kfold:10", "632+:50"))
    >>> found.measure, round(found.value, 3)
    ('balanced error rate', 0.16)
    >>> [guess.way for guess in found.guesses]
    ['kfold:10', '632+:50']
    """
    methods, cases = _from_arrays(estimator, X, y)
    codes = None if groups is None else checked_groups(groups, len(cases.truth))
    with fits_shown(progress) as tell:
        settings = BenchSettings(seed, jobs, level, tell)
        found = predict(bench_for(methods, cases, loss, settings, codes), ways)
    return with_dates(found, dated_columns(X))


def with_dates(found: Prediction, names: Sequence[str]) -> Prediction:
    """The same with a caution for each column of dates: no way to guess looks at time."""
    return replace(
        found, cautions=(*found.cautions, *(GUESSED_AT_RANDOM.format(name=name) for name in names))
    )


def _from_arrays(estimator: Any, X: Any, y: Any) -> tuple[dict[str, Method], KnownCases]:
    """One method or several, and the cases that all of them learn from."""
    if isinstance(estimator, str) or not isinstance(estimator, Mapping | Sequence):
        method, cases = from_arrays(estimator, X, y)
        return {method.name: method}, cases
    made = {name: from_arrays(one, X, y, name) for name, one in _named(estimator).items()}
    every = [cases for _, cases in made.values()]
    if len({cases.target for cases in every}) > 1:
        raise SpecError(
            "the models are classifiers and regressors: give one kind, as one loss must judge them"
        )
    if not made:
        raise SpecError("there is no model: give an estimator, or a list of them")
    return {name: method for name, (method, _) in made.items()}, every[0]


def _named(estimators: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        return dict(estimators)
    found: dict[str, Any] = {}
    for one in estimators:
        name = estimator_name(one)
        same = sum(key == name or key.startswith(f"{name} ") for key in found)
        found[f"{name} {same + 1}" if same else name] = one
    return found


def predict(bench: Bench, wished: WaysLike | None = None) -> Prediction:
    """The guesses of what is on the bench by the ways wished, or else the usual ones."""
    if not isinstance(wished, str | Way | Sequence | None):
        raise SpecError(f'ways={value_told(wished)}: give ways to guess by, such as ("kfold:10", "632+")')
    if wished is not None and not isinstance(wished, Way) and not len(wished):
        raise SpecError('there is no way to guess by: give some, such as ("kfold:10", "632+")')
    ways = parsed_ways(usual_ways(bench) if wished is None else wished)
    _check_ways(bench, ways)
    chosen, models = _choice(bench, ways) if bench.candidates else (None, ())
    guesses = [bench.shown(way.guess(bench)) for way in ways]
    heavy = _heavy_tails(bench)
    told = [_of_held_out(one, way) if heavy else one for one, way in zip(guesses, ways, strict=True)]
    usual = RECOMMENDED if bench.groups is None else RECOMMENDED_OF_GROUPS
    ranked = RECOMMENDED_OF_SEVERAL if bench.candidates else usual
    return Prediction(
        bench.name if chosen is None else f"{chosen} ({bench.name})",
        bench.measure.name,
        bench.count,
        bench.level,
        tuple(told),
        min(ways, key=lambda way: ranked.index(way.key) if way.key in ranked else len(ranked)).name,
        chosen,
        models,
        (*cautions(bench), *heavy),
        None if bench.groups is None else len(bench.splitter.members),
    )


def _check_ways(bench: Bench, ways: Sequence[Way]) -> None:
    """Metrics that are no means of cases are guessed from splits that test each case once, if at all."""
    if bench.measure.of_cases:
        return
    is_single = isinstance(bench.measure.loss, ScoredMetric) and bench.groups is None
    fitting = [key for key in WAYS_OF_METRICS if not (is_single and key == "loo")]
    for way in ways:
        if way.key not in fitting:
            name, choose = bench.measure.name, f"choose {', '.join(fitting)}"
            if way.key in WAYS_OF_METRICS:
                raise SpecError(
                    f"{way.name} leaves no two cases to one model, and {name} orders them: {choose}"
                )
            raise SpecError(f"{way.name} takes means of cases, and {name} is none: {choose}")


def usual_ways(bench: Bench) -> tuple[str, ...]:
    """The ways that are tried unless others are named, with no more folds than a class has cases."""
    folds = max(min(USUAL_FOLDS, bench.splitter.smallest[0]), 2)
    if bench.groups is not None:
        groups = len(bench.splitter.members)
        folds = groups if groups <= MOST_LEFT_ALONE else USUAL_FOLDS
    if not bench.measure.of_cases:
        several = () if bench.count > MANY_CASES or bench.candidates else (f"repeated:{folds}x5",)
        return "holdout", f"kfold:{folds}", *several
    if bench.candidates:
        return f"uncorrected:{folds}", f"tibshirani:{folds}", f"bbc:{folds}"
    few = "holdout", f"kfold:{folds}"
    if bench.count > MANY_CASES:
        return few
    if bench.groups is not None:
        return (*few, f"repeated:{folds}x5", f"nested:{folds}x1")
    return (*few, f"repeated:{folds}x5", "632+:100", f"combined:{folds}")


def cautions(bench: Bench) -> tuple[str, ...]:
    """What must be said of the cases themselves, but for their losses."""
    count, name = bench.splitter.smallest
    few = bench.measure.balanced and count < FEW_OF_A_CLASS
    said = [*_copies(bench), *([FEW.format(name=name, count=count)] if few else [])]
    if bench.groups is not None and (groups := len(bench.splitter.members)) < FEW_GROUPS:
        said.append(few_groups(groups))
    return tuple(said)


def _of_held_out(guess: PerformanceGuess, way: Way) -> PerformanceGuess:
    """A guess where tails are heavy: of held-out cases it is known that intervals mostly hold too seldom."""
    return replace(guess, notes=(*guess.notes, HEAVY_HELD_OUT)) if way.key == "holdout" else guess


def _heavy_tails(bench: Bench) -> tuple[str, ...]:
    """A few cases carry so much of the loss that much depends on who they are."""
    low, high = bench.measure.loss.limits([bench.truth.target])
    losses = bench.losses_seen()
    if isfinite(high) or losses is None:
        return ()
    tail = loss_tail(losses, low)
    return (HEAVY.format(words=tail.words()),) if tail.is_heavy() else ()


def _copies(bench: Bench) -> tuple[str, ...]:
    """Copies of a case train and test at once."""
    numbers = bench.cases.alike()
    if numbers is None:
        return ()
    both = np.column_stack([numbers, bench.truth.values])
    _, places, counts = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    copies = counts[places.ravel()] > 1
    if float(bench.weights[copies].sum()) < SHARE_OF_COPIES:
        return ()
    return (COPIES.format(copies=int(copies.sum()), count=bench.count),)


def bench_for(
    methods: Mapping[str, Method],
    cases: KnownCases,
    loss: LossLike | None = None,
    settings: BenchSettings | None = None,
    groups: Rows | None = None,
) -> Bench:
    """Where the guesses are made; several methods are chosen among. `groups` number each case's from 0."""
    if not methods:
        raise SpecError("there is no method: name one, or several to choose among")
    target = cases.truth.target
    usual = BER if target.kind == "categorical" else SQUARED
    measure = measure_for(usual if loss is None else loss, [target])
    if measure.of_cases and (reason := measure.loss.why_undefined([cases.truth])) is not None:
        raise StatisticsError(reason)  # before the first fit
    return Bench(methods, cases, measure, settings or BenchSettings(), groups)


def parsed_ways(ways: WaysLike) -> tuple[Way, ...]:
    """The ways named, each once."""
    given = [ways] if isinstance(ways, str | Way) else list(ways)
    return tuple(dict.fromkeys(parse_way(one) for one in given))


def _choice(bench: Bench, ways: Sequence[Way]) -> tuple[str, tuple[tuple[str, float], ...]]:
    most = FOLDS if bench.groups is None else min(FOLDS, len(bench.splitter.members))
    folds = next((getattr(way, "k", FOLDS) for way in ways if hasattr(way, "rounds")), most)
    rounds = [one.folds(folds) for one in bench.candidates]
    values = [
        one.value(done.by_case(bench.count)) for one, done in zip(bench.candidates, rounds, strict=True)
    ]
    names = list(bench.methods)
    shown = map(bench.measure.shown_as.metric_value, values)
    return names[best_of(bench, rounds)], tuple(zip(names, shown, strict=True))
