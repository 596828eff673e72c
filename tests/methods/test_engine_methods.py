"""mlp-rprop, the mlp-bgd family and mlp-ese-1: what they learn, alone and in a batch, from any cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import redelve
from redelve.answers.answer import Answer, losses_for, score
from redelve.data.tasks import assignments_for
from redelve.methods.builtin.early_stopping import Pupil, Recipe, school, split_by
from redelve.methods.builtin.engine_methods import EngineMethod, EnginePredictor
from redelve.methods.builtin.network_lessons import (
    LevelLesson,
    blended_softmax,
    mean_of_heard,
    sharpness_of,
)
from redelve.methods.builtin.network_lessons import (
    lessons_of as network_lessons_of,
)
from redelve.methods.builtin.network_recipes import (
    AS_PRINTED,
    BatchDescent,
    ConjugateGradients,
    ResilientPropagation,
)
from redelve.methods.conformance.checking import check_method
from redelve.methods.conformance.checks import numbers_of
from redelve.methods.conformance.small_tasks import EVERY_KIND, SmallTask, make_trial
from redelve.methods.contract import METHODS, BatchMethod
from redelve.methods.views import View
from redelve.model.prototask import VALIDATION
from redelve.nets import GL, Data, MaxEpochs, P, Procedure, Rprop, Sets, initial_weights, layered, train
from redelve.run.experiment import lessons_of
from redelve.studies.proben1.readings import BEST

RECIPES: dict[str, Recipe] = {
    "mlp-rprop": ResilientPropagation(),
    "mlp-rprop-printed": AS_PRINTED,
    "mlp-bgd-1": BatchDescent(iterations=300),
    "mlp-bgd-2": BatchDescent(iterations=300, relevance="gradients"),
    "mlp-bgd-3": BatchDescent(iterations=300, relevance="correlations"),
    "mlp-bgd-2b": BatchDescent(iterations=300, relevance="gradients", networks=1),
    "mlp-ese-1": ConjugateGradients(iterations=60),
}
"""The same methods with shorter training."""
KINDS = ("real", "integer", "angular", "binary", "nominal", "real real", "angular real", "nominal binary")
QUIRKS: dict[str, dict[str, object]] = {
    "one case": {"training": 1},
    "five cases": {"training": 5},
    "seven cases": {"training": 7},
    "missing": {"inputs": EVERY_KIND, "quirk": "missing", "training": 20},
    "constant": {"quirk": "constant"},
    "wide": {"inputs": ("real",) * 20, "training": 8},
}


def quick(name: str) -> EngineMethod:
    return EngineMethod(name, RECIPES[name])


def brief(name: str) -> EngineMethod:
    """For what does not depend on how much is learnt."""
    recipe = RECIPES[name]
    if isinstance(recipe, BatchDescent):
        recipe = replace(recipe, iterations=60)
    if isinstance(recipe, ConjugateGradients):
        recipe = replace(recipe, iterations=15)
    return EngineMethod(name, recipe)


def generator(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(number))


def learnt(method: EngineMethod, trial: SmallTask, seed: int = 1) -> EnginePredictor:
    return method.learn_many([trial.training], [generator(seed)])[0]


def bits(answer: Answer) -> list[bytes]:
    return [np.asarray(array).tobytes() for part in answer.parts() for array in numbers_of(part)]


@pytest.mark.parametrize("name", RECIPES)
def test_they_are_registered_as_methods_that_learn_many_at_once(name: str) -> None:
    method = METHODS[name]
    assert isinstance(method, EngineMethod)
    assert isinstance(method, BatchMethod)
    recipe, short = method.recipe, RECIPES[name]
    if isinstance(recipe, BatchDescent):
        recipe = replace(recipe, iterations=300)
    if isinstance(recipe, ConjugateGradients):
        recipe = replace(recipe, iterations=60)
    assert recipe == short


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_target_is_learnt(name: str, kind: str) -> None:
    trial = make_trial(kind)
    answer = learnt(brief(name), trial).predict(trial.inputs)
    losses = score(answer, trial.truths, losses_for(trial.targets))
    assert all(np.isfinite(values).all() for values in losses.values())
    if kind in ("real", "integer"):
        assert {"S", "A", "L", "C"} <= set(losses)
    if kind in ("binary", "nominal"):
        assert {"Z", "Q", "L"} <= set(losses)


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("quirk", QUIRKS)
def test_odd_data_do_not_stop_them(name: str, quirk: str) -> None:
    for kind in ("real", "nominal"):
        trial = make_trial(kind, **QUIRKS[quirk])  # type: ignore[arg-type]
        answer = learnt(brief(name), trial).predict(trial.inputs)
        losses = score(answer, trial.truths, losses_for(trial.targets))
        assert losses
        assert all(np.isfinite(values).all() for values in losses.values())


@pytest.mark.parametrize("name", ["mlp-rprop", "mlp-bgd-2"])
def test_they_pass_all_checks(name: str) -> None:
    recipe = BatchDescent(iterations=40, relevance="gradients") if name == "mlp-bgd-2" else RECIPES[name]
    report = check_method(EngineMethod(name, recipe))
    assert {finding.status for finding in report.findings} <= {"passed", "skipped"}, str(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_they_pass_all_checks_as_they_are(name: str) -> None:
    report = check_method(name)
    assert {finding.status for finding in report.findings} <= {"passed", "skipped"}, str(report)


# Batches


def mixed_batch() -> list[SmallTask]:
    """Training sets of different sizes, shapes and targets; one has nothing to learn."""
    return [
        make_trial("real"),
        make_trial("real", training=23),
        make_trial("nominal"),
        make_trial("real", training=2),
        make_trial("real", inputs=EVERY_KIND),
        make_trial("angular real"),
    ]


@pytest.mark.parametrize("name", RECIPES)
def test_a_batch_teaches_what_each_alone_would_to_the_bit(name: str) -> None:
    method, trials = brief(name), mixed_batch()
    together = method.learn_many(
        [trial.training for trial in trials], [generator(seed) for seed in range(len(trials))]
    )
    for seed, (trial, predictor) in enumerate(zip(trials, together, strict=True)):
        alone = learnt(method, trial, seed)
        assert bits(predictor.predict(trial.inputs)) == bits(alone.predict(trial.inputs))
        assert predictor.iterations == alone.iterations


@pytest.mark.parametrize("name", RECIPES)
def test_randomness_comes_from_the_generator(name: str) -> None:
    method, trial = brief(name), make_trial("real")
    first, again, other = (bits(learnt(method, trial, seed).predict(trial.inputs)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


# How good they are


@pytest.mark.parametrize("name", RECIPES)
def test_they_beat_a_constant_where_there_is_something_to_learn(name: str) -> None:
    for kind, codes in (("real", "SL"), ("nominal", "ZL")):
        trial = make_trial(kind, training=120, testing=400)
        losses = losses_for(trial.targets)
        mine = score(learnt(quick(name), trial).predict(trial.inputs), trial.truths, losses)
        constant = METHODS["constant"].learn(trial.training, generator(1)).predict(trial.inputs)
        constants = score(constant, trial.truths, losses)
        for code in codes:
            assert mine[code].mean() < 0.8 * constants[code].mean()


def test_spreads_are_those_of_errors_on_cases_not_learnt_from() -> None:
    trial = make_trial("real", training=200, testing=2000)
    answer = learnt(quick("mlp-ese-1"), trial).predict(trial.inputs)
    assert answer.guesses is not None
    assert answer.distributions is not None
    (normal,) = answer.distributions.distributions
    told = normal.parameters()["scale"][0]
    errors = answer.guesses.values[0] - trial.truths[0].values
    assert told == pytest.approx(np.sqrt((errors**2).mean()), rel=0.2)


# mlp-rprop


AS_RUN = BEST.weights, BEST.procedure
TO_THE_LETTER = 0.01, Procedure(Rprop(variant="backtracking"), GL(5) | P(0.1) | MaxEpochs(3000))


@pytest.mark.parametrize(("name", "how"), [("mlp-rprop", AS_RUN), ("mlp-rprop-printed", TO_THE_LETTER)])
def test_rprop_is_the_engine_trained_as_proben1_trains(name: str, how: tuple[float, Procedure]) -> None:
    """What was run is what the study's best reading has; what is printed has a name of its own."""
    width, procedure = how
    trial = make_trial("real", training=30)
    method = METHODS[name]
    assert isinstance(method, EngineMethod)
    predictor = learnt(method, trial, seed=5)
    rng, view = generator(5), View(trial.training)
    rows = np.sort(rng.permutation(30)[:10])
    rest = np.setdiff1d(np.arange(30), rows)
    seeds = rng.integers(2**63 - 1, size=1).tolist()
    network = layered((3, 16, 1), "softsign", "identity", shortcuts=True)
    sets = Sets(*(Data(view.inputs[part], view.columns(0)[part]) for part in (rest, rows)))
    made = train(network, initial_weights(network, seeds, width), sets, procedure, seeds=seeds)
    assert predictor.ensembles[0].weights.tobytes() == made.weights.tobytes()
    assert predictor.iterations == ((int(made.relevant_epochs[0]),),)


