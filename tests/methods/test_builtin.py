"""The methods that come with redelve: what they answer, for every kind of target, and how well."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from redelve.answers.answer import Answer, losses_for, score
from redelve.answers.predictions import targets_of
from redelve.errors import SpecError
from redelve.methods.builtin.bayesian_networks import MonteCarloMethod
from redelve.methods.builtin.constant import circular_mean, circular_median
from redelve.methods.builtin.engine_methods import EngineMethod
from redelve.methods.builtin.gaussian_process import gp_numbers, likelihood
from redelve.methods.builtin.neighbours import choose_by_squares, ranked_neighbours
from redelve.methods.builtin.network_recipes import BatchDescent
from redelve.methods.builtin.summaries import SUMMARIES
from redelve.methods.conformance.checking import check_method
from redelve.methods.conformance.small_tasks import EVERY_KIND, make_trial
from redelve.methods.contract import METHODS, default_methods
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Attribute, AttributePrior, Cases, Prior, parse_range, written
from redelve.run.cells.job_and_outcome import LARGE, sealed
from redelve.seeds import generator

KINDS = ("real", "integer", "angular", "binary", "nominal", "real real", "real nominal", "nominal binary")
QUIRKS: dict[str, dict[str, object]] = {
    "plain": {},
    "two cases": {"training": 2},
    "one case": {"training": 1},
    "missing": {"inputs": EVERY_KIND, "quirk": "missing", "training": 20},
    "wide": {"inputs": ("real",) * 20, "training": 8},
}
VERSIONS = {"mlp-rprop": 2}
"""Of those that are no longer what they were at first."""
SAMPLED = tuple(name for name in METHODS if name.startswith("mlp-mc-"))
NUMERICAL_ONLY = ("lin-1", "ridge", "lasso", "gp-ard", *SAMPLED)
CATEGORICAL_ONLY = ("logistic",)


def answer(name: str, kind: str, **settings: object) -> Answer:
    trial = make_trial(kind, **settings)  # type: ignore[arg-type]
    return METHODS[name].learn(trial.training, generator("test", name)).predict(trial.inputs)


def training_set(
    kind: str, texts: list[str], *, values: str = "(-Inf,Inf)", unit: float | None = None
) -> TrainingSet:
    attributes = (
        Attribute(1, "x", "u", parse_range("(-Inf,Inf)")),
        Attribute(2, "y", "u", parse_range(values)),
    )
    prior = Prior("std", (AttributePrior(1, "nlmh", "real"), AttributePrior(2, "nlmh", kind, unit=unit)))
    columns = (written(["0"] * len(texts)), written(texts))
    wanted = targets_of(attributes[1:], prior)
    return TrainingSet(attributes[:1], attributes[1:], prior, Cases(columns, len(texts)), targets=wanted)


def constant(training: TrainingSet, count: int = 2) -> Answer:
    inputs = TestInputs(training.inputs, training.prior, Cases((written(["0"] * count),), count))
    return METHODS["constant"].learn(training, generator("x")).predict(inputs)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """As jobs have it; with more, boosting waits for its threads on a busy machine."""
    import sklearn  # noqa: F401
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def _short_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mlp-bgd and mlp-mc families with fewer iterations; other files have more on them."""
    for name in METHODS:
        method = METHODS[name]
        if isinstance(method, EngineMethod) and isinstance(method.recipe, BatchDescent):
            recipe = replace(method.recipe, iterations=50)
            monkeypatch.setitem(METHODS._items, name, EngineMethod(name, recipe))
        if isinstance(method, MonteCarloMethod):
            plan = replace(method.recipe.plan, passes=500)
            monkeypatch.setitem(
                METHODS._items, name, MonteCarloMethod(name, replace(method.recipe, plan=plan))
            )


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer rounds, epochs and trees."""
    for setting in ("boosting.MOST_ROUNDS", "mlp.MOST_EPOCHS", "well_known.TREES"):
        monkeypatch.setattr(f"redelve.methods.builtin.{setting}", 20)


# All of them


def test_every_method_has_a_summary_and_every_summary_a_method() -> None:
    assert sorted(SUMMARIES) == list(METHODS)
    for name in METHODS:
        method = METHODS[name]
        assert method.summary == SUMMARIES[name]
        assert method.name == name
        known = {"kind": "built-in", "name": name, "version": VERSIONS.get(name, 1)}
        assert json.loads(json.dumps(method.identity)) == known


def test_summaries_are_lines_of_text() -> None:
    for name, text in SUMMARIES.items():
        assert text.endswith("\n"), name
        assert max(map(len, text.splitlines())) <= 80, name


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("few_rounds")
def test_each_takes_the_targets_it_can(name: str, kind: str) -> None:
    trial = make_trial(kind, training=8)
    kinds = {target.kind for target in trial.targets}
    if (name in NUMERICAL_ONLY and "categorical" in kinds) or (
        name in CATEGORICAL_ONLY and kinds != {"categorical"}
    ):
        reason = METHODS[name].why_not(trial.targets)
        assert reason is not None
        assert f'"{name}" predicts' in reason
        with pytest.raises(SpecError, match="use"):
            METHODS[name].learn(trial.training, generator("x"))
        return
    assert METHODS[name].why_not(trial.targets) is None
    if name in ("constant", "lin-1", "knn-cv-1", "ridge", "forest"):
        found = answer(name, kind, training=8)
        losses = score(found, trial.truths, losses_for(trial.targets))
        assert losses or kind == "real nominal"  # which no loss is made for
        assert all(np.isfinite(values).all() for values in losses.values())


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What statements of redelve's own import of large libraries, as long as the test lasts."""
    found, ordinary = set[str](), builtins.__import__

    def noted(name: str, known: Any = None, *more: Any) -> Any:
        if (known or {}).get("__name__", "").startswith("redelve.") and name.partition(".")[0] in LARGE:
            found.add(name)
        return ordinary(name, known, *more)

    monkeypatch.setattr(builtins, "__import__", noted)
    return found


