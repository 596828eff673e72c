"""One trial: a classifier on a training set, guesses by every way, and the truth from many test cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from redelve.errors import FormatError, SpecError
from redelve.performance import Bench, BenchSettings, PerformanceGuess, bench_for, from_arrays, parse_way
from redelve.performance.best_of_several import best_of
from redelve.stats.balanced_errors import balanced_errors
from redelve.studies.wcci.two_class_problems import PROBLEMS

FORMAT = 1
SELECTION = "selection"
"""In the place of a classifier: the best of the candidates."""
SELECTION_FOLDS = 10

WAYS = (
    "apparent", "holdout:0.3", "kfold:2", "kfold:5", "kfold:10", "kfold-naive:10", "kfold:20", "loo",
    "repeated:10x5", "bootstrap:100", "632:100", "632+:100", "nested:5x5", "combined:10x5x100", "vc",
    "compression", "rademacher:5",
)  # fmt: skip
SELECTION_WAYS = ("uncorrected:10", "tibshirani:10", "bbc:10x500", "kfold:5")
"""k-fold of the choosing itself is nested cross-validation for model selection."""
QUICK_WAYS = ("apparent", "holdout:0.3", "kfold:2", "kfold:5", "kfold:10", "632+:20", "vc")
QUICK_SELECTION_WAYS = ("uncorrected:10", "tibshirani:10", "bbc:10x500")


def _logistic(weight: float = 1.0) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=weight, class_weight="balanced", solver="liblinear")


def _svm(cost: float = 1.0) -> Any:
    from sklearn.svm import SVC

    return SVC(C=cost, class_weight="balanced")


def _nearest(neighbours: int = 1) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(neighbours)


def _tree(depth: int | None = None) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, class_weight="balanced")


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(30, class_weight="balanced_subsample")


CLASSIFIERS: Mapping[str, Callable[[], Any]] = {
    "logistic": _logistic,
    "svm": _svm,
    "nearest": _nearest,
    "tree": _tree,
    "forest": _forest,
}
USUAL_CLASSIFIERS = ("logistic", "svm", "tree")


def candidates() -> dict[str, Any]:
    """The models among which is chosen."""
    found = {f"logistic {weight:g}": _logistic(weight) for weight in (0.01, 0.1, 1.0)}
    found |= {f"svm {cost:g}": _svm(cost) for cost in (0.3, 1.0, 3.0)}
    found |= {f"nearest {count}": _nearest(count) for count in (1, 5, 15)}
    return found | {f"tree {depth}": _tree(depth) for depth in (2, 4)}


@dataclass(frozen=True)
class TrialTask:
    """A classifier, or the choice among several, on one training set of a problem."""

    problem: str
    classifier: str
    instance: int

    @property
    def file(self) -> str:
        """What its file is called."""
        return f"{self.problem}-{self.classifier}-{self.instance}.json"


@dataclass(frozen=True)
class Tried:
    """What came of a task: the true BER on the test cases, its σ (equation 1), and the guesses."""

    task: TrialTask
    truth: float
    sigma: float
    training_cases: int
    test_cases: int
    guesses: tuple[PerformanceGuess, ...]


@dataclass(frozen=True)
class WcciPlan:
    """What is tried: every problem, classifier and instance, by these ways."""

    problems: tuple[str, ...] = ("twonorm", "ringnorm", "words", "rare", "digits")
    classifiers: tuple[str, ...] = (*USUAL_CLASSIFIERS, SELECTION)
    instances: int = 10
    ways: tuple[str, ...] = WAYS
    selection_ways: tuple[str, ...] = SELECTION_WAYS

    def __post_init__(self) -> None:
        for name in self.problems:
            PROBLEMS[name]
        known = (*CLASSIFIERS, SELECTION)
        for name in self.classifiers:
            if name not in known:
                raise SpecError(f'unknown classifier "{name}": known are {", ".join(known)}')
        if self.instances < 2:
            raise SpecError(f"standard errors need two instances or more: got {self.instances}")

    def tasks(self) -> tuple[TrialTask, ...]:
        """Instance by instance, so that whatever is done when a run is stopped can be compared."""
        return tuple(
            TrialTask(problem, classifier, instance)
            for instance in range(self.instances)
            for problem in self.problems
            for classifier in self.classifiers
        )

    def ways_of(self, task: TrialTask) -> tuple[str, ...]:
        """The ways to be tried on a task."""
        return self.selection_ways if task.classifier == SELECTION else self.ways


QUICK = WcciPlan(
    problems=("twonorm", "rare"),
    classifiers=("logistic", "nearest", SELECTION),
    instances=2,
    ways=QUICK_WAYS,
    selection_ways=QUICK_SELECTION_WAYS,
)


def carry_out(
    plan: WcciPlan, folder: Path, progress: Callable[[str], None] = lambda _: None
) -> Iterator[Tried]:
    """Do what the folder has not yet, and tell everything in the order of the tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = plan.tasks()
    for number, task in enumerate(tasks, 1):
        path = folder / task.file
        held = read(path) if path.exists() else None
        known = {guess.way: guess for guess in held.guesses} if held else {}
        names = [parse_way(way).name for way in plan.ways_of(task)]
        missing = [name for name in names if name not in known]
        if held is None or missing:
            progress(f"{number} of {len(tasks)}: {task.problem}, {task.classifier}, {task.instance}")
            held = attempt(task, missing)
            known |= {guess.way: guess for guess in held.guesses}
            write(path, replace(held, guesses=tuple(known.values())))
        yield replace(held, guesses=tuple(known[name] for name in names))


def attempt(task: TrialTask, ways: Iterable[str]) -> Tried:
    """Train, guess by every way, and measure on the test cases."""
    problem = PROBLEMS[task.problem]
    training, testing = problem.training(task.instance), problem.testing(task.instance)
    given = (
        candidates() if task.classifier == SELECTION else {task.classifier: CLASSIFIERS[task.classifier]()}
    )
    made = [from_arrays(one, training.inputs, training.labels, name) for name, one in given.items()]
    methods = {method.name: method for method, _ in made}
    bench = bench_for(methods, made[0][1], "ber", BenchSettings(task.instance))
    with threadpool_limits(1):
        guesses = tuple(parse_way(way).guess(bench) for way in ways)
        answers = _chosen(bench).trained.estimator.predict(testing.inputs)
    found = balanced_errors(testing.labels, answers)
    sizes = len(training.labels), len(testing.labels)
    return Tried(task, found.ber, found.standard_error, *sizes, guesses)


def _chosen(bench: Bench) -> Bench:
    if not bench.candidates:
        return bench
    return bench.candidates[best_of(bench, [one.folds(SELECTION_FOLDS) for one in bench.candidates])]


@dataclass(frozen=True)
class _File:
    """How a trial is kept."""

    tried: Tried
    format: int = field(default=FORMAT)


def write(path: Path, tried: Tried) -> None:
    """Keep a trial; the file appears whole or not at all."""
    whole = path.with_suffix(".new")
    whole.write_text(json.dumps(asdict(_File(tried)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    whole.replace(path)


def read(path: Path) -> Tried:
    """A trial that was kept."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
        if held["format"] != FORMAT:
            raise FormatError(path, None, f"format {held['format']} is not {FORMAT}: use another folder")
        tried = held["tried"]
        guesses = tuple(
            PerformanceGuess(**{**one, "notes": tuple(one["notes"])}) for one in tried.pop("guesses")
        )
        return Tried(task=TrialTask(**tried.pop("task")), guesses=guesses, **tried)
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(path, None, f"is no trial of this study ({error}): remove it, or use -o") from None