def test_rprop_takes_the_validation_cases_that_the_task_sets_apart() -> None:
    trial = make_trial("real", training=30)
    apart = replace(trial.training, validation_size=6)
    (split,) = RECIPES["mlp-rprop"].splits(apart, generator(1))
    assert split.validation.tolist() == list(range(24, 30))
    assert split.estimation.tolist() == list(range(24))
    (drawn,) = RECIPES["mlp-rprop"].splits(trial.training, generator(1))
    assert len(drawn.validation) == 10
    assert drawn.validation.tolist() != list(range(20, 30))


def test_all_numbers_are_learnt_by_one_network_but_levels_by_their_own() -> None:
    both = View(make_trial("angular real").training)
    assert [lesson.targets.shape for lesson in network_lessons_of(both, together=True, centred=False)] == [
        (40, 3)
    ]
    assert [lesson.targets.shape for lesson in network_lessons_of(both, together=False, centred=False)] == [
        (40, 2),
        (40, 1),
    ]
    levels = View(make_trial("nominal binary").training)
    assert [
        lesson.targets.shape[1] for lesson in network_lessons_of(levels, together=True, centred=False)
    ] == [3, 2]


def test_the_tasks_of_proben1_tell_their_validation_cases() -> None:
    (assignment,) = assignments_for("demo/age", sizes=[32]).values()
    training, _ = lessons_of(assignment, assignment.instances[0])
    assert training.validation_size == 0
    prototask = replace(assignment.task.prototask, extra=((VALIDATION, "8"),))
    divided = replace(assignment, task=replace(assignment.task, prototask=prototask))
    assert lessons_of(divided, assignment.instances[0])[0].validation_size == 8