@pytest.mark.parametrize("name", list(METHODS))
def test_their_cells_find_loaded_what_they_import(
    name: str, imported: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each job would load it anew, which takes a second, and that would be recorded as its time."""
    for setting in ("boosting.MOST_ROUNDS", "mlp.MOST_EPOCHS", "well_known.TREES"):
        monkeypatch.setattr(f"redelve.methods.builtin.{setting}", 5)
    for kind in ("real", "nominal"):
        if METHODS[name].why_not(make_trial(kind).targets) is None:
            answer(name, kind, training=8)
    loaded = set(sealed(METHODS[name]).modules)
    if any(one.startswith("sklearn.") for one in loaded):
        loaded |= {"sklearn.base", "sklearn.utils"}  # which each of its parts needs
    assert imported <= loaded


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.parametrize("quirk", list(QUIRKS))
@pytest.mark.usefixtures("few_rounds")
def test_odd_data_do_not_stop_them(name: str, quirk: str) -> None:
    for kind in ("real", "nominal"):
        trial = make_trial(kind, **QUIRKS[quirk])  # type: ignore[arg-type]
        if METHODS[name].why_not(trial.targets) is None:
            found = answer(name, kind, **QUIRKS[quirk])
            for values in score(found, trial.truths, losses_for(trial.targets)).values():
                assert np.isfinite(values).all()


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.usefixtures("few_rounds")
def test_the_same_generator_gives_the_same_answer_to_the_bit(name: str) -> None:
    kind = "binary" if name in CATEGORICAL_ONLY else "real"
    first, second = (answer(name, kind, training=24).guesses for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", ["constant", "lin-1", "knn-cv-1", "ridge"])
def test_the_quick_ones_pass_all_checks(name: str) -> None:
    report = check_method(name)
    assert {finding.status for finding in report.findings} <= {"passed", "skipped"}, str(report)


def test_the_default_set_goes_from_cheap_to_dear() -> None:
    numerical, categorical = (make_trial(kind).targets for kind in ("real", "nominal"))
    assert default_methods(numerical) == ("constant", "lin-1", "knn-cv-1", "boosting", "forest")
    assert default_methods(categorical) == ("constant", "logistic", "knn-cv-1", "boosting", "forest")
    assert default_methods(make_trial("real nominal").targets) == (
        "constant",
        "knn-cv-1",
        "boosting",
        "forest",
    )


# constant


def test_constant_answers_each_loss_with_its_own_best() -> None:
    found = constant(training_set("integer", ["1", "1", "2", "8"], values="-Inf..Inf"))
    assert found.guesses is not None
    assert found.guesses.values[0].tolist() == [3.0, 3.0]
    assert found.guesses_for["A"].values[0].tolist() == [1.5, 1.5]
    assert found.guesses_for["Z"].values[0].tolist() == [1.0, 1.0]
    assert found.distributions is not None
    spread = np.std([1, 1, 2, 8], ddof=1) * np.sqrt(1.25)
    assert found.distributions.distributions[0].parameters()["scale"] == pytest.approx([spread, spread])


def test_constant_smooths_class_shares() -> None:
    found = constant(training_set("nominal", ["a", "a", "c"], values="a b c"))
    assert found.probabilities is not None
    assert found.probabilities.values[0] == pytest.approx([3 / 6, 1 / 6, 2 / 6])


def test_constant_goes_the_shorter_way_round() -> None:
    found = constant(training_set("angular", ["350", "350", "20"], values="[0,360)", unit=360.0))
    assert found.guesses is not None
    assert found.guesses.values[0] == pytest.approx([0.0, 0.0], abs=1e-9) or found.guesses.values[
        0
    ] == pytest.approx([360.0, 360.0])
    assert found.guesses_for["A"].values[0] == pytest.approx([350.0, 350.0])


def test_circular_centres_are_the_best_of_a_fine_grid() -> None:
    rng = generator("circular")
    for _ in range(20):
        angles = rng.uniform(0, 24, size=7)
        grid = np.linspace(0, 24, 4801)
        arcs = np.abs(grid[:, None] - angles)
        arcs = np.minimum(arcs, 24 - arcs)
        for power, centre in ((2, circular_mean(angles, 24.0)), (1, circular_median(angles, 24.0))):
            own = np.abs(centre - angles)
            loss = (np.minimum(own, 24 - own) ** power).sum()
            assert loss <= (arcs**power).sum(axis=1).min() + 1e-9


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("real", ["1e308", "1e308", "-1e308"]),
        ("real", ["1.7e308", "1.7e308"]),
        ("real", ["0"]),
        ("real", ["12:", ":3", "5"]),
        ("real", ["5e-324", "5e-324"]),
        ("integer", ["7", "7"]),
        ("real", []),
    ],
)
def test_constant_never_fails(kind: str, texts: list[str]) -> None:
    found = constant(training_set(kind, texts, values="(-Inf,Inf)"))
    assert found.guesses is not None
    assert np.isfinite(found.guesses.values[0]).all()
    assert found.distributions is not None


# knn-cv-1


def test_neighbours_are_those_of_brute_force_and_ties_go_to_the_earlier() -> None:
    rng = generator("neighbours")
    training, test = (
        rng.integers(0, 3, size=(60, 2)).astype(float),
        rng.integers(0, 3, size=(9, 2)).astype(float),
    )
    distances = ((test[:, None] - training) ** 2).sum(axis=2)
    expected = np.argsort(distances, axis=1, kind="stable")
    assert ranked_neighbours(training, test).tolist() == expected.tolist()
    own = ranked_neighbours(training, training, is_same=True)
    assert own.shape == (60, 59)
    assert not (own == np.arange(60)[:, None]).any()


def test_the_number_of_neighbours_is_best_by_leaving_one_out() -> None:
    rng = generator("leave-one-out")
    inputs = rng.normal(size=(50, 2))
    column = inputs[:, :1] + 0.5 * rng.normal(size=(50, 1))
    errors = []
    for number in range(1, 50):
        total = 0.0
        for case in range(50):
            others = np.delete(np.arange(50), case)
            near = others[np.argsort(((inputs[others] - inputs[case]) ** 2).sum(axis=1))[:number]]
            total += float((column[near].mean() - column[case, 0]) ** 2)
        errors.append(total / 50)
    number, error = choose_by_squares(column, ranked_neighbours(inputs, inputs, is_same=True))
    assert number == int(np.argmin(errors)) + 1
    assert error**2 == pytest.approx(min(errors))


# gp


def test_the_likelihood_is_scikit_learns_and_its_slope_that_of_differences() -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    rng = generator("likelihood")
    inputs, targets = rng.normal(size=(30, 3)), rng.normal(size=30)
    logs = rng.normal(scale=0.5, size=5)
    value, slope = likelihood(logs, inputs, targets)
    kernel = ConstantKernel() * RBF(np.ones(3)) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(inputs, targets)
    assert -value == pytest.approx(model.log_marginal_likelihood(logs), rel=1e-6)
    for position in range(5):
        step = np.eye(5)[position] * 1e-6
        up, down = (likelihood(logs + sign * step, inputs, targets)[0] for sign in (1, -1))
        assert slope[position] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-5)


def test_a_process_predicts_as_scikit_learns() -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    rng = generator("process")
    inputs, test = rng.normal(size=(40, 2)), rng.normal(size=(7, 2))
    column = np.sin(inputs[:, 0]) + 0.1 * rng.normal(size=40)
    process = gp_numbers(inputs, column, rng)
    kernel = ConstantKernel() * RBF(np.ones(2)) + WhiteKernel()
    kernel.theta = process.logs
    model = GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(inputs, column)
    for own, theirs in zip(process.predict(test), model.predict(test, return_std=True), strict=True):
        assert own == pytest.approx(theirs, rel=1e-4, abs=1e-5)


# Published figures


def test_lin_1_on_kin_8nm_is_as_published() -> None:
    from redelve.data.delve.reading import Library
    from redelve.data.delve.roots import DataAddress, active
    from redelve.model import Assignment
    from redelve.run.experiment import Experiment, plan, run

    library = Library(active())
    sources = [library.task(DataAddress.parse(f"/kin-8nm/dist/std.{size}")) for size in (64, 1024)]
    assignments = {
        one.task.address: Assignment(one.dataset, one.task, one.data, one.instances(), "hierarchical")
        for one in sources
    }
    experiment = Experiment({"lin-1": METHODS["lin-1"]}, assignments)
    results = experiment.results(run(experiment, plan(experiment)))
    standardised = []
    for address in assignments:
        losses = [record.losses["S"].mean() for record in results.of("lin-1", address)]
        baseline = results.task(address).baselines["S"]
        assert baseline is not None
        standardised.append(float(np.mean(losses)) / baseline)
    assert standardised[0] == pytest.approx(0.66, abs=0.07)  # Neal 1998, figures for kin-8nm
    assert standardised[1] == pytest.approx(0.57, abs=0.03)
