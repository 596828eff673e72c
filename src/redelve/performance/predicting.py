"""How well will a model do on new cases, and how sure is that?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from redelve.errors import SpecError
from redelve.performance.bench import Bench, Settings
from redelve.performance.guesses import Prediction
from redelve.performance.learners import Learner, learner_for, name_of
from redelve.performance.measures import BER, measure_for
from redelve.performance.selection import FOLDS, SelectingLearner, best_of
from redelve.performance.ways import Way, parse_way
from redelve.predictions import Truth
from redelve.stats.estimates import check_level

WaysLike = str | Way | Sequence[str | Way]

USUAL = ("holdout", "kfold:10", "repeated:10x5", "632+:100", "combined")
"""The ways that are tried unless others are named."""
USUAL_OF_SEVERAL = ("uncorrected", "tibshirani", "bbc")
"""The same where the best of several models is chosen."""
RECOMMENDED = ("combined", "repeated", "nested", "kfold", "632+", "bootstrap")
"""The ways whose guess is told, the first that was tried (docs/predicting.md)."""
RECOMMENDED_OF_SEVERAL = ("bbc", "tibshirani", *RECOMMENDED)


class Options(TypedDict, total=False):
    """How a performance is predicted; every option may be left out."""

    loss: str
    """"ber" (usual), "error", or a code of redelve's losses: S, A for numbers, Z, Q, L for classes."""
    ways: WaysLike
    """The ways to guess by, such as ("kfold:5", "632+"); `redelve.performance.WAYS` has them all."""
    seed: int
    """All splits and fits follow from it; splits do not depend on the model."""
    level: float
    """The level of the intervals, 0.95."""
    jobs: int
    """How many processes fit models; 1 stays in this one. Guesses do not depend on it."""


def predict_performance(estimator: Any, X: Any, y: Any, **options: Unpack[Options]) -> Prediction:
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


def predict_learners(learners: Sequence[Learner], truth: Truth, **options: Unpack[Options]) -> Prediction:
    """The same for anything that can learn; `truth` has the true target of every case."""
    ways = parsed_ways(options.get("ways"), several=len(learners) > 1)
    bench = bench_for(learners, truth, **options)
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
    )


def bench_for(learners: Sequence[Learner], truth: Truth, **options: Unpack[Options]) -> Bench:
    """Where the guesses are made; several learners are chosen among."""
    settings = _settings(options)
    measure = measure_for(options.get("loss", BER), [truth.target])
    benches = tuple(Bench(one, truth, measure, settings) for one in learners)
    if len(benches) == 1:
        return benches[0]
    return Bench(SelectingLearner(tuple(learners), truth, measure), truth, measure, settings, benches)


def parsed_ways(ways: WaysLike | None, *, several: bool) -> tuple[Way, ...]:
    """The ways named, or the usual ones; each once."""
    if ways is None:
        ways = USUAL_OF_SEVERAL if several else USUAL
    given = [ways] if isinstance(ways, str | Way) else list(ways)
    if not given:
        raise SpecError('there is no way to guess by: give some, such as ("kfold:10", "632+")')
    return tuple(dict.fromkeys(parse_way(one) for one in given))


def _settings(options: Options) -> Settings:
    level, jobs, number = options.get("level", 0.95), options.get("jobs", 1), options.get("seed", 0)
    check_level(level)
    if jobs < 1:
        raise SpecError(f"jobs is the number of processes, 1 or more: got {jobs}")
    return Settings(int(number), jobs, level)


def _choice(bench: Bench, ways: Sequence[Way]) -> tuple[str, tuple[tuple[str, float], ...]]:
    folds = next((getattr(way, "k", FOLDS) for way in ways if hasattr(way, "rounds")), FOLDS)
    rounds = [one.folds(folds) for one in bench.candidates]
    values = [
        one.value(done.by_case(bench.count)) for one, done in zip(bench.candidates, rounds, strict=True)
    ]
    names = [one.learner.name for one in bench.candidates]
    return names[best_of(bench, rounds)], tuple(zip(names, values, strict=True))