# The mlp-bgd family


def test_four_parts_cover_every_case_once() -> None:
    splits = BatchDescent().splits(make_trial("real", training=23).training, generator(1))
    assert sorted(np.concatenate([split.validation for split in splits]).tolist()) == list(range(23))
    assert sorted(len(split.validation) for split in splits) == [5, 6, 6, 6]
    assert all(set(split.validation) | set(split.estimation) == set(range(23)) for split in splits)


def test_networks_are_saved_at_iterations_spaced_logarithmically() -> None:
    schedule = BatchDescent().schedule
    assert len(schedule) == 51
    assert (schedule[0], schedule[-1]) == (1, 20_000)
    ratios = np.array(schedule[20:][1:]) / np.array(schedule[20:][:-1])
    assert (abs(ratios - 20_000 ** (1 / 55)) < 0.02).all()


def test_bgd_2b_is_the_first_network_of_bgd_2() -> None:
    trial = make_trial("real")
    four, one = (learnt(quick(name), trial, seed=3).ensembles[0] for name in ("mlp-bgd-2", "mlp-bgd-2b"))
    assert len(four.weights) == 4
    assert one.weights.tobytes() == four.weights[:1].tobytes()


def gradient_descent(pupil: Pupil, relevant: bool, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    """Neal's update (1998, equations 4 to 7), written out: weights to hidden units, and out of them."""
    inputs, targets = pupil.cases(pupil.split.estimation)
    flat = initial_weights(layered((3, 25, 1), "tanh", "identity"), [pupil.seed], 0.1)[0]
    into, out = flat[:100].reshape(25, 4).copy(), flat[100:].copy()
    shown = np.column_stack([inputs, np.ones(len(inputs))])
    for _ in range(iterations):
        hidden = np.column_stack([np.tanh(shown @ into.T), np.ones(len(inputs))])
        error = hidden @ out - targets[:, 0]
        out_gradient = hidden.T @ error
        into_gradient = ((error[:, None] * out[:25]) * (1 - hidden[:, :25] ** 2)).T @ shown
        if relevant:
            sizes = (into_gradient[:, :3] ** 2).sum(axis=0)
            into_gradient[:, :3] *= sizes**2 / (sizes**2).max()
        step = 0.05 / (len(inputs) + 1)
        into -= step * into_gradient
        out -= step * out_gradient
    return into, out


@pytest.mark.parametrize("relevant", [False, True])
def test_an_iteration_is_neals(relevant: bool) -> None:
    recipe = BatchDescent(iterations=10, relevance="gradients" if relevant else "none")
    view = View(make_trial("real").training)
    (lesson,) = network_lessons_of(view, together=False, centred=True)
    pupils = recipe.pupils(view.training, view.inputs, lesson, generator(1))
    for pupil, graduate in zip(pupils, school(recipe, pupils), strict=True):
        into, out = gradient_descent(pupil, relevant, graduate.iteration)
        expected = np.concatenate([into.ravel(), out])
        assert graduate.weights == pytest.approx(expected, abs=1e-5)


def test_static_relevance_is_by_the_fourth_power_of_sums_of_products() -> None:
    inputs = np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 0.0]])
    targets = np.array([[1.0], [1.0]])
    factors = BatchDescent(relevance="correlations").factors(inputs, targets)
    assert factors == pytest.approx([1.0, 0.25, 1.0])  # roots of 1, (1/2)^4, 1
    tiny = BatchDescent(relevance="correlations").factors(inputs * [1, 0.01, 1], targets)
    assert tiny == pytest.approx([1.0, 0.01, 1.0])  # the root of the floor
    assert BatchDescent(relevance="correlations").factors(0 * inputs, targets).tolist() == [1, 1, 1]


