"""How well will a model do on new cases, and how sure is that?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from redelve.answers.predictions import Truth
from redelve.errors import SpecError
from redelve.performance.bench import Bench, BenchSettings, Progress
from redelve.performance.best_of_several import FOLDS, SelectingLearner, best_of
from redelve.performance.guesses import Prediction
from redelve.performance.learners import Learner, learner_for, name_of
from redelve.performance.measures import BER, Rows, measure_for
from redelve.performance.ways import Way, parse_way
from redelve.stats.estimates import check_level

WaysLike = str | Way | Sequence[str | Way]

SQUARED = "S"
USUAL_FOLDS = 10
MANY_CASES = 1000
"""With more cases the usual ways are only those with few fits: all ways then come close together."""
RECOMMENDED = ("combined", "repeated", "nested", "kfold", "632+", "bootstrap")
"""The ways whose guess is told, the first that was tried (docs/predicting.md)."""
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
RECOMMENDED_OF_SEVERAL = ("bbc", "tibshirani", *RECOMMENDED)


class PredictionOptions(TypedDict, total=False):
    """How a performance is predicted; every option may be left out."""

    loss: str
    """"ber" (usual for classes), "error", or a code of redelve's losses: S (usual), A for numbers, Q, L."""
    ways: WaysLike
    """The ways to guess by, such as ("kfold:5", "632+"); `redelve.performance.WAYS` has them all."""
    seed: int
    """All splits and fits follow from it; splits do not depend on the model."""
    level: float
    """The level of the intervals, 0.95."""
    jobs: int
    """How many processes fit models; 1 stays in this one. Guesses do not depend on it."""
    progress: Progress
    """Called with a model's name and how many of how many fits of a set of splits are done."""


def predict_performance(estimator: Any, X: Any, y: Any, **options: Unpack[PredictionOptions]) -> Prediction:
    """Guess, with intervals, how the estimator trained on these cases will do on new ones.

    A list of estimators, or a dictionary of names and estimators, is a choice: the one with the smallest
    cross-validated loss is taken, and the guess is corrected for that; other ways then judge the choosing as
    a whole. X is dense, sparse or a data frame, y has any classes or, for regressors, numbers.
    """
    if isinstance(estimator, str) or not isinstance(estimator, Mapping | Sequence):
        learner, truth = learner_for(estimator, X, y)
        return predict_learners([learner], truth, **options)
    made = [learner_for(one, X, y, name) for name, one in _named(estimator).items()]
    if len({truth.target for _, truth in made}) > 1:
        raise SpecError(
            "the models are classifiers and regressors: give one kind, as one loss must judge them"
        )
    if not made:
        raise SpecError("there is no model: give an estimator, or a list of them")
    return predict_learners([learner for learner, _ in made], made[0][1], **options)


def _named(estimators: Mapping[str, Any] | Sequence[Any]) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        return dict(estimators)
    found: dict[str, Any] = {}
    for one in estimators:
        name = name_of(one)
        same = sum(key == name or key.startswith(f"{name} ") for key in found)
        found[f"{name} {same + 1}" if same else name] = one
    return found


def predict_learners(
    learners: Sequence[Learner], truth: Truth, **options: Unpack[PredictionOptions]
) -> Prediction:
    """The same for anything that can learn; `truth` has the true target of every case."""
    bench = bench_for(learners, truth, **options)
    wished_ways = options.get("ways")
    if wished_ways is not None and not isinstance(wished_ways, Way) and not len(wished_ways):
        raise SpecError('there is no way to guess by: give some, such as ("kfold:10", "632+")')
    ways = parsed_ways(usual_ways(bench) if wished_ways is None else wished_ways)
    chosen, models = _choice(bench, ways) if bench.candidates else (None, ())
    guesses = tuple(way.guess(bench) for way in ways)
    wished = RECOMMENDED_OF_SEVERAL if bench.candidates else RECOMMENDED
    return Prediction(
        bench.learner.name if chosen is None else f"{chosen} ({bench.learner.name})",
        bench.measure.name,
        bench.count,
        bench.level,
        guesses,
        min(ways, key=lambda way: wished.index(way.key) if way.key in wished else len(wished)).name,
        chosen,
        models,
        cautions(bench),
    )