def test_weights_are_for_plain_inputs_whatever_the_factors() -> None:
    view = View(make_trial("real").training)
    (lesson,) = network_lessons_of(view, together=False, centred=True)
    recipe = RECIPES["mlp-bgd-3"]
    pupils = recipe.pupils(view.training, view.inputs, lesson, generator(1))
    assert any((pupil.factors < 0.9).any() for pupil in pupils)
    network = recipe.architecture(3, 1)
    for pupil, graduate in zip(pupils, school(recipe, pupils), strict=True):
        plain = redelve.nets.predict(network, graduate.weights[None], pupil.inputs[pupil.split.validation])
        assert plain[0] == pytest.approx(graduate.heard, abs=1e-9)


def test_an_unstable_network_is_trained_again_with_half_the_step() -> None:
    view = View(make_trial("real", training=60).training)
    (lesson,) = network_lessons_of(view, together=False, centred=True)
    wild, tame = (BatchDescent(iterations=400, step=step) for step in (0.05 * 2**6, 0.05))
    errors = []
    for recipe in (wild, replace(wild, halvings=0), tame):
        pupils = recipe.pupils(view.training, view.inputs, lesson, generator(1))
        heard = [
            (pupil, graduate.heard) for pupil, graduate in zip(pupils, school(recipe, pupils), strict=True)
        ]
        errors.append(np.mean([((h - p.targets[p.split.validation]) ** 2).mean() for p, h in heard]))
    halved, left_alone, stable = errors
    assert halved == pytest.approx(stable, rel=0.25)
    assert left_alone > 1.5 * stable


# What outputs mean


def test_probabilities_are_as_sharp_as_validation_cases_allow() -> None:
    labels = np.tile([0, 1], 50)
    right = np.eye(2)[labels]
    assert sharpness_of(right, labels) > 30
    wrong = np.eye(2)[1 - labels]
    assert sharpness_of(wrong, labels) == 0.25
    mixed = np.where((np.arange(100) % 10 == 0)[:, None], wrong, right)
    told = blended_softmax(np.array([[1.0, 0.0]]), sharpness_of(mixed, labels), 100)
    assert told[0, 0] == pytest.approx(0.9, abs=0.03)
    assert blended_softmax(np.array([[1e6, -1e6]]), 64.0, 9)[0].tolist() == pytest.approx([0.95, 0.05])


def test_centred_levels_are_read_as_they_were_coded() -> None:
    labels = np.array([0, 0, 0, 1, 2, 0, 1, 0])
    plain, centred = (LevelLesson(0, labels, 3, flag) for flag in (False, True))
    assert centred.targets.mean(axis=0) == pytest.approx(np.zeros(3))
    rows = np.arange(8)
    parts = [lesson.reading(rows, lesson.targets).parts(lesson.targets)[0] for lesson in (plain, centred)]
    for part in parts:
        assert part.guesses.tolist() == labels.tolist()
    assert parts[0].probabilities == pytest.approx(parts[1].probabilities)


def test_cases_heard_twice_count_once() -> None:
    rows: Sequence[np.ndarray] = [np.array([0, 2]), np.array([2, 5])]
    known, means = mean_of_heard(rows, [np.array([[1.0], [2.0]]), np.array([[4.0], [8.0]])])
    assert known.tolist() == [0, 2, 5]
    assert means[:, 0].tolist() == [1.0, 3.0, 8.0]


def test_a_split_has_each_case_once() -> None:
    split = split_by(np.array([4, 1]), 6)
    assert (split.estimation.tolist(), split.validation.tolist()) == ([0, 2, 3, 5], [1, 4])