def usual_ways(bench: Bench) -> tuple[str, ...]:
    """The ways that are tried unless others are named, with no more folds than a class has cases."""
    folds = max(min(USUAL_FOLDS, bench.splitter.smallest[0]), 2)
    if bench.candidates:
        return f"uncorrected:{folds}", f"tibshirani:{folds}", f"bbc:{folds}"
    few = "holdout", f"kfold:{folds}"
    if bench.count > MANY_CASES:
        return few
    return (*few, f"repeated:{folds}x5", "632+:100", f"combined:{folds}")


def cautions(bench: Bench) -> tuple[str, ...]:
    """What must be said of the cases themselves."""
    count, name = bench.splitter.smallest
    few = bench.measure.balanced and count < FEW_OF_A_CLASS
    return (*_copies(bench), *([FEW.format(name=name, count=count)] if few else []))


def _copies(bench: Bench) -> tuple[str, ...]:
    """Copies of a case train and test at once."""
    learner = (bench.candidates or (bench,))[0].learner
    numbers: Rows | None = getattr(learner, "alike", lambda: None)()
    if numbers is None:
        return ()
    both = np.column_stack([numbers, bench.truth.values])
    _, places, counts = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    copies = counts[places.ravel()] > 1
    if float(bench.weights[copies].sum()) < SHARE_OF_COPIES:
        return ()
    return (COPIES.format(copies=int(copies.sum()), count=bench.count),)


def bench_for(learners: Sequence[Learner], truth: Truth, **options: Unpack[PredictionOptions]) -> Bench:
    """Where the guesses are made; several learners are chosen among."""
    settings = _settings(options)
    usual = BER if truth.target.kind == "categorical" else SQUARED
    measure = measure_for(options.get("loss", usual), [truth.target])
    benches = tuple(Bench(one, truth, measure, settings) for one in learners)
    if len(benches) == 1:
        return benches[0]
    return Bench(SelectingLearner(tuple(learners), truth, measure), truth, measure, settings, benches)


def parsed_ways(ways: WaysLike) -> tuple[Way, ...]:
    """The ways named, each once."""
    given = [ways] if isinstance(ways, str | Way) else list(ways)
    return tuple(dict.fromkeys(parse_way(one) for one in given))


def _settings(options: PredictionOptions) -> BenchSettings:
    unknown = sorted(set(options) - set(PredictionOptions.__annotations__))
    if unknown:
        known = ", ".join(PredictionOptions.__annotations__)
        raise SpecError(f'unknown option "{unknown[0]}": known are {known}')
    level, jobs, number = options.get("level", 0.95), options.get("jobs", 1), options.get("seed", 0)
    check_level(level)
    if jobs < 1:
        raise SpecError(f"jobs is the number of processes, 1 or more: got {jobs}")
    if not isinstance(number, int | np.integer):
        raise SpecError(f"the seed is a whole number: got {number!r}")
    return BenchSettings(int(number), jobs, level, options.get("progress"))


def _choice(bench: Bench, ways: Sequence[Way]) -> tuple[str, tuple[tuple[str, float], ...]]:
    folds = next((getattr(way, "k", FOLDS) for way in ways if hasattr(way, "rounds")), FOLDS)
    rounds = [one.folds(folds) for one in bench.candidates]
    values = [
        one.value(done.by_case(bench.count)) for one, done in zip(bench.candidates, rounds, strict=True)
    ]
    names = [one.learner.name for one in bench.candidates]
    return names[best_of(bench, rounds)], tuple(zip(names, values, strict=True))
