"""Losses: hand-worked values, properties that hold for all of them, and every refusal."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import FrozenInstanceError
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special
from scipy.special import log_softmax
from scipy.stats import norm

from redelve.answers.answer import Answer, score
from redelve.answers.distributions import Normal, Samples
from redelve.answers.losses import (
    LOSSES,
    Loss,
    LossMatrix,
    MatrixLoss,
    ZeroOne,
    applicable_losses,
    parse_loss,
    parse_loss_matrix,
    usual_losses,
)
from redelve.answers.predictions import (
    ClassProbabilities,
    Guesses,
    Prediction,
    Target,
    TargetDistributions,
    TargetLogProbabilities,
    Truth,
    guesses_of,
    truth_of,
)
from redelve.errors import PredictionError, RedelveError, SpecError

COLOUR = Target("colour", "categorical", ("red", "green", "blue"))
SEX = Target("sex", "categorical", ("f", "m"))
COUNT = Target("count", "integer")
AGE = Target("age", "real")
HEIGHT = Target("height", "real")
WIND = Target("wind", "angular", unit=360.0)

STANDARD = [loss.code for loss in usual_losses() if loss.in_delve]
INF, NAN = math.inf, math.nan
COSTS = "0 1 5\n2 0 5\n3 3 0\n"
COSTS_OR_NONE = COSTS + "0.5 0.75 1\n"
FILES = {"costs": COSTS, "optional": COSTS_OR_NONE}


def loss_of(code: str) -> Loss:
    return parse_loss(code, FILES.__getitem__)


def refusal(error: type[RedelveError], build: Callable[[], object]) -> str:
    with pytest.raises(error) as caught:
        build()
    return str(caught.value)


def guessed(target: Target, *texts: str) -> Guesses:
    return guesses_of([target], [texts])


class Cell(NamedTuple):
    """One hand-worked example: a loss, what is true, what is predicted, what is lost."""

    code: str
    truths: Sequence[Truth]
    prediction: Prediction
    expected: Sequence[float]


THREE_COLOURS = truth_of(COLOUR, ["red", "green", "blue"])
BELIEFS = [[0.5, 0.25, 0.25], [0.0, 0.0, 1.0], [0.1, 0.2, 0.7]]

FIGURE_5_1 = [
    # For guesses: squared, absolute, 0-1
    Cell("S", [truth_of(COUNT, ["4", "-2", "0"])], guessed(COUNT, "4", "1", "0.5"), [0, 9, 0.25]),
    Cell("S", [truth_of(AGE, ["1.5", "-2", "10"])], guessed(AGE, "1", "2", "10"), [0.25, 16, 0]),
    Cell("S", [truth_of(WIND, ["350", "0", "90"])], guessed(WIND, "10", "180", "-280"), [400, 32400, 100]),
    Cell("A", [truth_of(COUNT, ["4", "-2", "0"])], guessed(COUNT, "4", "1", "0.5"), [0, 3, 0.5]),
    Cell("A", [truth_of(AGE, ["1.5", "-2", "10"])], guessed(AGE, "1", "2", "10"), [0.5, 4, 0]),
    Cell("A", [truth_of(WIND, ["350", "0", "90"])], guessed(WIND, "10", "180", "-280"), [20, 180, 10]),
    Cell("Z", [THREE_COLOURS], guessed(COLOUR, "red", "blue", "red"), [0, 1, 1]),
    Cell(
        "Z",
        [truth_of(COUNT, ["3", "3", "3", "3", "-2", "-2"])],
        guessed(COUNT, "3", "2.5", "3.5", "3.49", "-2.5", "-1.5"),
        [0, 0, 1, 0, 0, 1],
    ),
    # For predictive distributions of numbers: two equally likely values, a normal density
    *(
        Cell(
            "C",
            [truth_of(target, ["1", "4", "8"])],
            TargetDistributions((target,), (Samples(np.array([[0.0, 2.0], [4.0, 4.0], [4.0, 6.0]])),)),
            [0.5, 0, 2.5],
        )
        for target in (COUNT, AGE)
    ),
    Cell(
        "L",
        [truth_of(AGE, ["3", "3:", ":3"])],
        TargetDistributions((AGE,), (Normal(np.array([3.0, 3, 3]), np.array([2.0, 1, 1])),)),
        [math.log(2) + 0.5 * math.log(2 * math.pi), math.log(2), math.log(2)],
    ),
    Cell(
        "L",
        [truth_of(COUNT, ["3", "3:", ":3"])],
        TargetDistributions((COUNT,), (Samples(np.array([[3.0, 9.0], [3.0, 1.0], [3.0, 4.0]])),)),
        [math.log(2), math.log(2), math.log(2)],
    ),
    Cell(
        "L",
        [truth_of(COUNT, ["10", "-10"])],
        TargetDistributions((COUNT,), (Normal(np.zeros(2), np.ones(2)),)),
        [-math.log(special.ndtr(-9.5) - special.ndtr(-10.5))] * 2,
    ),
    # For predictive distributions: log probability, squared probability
    Cell(
        "L",
        [THREE_COLOURS],
        ClassProbabilities.from_probabilities(COLOUR, BELIEFS),
        [math.log(2), INF, -math.log(0.7)],
    ),
    Cell(
        "L",
        [THREE_COLOURS],
        TargetLogProbabilities.from_probabilities([0.5, 0, 0.7]),
        [math.log(2), INF, -math.log(0.7)],
    ),
    Cell("L", [truth_of(COUNT, ["4", "2"])], TargetLogProbabilities.from_logs([-1.5, 0]), [1.5, 0]),
    Cell(
        "L",
        [truth_of(AGE, ["0", "0"])],
        TargetLogProbabilities.from_logs(norm.logpdf([0.0, 0.0], loc=[0, 1], scale=[0.1, 1])),
        [0.5 * math.log(2 * math.pi) + math.log(0.1), 0.5 * math.log(2 * math.pi) + 0.5],
    ),
    Cell(
        "L",
        [truth_of(WIND, ["0", "90"])],
        TargetLogProbabilities.from_probabilities([1 / 360, 0.1]),
        [math.log(360), math.log(10)],
    ),
    # (1 − ½)² + ¼² + ¼² = 0.375; wrong and sure: 1 + 1; (1 − 0.7)² + 0.1² + 0.2² = 0.14
    Cell("Q", [THREE_COLOURS], ClassProbabilities.from_probabilities(COLOUR, BELIEFS), [0.375, 2, 0.14]),
    # The specialised loss for a single categorical target
    Cell("Mcosts", [THREE_COLOURS], guessed(COLOUR, "red", "blue", "red"), [0, 3, 5]),
]

SEVERAL_TARGETS = [
    Cell(
        "S",
        [truth_of(AGE, ["1", "2"]), truth_of(HEIGHT, ["10", "20"])],
        guesses_of([AGE, HEIGHT], [["2", "2"], ["13", "16"]]),
        [1 + 9, 0 + 16],
    ),
    Cell(
        "A",
        [truth_of(AGE, ["1", "2"]), truth_of(COUNT, ["3", "4"]), truth_of(WIND, ["5", "355"])],
        guesses_of([AGE, COUNT, WIND], [["2", "2"], ["1.5", "4"], ["5", "15"]]),
        [1 + 1.5 + 0, 0 + 0 + 20],
    ),
    Cell(
        "Z",
        [THREE_COLOURS, truth_of(COUNT, ["1", "2", "3"]), truth_of(SEX, ["f", "f", "f"])],
        guesses_of([COLOUR, COUNT, SEX], [["red", "red", "red"], ["1", "2", "4"], ["f", "m", "m"]]),
        [0, 2, 3],
    ),
    Cell(
        "L",
        [THREE_COLOURS, truth_of(AGE, ["1", "2", "3"])],
        TargetLogProbabilities.from_probabilities([0.5, 4, 0]),
        [math.log(2), -math.log(4), INF],
    ),
]

NO_GUESS = [
    Cell("Z0.2N", [THREE_COLOURS], guessed(COLOUR, "?", "green", "red"), [0.2, 0, 1]),
    Cell("Z0.2N", [truth_of(COUNT, ["1", "2", "3"])], guessed(COUNT, "?", "2.4", "2.4"), [0.2, 0, 1]),
    Cell("S1.5N", [truth_of(AGE, ["1", "2", "3"])], guessed(AGE, "?", "2", "7"), [1.5, 0, 16]),
    Cell("A10N", [truth_of(WIND, ["1", "2"])], guessed(WIND, "?", "357"), [10, 5]),
    Cell("S0N", [truth_of(COUNT, ["1", "2"])], guessed(COUNT, "?", "4"), [0, 4]),
    Cell("A1e1N", [truth_of(AGE, ["1", "20:"])], guessed(AGE, "1", "?"), [0, 10]),
    Cell(
        "A.5N",
        [truth_of(AGE, ["1", "2", "3"]), truth_of(HEIGHT, ["1", "2", "3"])],
        guesses_of([AGE, HEIGHT], [["?", "?", "4"], ["?", "4", "3"]]),
        [0.5 + 0.5, 0.5 + 2, 1 + 0],
    ),
    Cell("Moptional", [THREE_COLOURS], guessed(COLOUR, "green", "?", "?"), [2, 0.75, 1]),
    Cell("Moptional", [THREE_COLOURS], guessed(COLOUR, "red", "green", "blue"), [0, 0, 0]),
]

BOUNDS = ["10:", "10:", "10:", ":10", ":10", ":10", "10"]
AROUND = ["7", "10", "99", "13", "10", "-99", "8"]

CENSORED = [
    Cell("S", [truth_of(AGE, BOUNDS)], guessed(AGE, *AROUND), [9, 0, 0, 9, 0, 0, 4]),
    Cell("A", [truth_of(AGE, BOUNDS)], guessed(AGE, *AROUND), [3, 0, 0, 3, 0, 0, 2]),
    Cell("A", [truth_of(COUNT, BOUNDS)], guessed(COUNT, *AROUND), [3, 0, 0, 3, 0, 0, 2]),
    Cell("Z", [truth_of(COUNT, BOUNDS)], guessed(COUNT, *AROUND), [1, 0, 0, 1, 0, 0, 1]),
    # a guess is rounded before it is held against the bound
    Cell("Z", [truth_of(COUNT, ["10:", "10:", ":10"])], guessed(COUNT, "9.5", "9.4", "10.4"), [0, 1, 0]),
    Cell(
        "L",
        [truth_of(AGE, ["10:", ":10"])],
        TargetLogProbabilities.from_probabilities([1, 0.25]),
        [0, math.log(4)],
    ),
]

CELLS = FIGURE_5_1 + SEVERAL_TARGETS + NO_GUESS + CENSORED


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.code}-{cell.truths[0].target.kind}")
def test_hand_worked_losses(cell: Cell) -> None:
    losses = loss_of(cell.code).of(cell.truths, cell.prediction)
    assert losses.dtype == np.float64
    assert losses.shape == (len(cell.truths[0]),)
    np.testing.assert_allclose(losses, np.array(cell.expected, dtype=np.float64), rtol=1e-12, atol=1e-15)
    assert not np.signbit(losses[losses == 0]).any()


class TestTables:
    """A loss that is registered but in no list here fails."""

    def test_every_registered_loss_has_a_hand_worked_value_for_every_kind(self) -> None:
        worked = {(cell.code[0], truth.target.kind) for cell in FIGURE_5_1 for truth in cell.truths}
        assert worked == {(letter, kind) for letter in LOSSES for kind in LOSSES[letter].kinds}

    def test_every_registered_loss_is_in_the_list_of_properties(self) -> None:
        assert set(EXAMPLES) == set(LOSSES)

    def test_every_loss_of_guesses_is_tried_without_a_guess(self) -> None:
        tried = {cell.code[0] for cell in NO_GUESS}
        assert tried == {letter for letter in LOSSES if LOSSES[letter].takes == "guesses"}


# Codes of every registered loss for the properties, each with a target for every kind it is for.
TARGETS = {"categorical": COLOUR, "integer": COUNT, "real": AGE, "angular": WIND}
EXAMPLES = {
    "A": ["A", "A10N"],
    "S": ["S", "S1.5N"],
    "L": ["L"],
    "Q": ["Q"],
    "Z": ["Z", "Z0.2N"],
    "M": ["Mcosts", "Moptional"],
    "C": ["C"],
}
GUESSING = [
    (code, TARGETS[kind])
    for letter, codes in EXAMPLES.items()
    for code in codes
    for kind in loss_of(code).kinds
    if LOSSES[letter].takes == "guesses"
]
DISTRIBUTION = [
    code
    for codes in EXAMPLES.values()
    for code in codes
    if loss_of(code).takes != "guesses" and "categorical" in loss_of(code).kinds
]

MODERATE = st.floats(-1e6, 1e6)
PROBABILITIES = st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda row: sum(row) > 0)


def values_of(target: Target) -> st.SearchStrategy[float]:
    if target.kind == "categorical":
        return st.integers(0, len(target.levels) - 1).map(float)
    return st.integers(-1000, 1000).map(float) if target.kind == "integer" else MODERATE


@st.composite
def guessing(draw: st.DrawFn) -> tuple[Loss, Truth, Guesses]:
    code, target = draw(st.sampled_from(GUESSING))
    size = draw(st.integers(1, 8))
    truth = draw(st.lists(values_of(target), min_size=size, max_size=size))
    guess = draw(st.lists(values_of(target), min_size=size, max_size=size))
    return loss_of(code), Truth.exact(target, truth), Guesses((target,), (np.array(guess),))


@st.composite
def classified(draw: st.DrawFn) -> tuple[Truth, ClassProbabilities]:
    rows = draw(st.lists(PROBABILITIES, min_size=1, max_size=8))
    truth = draw(st.lists(values_of(COLOUR), min_size=len(rows), max_size=len(rows)))
    return Truth.exact(COLOUR, truth), ClassProbabilities.from_probabilities(COLOUR, rows)


class TestPropertiesOfGuessLosses:
    @given(guessing())
    def test_no_loss_is_negative_or_nan(self, drawn: tuple[Loss, Truth, Guesses]) -> None:
        loss, truth, guesses = drawn
        assert (loss.of([truth], guesses) >= 0).all()

    @given(guessing())
    def test_nothing_is_lost_by_being_right(self, drawn: tuple[Loss, Truth, Guesses]) -> None:
        loss, truth, _ = drawn
        assert (loss.of([truth], Guesses((truth.target,), (truth.values,))) == 0).all()

    @given(guessing(), st.randoms(use_true_random=False))
    def test_each_case_is_judged_on_its_own(self, drawn: tuple[Loss, Truth, Guesses], random: Any) -> None:
        loss, truth, guesses = drawn
        order = list(range(len(truth)))
        random.shuffle(order)
        shuffled = Guesses(guesses.targets, (guesses.values[0][order],))
        expected = loss.of([truth], guesses)[order]
        np.testing.assert_array_equal(
            loss.of([Truth.exact(truth.target, truth.values[order])], shuffled), expected
        )

    @given(guessing())
    def test_a_target_given_twice_costs_twice(self, drawn: tuple[Loss, Truth, Guesses]) -> None:
        loss, truth, guesses = drawn
        assume(not loss.one_target)
        double = Guesses(guesses.targets * 2, guesses.values * 2)
        np.testing.assert_array_equal(loss.of([truth, truth], double), 2 * loss.of([truth], guesses))

    @given(MODERATE, MODERATE, st.integers(-1, 1))
    def test_the_square_of_the_absolute_error_is_the_squared_error(
        self, true: float, guess: float, side: int
    ) -> None:
        truth = Truth(AGE, np.array([true]), np.array([side], np.int8))
        guesses = Guesses((AGE,), (np.array([guess]),))
        absolute, squared = loss_of("A").of([truth], guesses), loss_of("S").of([truth], guesses)
        np.testing.assert_allclose(absolute**2, squared)

    @given(MODERATE, MODERATE, st.sampled_from([-1, 1]))
    def test_censoring_never_costs_more(self, true: float, guess: float, side: int) -> None:
        bound = Truth(AGE, np.array([true]), np.array([side], np.int8))
        guesses = Guesses((AGE,), (np.array([guess]),))
        exact = loss_of("A").of([Truth.exact(AGE, [true])], guesses)
        censored = loss_of("A").of([bound], guesses)
        assert censored[0] in (0, exact[0])

    def test_errors_too_large_to_be_squared_are_infinite(self) -> None:
        truth = Truth.exact(AGE, [-1e308, 0])
        guesses = Guesses((AGE,), (np.array([1e308, 1e200]),))
        assert loss_of("S").of([truth], guesses).tolist() == [INF, INF]

    def test_losses_whose_powers_are_no_numbers_count_as_infinite(self) -> None:
        truth, losses = Truth.exact(AGE, [0, 0, 0, 0]), (loss_of("S"), loss_of("A"))
        answer = Answer(Guesses((AGE,), (np.array([3, -1e36, 1e34, 1e71]),)))
        found = score(answer, [truth], losses)
        assert found["S"].tolist() == [9, INF, 1e34**2, INF]
        assert found["A"].tolist() == [3, 1e36, 1e34, INF]

    def test_halves_are_rounded_up_and_what_is_just_below_is_not(self) -> None:
        below_half = np.nextafter(0.5, 0)
        truth = Truth.exact(COUNT, [0, 1, 0, -1, 2**53 - 1])
        guesses = Guesses((COUNT,), (np.array([below_half, 0.5, -0.5, np.nextafter(-0.5, -1), 2.0**53 - 1]),))
        assert loss_of("Z").of([truth], guesses).tolist() == [0, 0, 0, 0, 0]


TURNS = st.integers(-5, 5)
ANGLES = st.floats(-1000, 1000)
UNITS = st.sampled_from([1.0, 24.0, 360.0, 2 * math.pi])


def arc(unit: float, true: float, guess: float) -> float:
    target = Target("angle", "angular", unit=unit)
    guesses = Guesses((target,), (np.array([guess]),))
    return float(loss_of("A").of([Truth.exact(target, [true])], guesses)[0])


class TestCircularErrors:
    @given(UNITS, ANGLES, ANGLES)
    def test_the_way_there_is_as_long_as_the_way_back(self, unit: float, one: float, other: float) -> None:
        assert arc(unit, one, other) == arc(unit, other, one)

    @given(UNITS, ANGLES, ANGLES, TURNS)
    def test_full_turns_do_not_matter(self, unit: float, one: float, other: float, turns: int) -> None:
        assert arc(unit, one, other + turns * unit) == pytest.approx(arc(unit, one, other), abs=1e-9)
        assert arc(unit, one + turns * unit, other) == pytest.approx(arc(unit, one, other), abs=1e-9)

    @given(UNITS, ANGLES, ANGLES)
    def test_nothing_is_further_than_half_a_turn(self, unit: float, one: float, other: float) -> None:
        assert 0 <= arc(unit, one, other) <= unit / 2

    @given(UNITS, ANGLES, ANGLES)
    def test_the_arc_is_the_angle_between_points_on_the_circle(
        self, unit: float, one: float, other: float
    ) -> None:
        points = [np.exp(2j * math.pi * angle / unit) for angle in (one, other)]
        between = abs(np.angle(points[0] / points[1])) * unit / (2 * math.pi)
        assert arc(unit, one, other) == pytest.approx(between, abs=1e-7 * unit)

    def test_huge_angles_are_reduced_before_they_are_subtracted(self) -> None:
        assert math.isfinite(arc(360.0, -1e308, 1e308))


class TestPropertiesOfDistributionLosses:
    @pytest.mark.parametrize("code", DISTRIBUTION)
    @given(drawn=classified())
    def test_no_loss_of_class_probabilities_is_negative(
        self, code: str, drawn: tuple[Truth, ClassProbabilities]
    ) -> None:
        assert (loss_of(code).of([drawn[0]], drawn[1]) >= 0).all()

    @pytest.mark.parametrize("code", DISTRIBUTION)
    @given(levels=st.lists(st.integers(0, 2), min_size=1))
    def test_nothing_is_lost_by_being_sure_and_right(self, code: str, levels: list[int]) -> None:
        sure = ClassProbabilities.from_probabilities(COLOUR, np.eye(3)[levels])
        assert loss_of(code).of([Truth.exact(COLOUR, [float(level) for level in levels])], sure).tolist() == [
            0.0
        ] * len(levels)

    @pytest.mark.parametrize("code", DISTRIBUTION)
    @given(drawn=classified(), random=st.randoms(use_true_random=False))
    def test_each_case_is_judged_on_its_own(
        self, code: str, drawn: tuple[Truth, ClassProbabilities], random: Any
    ) -> None:
        truth, beliefs = drawn
        order = list(range(len(truth)))
        random.shuffle(order)
        shuffled = ClassProbabilities.from_logs(COLOUR, beliefs.logs[order])
        received = loss_of(code).of([Truth.exact(COLOUR, truth.values[order])], shuffled)
        np.testing.assert_allclose(received, loss_of(code).of([truth], beliefs)[order], rtol=1e-9, atol=1e-12)

    @given(classified())
    def test_squared_probability_is_at_most_two_and_agrees_with_its_formula(
        self, drawn: tuple[Truth, ClassProbabilities]
    ) -> None:
        truth, beliefs = drawn
        losses = loss_of("Q").of([truth], beliefs)
        assert (losses <= 2 + 1e-12).all()
        for case, true in enumerate(truth.level_indexes):
            row = beliefs.values[case]
            others = sum(probability**2 for level, probability in enumerate(row) if level != true)
            assert losses[case] == pytest.approx((1 - row[true]) ** 2 + others)

    @given(st.lists(st.lists(st.floats(-50, 50), min_size=3, max_size=3), min_size=1, max_size=8), st.data())
    def test_logs_and_probabilities_give_the_same_log_loss(
        self, rows: list[list[float]], data: st.DataObject
    ) -> None:
        truth = Truth.exact(
            COLOUR, data.draw(st.lists(values_of(COLOUR), min_size=len(rows), max_size=len(rows)))
        )
        logs = loss_of("L").of([truth], ClassProbabilities.from_logs(COLOUR, rows))
        plain = loss_of("L").of([truth], ClassProbabilities.from_probabilities(COLOUR, np.exp(rows)))
        reference = -log_softmax(np.array(rows), axis=1)[np.arange(len(rows)), truth.level_indexes]
        np.testing.assert_allclose(logs, reference, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(plain, reference, rtol=1e-9, atol=1e-9)

    @given(st.lists(st.floats(1e-300, 1), min_size=1))
    def test_logs_and_probabilities_of_the_truth_give_the_same_log_loss(self, given: list[float]) -> None:
        truth = Truth.exact(COUNT, [1.0] * len(given))
        plain = loss_of("L").of([truth], TargetLogProbabilities.from_probabilities(given))
        logs = loss_of("L").of(
            [truth], TargetLogProbabilities.from_logs([math.log(value) for value in given])
        )
        np.testing.assert_allclose(plain, logs, rtol=1e-12, atol=1e-12)

    def test_probabilities_too_small_for_a_number_keep_their_log_loss(self) -> None:
        remote = ClassProbabilities.from_logs(COLOUR, [[-2000.0, -1000.0, -3000.0]])
        assert loss_of("L").of([truth_of(COLOUR, ["red"])], remote).tolist() == [1000]

    def test_a_density_may_be_above_one(self) -> None:
        given = TargetLogProbabilities.from_probabilities([40.0])
        assert loss_of("L").of([truth_of(AGE, ["1"])], given)[0] == pytest.approx(-math.log(40))


class TestApplicability:
    """Figure 5.1 of the manual, and S and A for angular targets."""

    @pytest.mark.parametrize(
        ("targets", "codes"),
        [
            ([COLOUR], "LQZ"),
            ([COUNT], "ASLZ"),
            ([AGE], "ASL"),
            ([WIND], "ASL"),
            ([COLOUR, SEX], "LZ"),
            ([COUNT, AGE, WIND], "ASL"),
            ([COLOUR, COUNT], "LZ"),
            ([COLOUR, AGE], "L"),
            ([COUNT, COUNT], "ASLZ"),
            ([], ""),
        ],
    )
    def test_the_standard_losses_come_in_order(self, targets: list[Target], codes: str) -> None:
        assert "".join(loss.code for loss in applicable_losses(targets)) == codes

    def test_the_reason_names_the_target(self) -> None:
        assert loss_of("S").why_not([AGE, COLOUR]) == (
            'loss S is for integer, real, angular targets, but target "colour" is categorical'
        )
        assert loss_of("Z0.2N").why_not([AGE]) == (
            'loss Z0.2N is for categorical, integer targets, but target "age" is real'
        )
        assert loss_of("Q").why_not([COLOUR, SEX]) == (
            "loss Q is for a single target, but there are 2: colour, sex"
        )
        assert loss_of("L").why_not([]) == "loss L needs a target, but there is none"
        assert loss_of("L").why_not([AGE]) is None

    def test_a_loss_matrix_is_for_one_categorical_target_with_as_many_levels(self) -> None:
        costs = loss_of("Mcosts")
        assert costs.applies_to([COLOUR])
        assert (
            costs.why_not([COLOUR, COLOUR])
            == "loss Mcosts is for a single target, but there are 2: colour, colour"
        )
        assert (
            costs.why_not([COUNT]) == 'loss Mcosts is for categorical targets, but target "count" is integer'
        )
        assert costs.why_not([SEX]) == (
            'loss Mcosts, target "sex": row 1: expected 2 losses, one for each true level, but got 3'
        )

    def test_a_loss_that_does_not_apply_is_refused(self) -> None:
        message = refusal(SpecError, lambda: loss_of("S").of([THREE_COLOURS], guessed(COLOUR, "red")))
        assert message == loss_of("S").why_not([COLOUR])
        assert "needs a target" in refusal(SpecError, lambda: loss_of("S").of([], guessed(AGE, "1")))

    def test_what_each_loss_takes(self) -> None:
        assert {code: loss_of(code).takes for code in "ASLQZ"} == {
            "A": "guesses",
            "S": "guesses",
            "L": "distribution",
            "Q": "distribution",
            "Z": "guesses",
        }
        assert loss_of("Mcosts").takes == loss_of("Z0.2N").takes == "guesses"


class TestCodes:
    @pytest.mark.parametrize(
        ("code", "name"),
        [
            ("A", "Absolute error"),
            ("S", "Squared error"),
            ("L", "Negative Log probability"),
            ("Z", "Zero-one"),
            ("Q", "Squared Probability"),
            ("Z0.2N", "Zero-one, no-guess penalty 0.2"),
            ("A10N", "Absolute error, no-guess penalty 10"),
            ("S1.5N", "Squared error, no-guess penalty 1.5"),
            ("Mcosts", 'Loss matrix "costs"'),
        ],
    )
    def test_a_loss_keeps_its_code_and_has_a_name(self, code: str, name: str) -> None:
        assert (loss_of(code).code, loss_of(code).name) == (code, name)

    def test_the_standard_losses_are_registered(self) -> None:
        assert set(STANDARD) | {"M", "C"} == set(LOSSES)

    @pytest.mark.parametrize("code", ["", "X", "z", "ZZ", "Z0.2", "S1.5n", "LL", "Q2", "Z0.2N "])
    def test_an_unknown_code_lists_what_is_known(self, code: str) -> None:
        assert refusal(SpecError, lambda: loss_of(code)) == (
            f'unknown loss "{code}": known are A, S, L, Q, Z, C, M '
            "(M with the file of a loss matrix: Mcosts; A, S, Z also with a no-guess penalty: Z0.2N), and "
            "metrics by scikit-learn's names, as accuracy, roc_auc, f1_macro, rmse or r2"
        )

    @pytest.mark.parametrize("penalty", ["", "-1", "nan", "inf", "1e999", "x", "1_0", " 1"])
    def test_a_penalty_is_a_finite_number_that_is_not_negative(self, penalty: str) -> None:
        assert refusal(SpecError, lambda: loss_of(f"S{penalty}N")) == (
            f'loss "S{penalty}N" has the no-guess penalty "{penalty}": '
            "write a finite number of at least 0, as in S0.2N"
        )

    @pytest.mark.parametrize("code", ["L0.2N", "Q1N", "LN"])
    def test_only_losses_of_guesses_have_penalties(self, code: str) -> None:
        assert refusal(SpecError, lambda: loss_of(code)) == (
            f'loss "{code}" takes no guesses: only A, S and Z can have a no-guess penalty'
        )

    @pytest.mark.parametrize(
        "name", ["", "a/b", "/etc/passwd", "..", "a..b", "a\\b", "C:a", "a b", ".", ".a", "a\0"]
    )
    def test_the_file_of_a_matrix_stays_in_its_directory(self, name: str) -> None:
        message = refusal(SpecError, lambda: parse_loss(f"M{name}", lambda _: pytest.fail("was read")))
        assert message == (
            f'loss "M{name}" must name a file in the directory of the prototask: '
            "write M and a file name without blanks, slashes, colons, .. or a leading dot, as in Mcosts"
        )

    def test_a_matrix_needs_a_reader(self) -> None:
        assert refusal(SpecError, lambda: parse_loss("Mcosts")) == (
            'loss "Mcosts" needs the file "costs", but no loss matrix can be read here'
        )

    def test_losses_are_frozen_values(self) -> None:
        assert loss_of("Z0.2N") == ZeroOne("Z0.2N", 0.2) != loss_of("Z0.3N")
        assert hash(loss_of("Mcosts")) == hash(MatrixLoss("Mcosts", COSTS))
        with pytest.raises(FrozenInstanceError):
            loss_of("S").code = "A"  # type: ignore[misc]


class TestRefusedPredictions:
    def test_a_missing_guess_is_named_with_its_case_and_the_way_out(self) -> None:
        truth = truth_of(AGE, ["1", "2", "3"])
        assert refusal(PredictionError, lambda: loss_of("S").of([truth], guessed(AGE, "1", "2", "?"))) == (
            'case 3: the prediction of target "age" is not a number (no guess, "?"): '
            "make a guess, or allow none at a penalty, as in S0.2N"
        )

    def test_a_missing_guess_needs_a_row_in_a_loss_matrix(self) -> None:
        build = lambda: loss_of("Mcosts").of([THREE_COLOURS], guessed(COLOUR, "red", "?", "red"))  # noqa: E731
        assert refusal(PredictionError, build) == (
            'case 2: no guess ("?") for target "colour", but loss Mcosts demands one: '
            "make a guess, or add a last row of losses for making none to the loss matrix"
        )

    @pytest.mark.parametrize(
        ("code", "target", "make", "what"),
        [
            ("A", AGE, lambda n: Guesses((AGE,), (np.zeros(n),)), "guesses"),
            ("Z", COUNT, lambda n: Guesses((COUNT,), (np.zeros(n),)), "guesses"),
            ("Mcosts", COLOUR, lambda n: Guesses((COLOUR,), (np.zeros(n),)), "guesses"),
            ("L", COLOUR, lambda n: ClassProbabilities(COLOUR, np.zeros((n, 3))), "class distributions"),
            ("Q", COLOUR, lambda n: ClassProbabilities(COLOUR, np.zeros((n, 3))), "class distributions"),
            ("L", AGE, lambda n: TargetLogProbabilities(np.zeros(n)), "target probabilities"),
        ],
    )
    def test_there_must_be_as_many_predictions_as_cases(
        self, code: str, target: Target, make: Callable[[int], Prediction], what: str
    ) -> None:
        truth = Truth.exact(target, np.zeros(256))
        assert len(loss_of(code).of([truth], make(256))) == 256
        for count in (255, 257, 0):
            message = refusal(PredictionError, lambda count=count: loss_of(code).of([truth], make(count)))  # type: ignore[misc]
            assert message == f"expected 256 {what} but got {count}"

    @pytest.mark.parametrize(
        ("code", "target", "prediction", "message"),
        [
            (
                "S",
                AGE,
                TargetLogProbabilities.from_logs([0]),
                "loss S (Squared error) needs guesses but got TargetLogProbabilities",
            ),
            (
                "Q",
                COLOUR,
                TargetLogProbabilities.from_logs([0]),
                "loss Q (Squared Probability) needs class probabilities but got TargetLogProbabilities",
            ),
            (
                "L",
                COLOUR,
                guessed(COLOUR, "red"),
                "loss L (Negative Log probability) needs class probabilities "
                "or the probabilities of the true targets but got Guesses",
            ),
        ],
    )
    def test_each_loss_wants_its_kind_of_prediction(
        self, code: str, target: Target, prediction: Prediction, message: str
    ) -> None:
        truth = Truth.exact(target, [0.0])
        assert refusal(PredictionError, lambda: loss_of(code).of([truth], prediction)) == message

    @pytest.mark.parametrize(
        ("code", "prediction", "names"),
        [
            ("Z", guessed(SEX, "f"), "sex"),
            ("Z", guesses_of([COLOUR, SEX], [["red"], ["f"]]), "colour, sex"),
            ("Z", guessed(Target("colour", "categorical", ("green", "red", "blue")), "red"), "colour"),
            ("L", ClassProbabilities.from_logs(SEX, [[0, 0]]), "sex"),
            ("Q", ClassProbabilities.from_logs(SEX, [[0, 0]]), "sex"),
        ],
    )
    def test_predictions_must_be_for_the_same_targets(
        self, code: str, prediction: Prediction, names: str
    ) -> None:
        truth = truth_of(COLOUR, ["red"])
        assert refusal(PredictionError, lambda: loss_of(code).of([truth], prediction)) == (
            f"expected predictions for colour but got some for {names}: "
            "names, kinds, levels and their order must agree"
        )

    def test_class_probabilities_cannot_stand_for_several_targets(self) -> None:
        truths = [truth_of(COLOUR, ["red"]), truth_of(SEX, ["f"])]
        with pytest.raises(
            PredictionError, match="expected predictions for colour, sex but got some for colour"
        ):
            loss_of("L").of(truths, ClassProbabilities.from_logs(COLOUR, [[0, 0, 0]]))

    def test_true_values_must_be_of_the_same_cases(self) -> None:
        truths = [truth_of(AGE, ["1", "2"]), truth_of(HEIGHT, ["1"])]
        guesses = guesses_of([AGE, HEIGHT], [["1", "2"], ["1", "2"]])
        assert refusal(PredictionError, lambda: loss_of("S").of(truths, guesses)) == (
            'target "height" has 1 true values but "age" has 2: give all of them for the same cases'
        )

    @pytest.mark.parametrize(
        "truths",
        [
            [truth_of(COUNT, ["1", "2"])],
            [truth_of(COLOUR, ["red", "red"])],
            [truth_of(AGE, ["1", ":2"])],
            [truth_of(COUNT, ["1", "2"]), truth_of(AGE, ["1", "2:"])],
        ],
    )
    def test_a_probability_above_one_is_refused_where_there_is_no_density(self, truths: list[Truth]) -> None:
        given = TargetLogProbabilities.from_logs([1e-9, 0.5])
        assert refusal(PredictionError, lambda: loss_of("L").of(truths, given)) == (
            "case 2: log probability 0.5 of the true targets is above 0: "
            "categorical, integer and censored targets have probabilities of at most 1, not densities"
        )


class TestLossMatrices:
    def test_rows_are_guesses_and_columns_are_true_levels(self) -> None:
        matrix = parse_loss_matrix("0 10\n\n 1\t0 \n", ["well", "ill"])
        assert matrix == LossMatrix(np.array([[0.0, 10.0], [1.0, 0.0]]))
        assert matrix.no_guess is None

    def test_a_last_row_is_for_making_no_guess(self) -> None:
        matrix = parse_loss_matrix("0 10\n1 0\n.5 5e-1\n", ["well", "ill"])
        assert matrix == LossMatrix(np.array([[0.0, 10.0], [1.0, 0.0]]), np.array([0.5, 0.5]))

    def test_zeros_and_ones_are_the_zero_one_loss(self) -> None:
        loss = parse_loss("Mones", lambda name: {"ones": "0 1 1\n1 0 1\n1 1 0"}[name])
        guesses = guessed(COLOUR, "red", "blue", "blue")
        np.testing.assert_array_equal(
            loss.of([THREE_COLOURS], guesses), loss_of("Z").of([THREE_COLOURS], guesses)
        )

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "",
                "expected 2 rows of losses, one for each guess (well, ill), "
                "and perhaps one for no guess, but got 0",
            ),
            (
                "0 1\n1 0\n1 1\n1 1",
                "expected 2 rows of losses, one for each guess (well, ill), "
                "and perhaps one for no guess, but got 4",
            ),
            ("0 1\n1", "row 2: expected 2 losses, one for each true level, but got 1"),
            ("0 1\n1 0\n1 1 1", "row 3: expected 2 losses, one for each true level, but got 3"),
            ("0 much\n1 0", 'row 1, column 2: loss "much" must be a finite number'),
            ("0 Inf\n1 0", 'row 1, column 2: loss "Inf" must be a finite number'),
            ("0 1\n-1 0", "row 2, column 1: loss -1.0 must be a finite number of at least 0"),
            ("0 1\n1 0\n1 -2", "row 3, column 2: loss -2.0 must be a finite number of at least 0"),
            ("0 1\n1 0.5", "row 2, column 2: loss 0.5 of a right guess must be 0"),
        ],
    )
    def test_a_bad_matrix_is_refused(self, text: str, message: str) -> None:
        assert refusal(SpecError, lambda: parse_loss_matrix(text, ["well", "ill"])) == message

    def test_a_bad_matrix_is_named_when_it_is_used(self) -> None:
        loss = parse_loss("Mbad", lambda _: "0 1\n-1 0")
        message = refusal(SpecError, lambda: loss.of([truth_of(SEX, ["f"])], guessed(SEX, "f")))
        assert message == (
            'loss Mbad, target "sex": row 2, column 1: loss -1.0 must be a finite number of at least 0'
        )

    def test_a_matrix_made_of_numbers_is_checked_too(self) -> None:
        assert refusal(SpecError, lambda: LossMatrix(np.zeros((2, 3)))) == (
            "a loss matrix must have as many rows as columns but has 2 and 3"
        )
        assert refusal(SpecError, lambda: LossMatrix(np.zeros((2, 2)), np.zeros(3))) == (
            "expected 2 losses for making no guess but got 3"
        )
        with pytest.raises(SpecError, match="row 1, column 2: loss nan must be a finite number"):
            LossMatrix(np.array([[0, NAN], [1, 0]]))

    def test_a_matrix_is_a_frozen_value(self) -> None:
        matrix = parse_loss_matrix("0 1\n1 0\n2 2", ["well", "ill"])
        assert matrix.digest == parse_loss_matrix("0 1.0\n1 0\n2 2", ["well", "ill"]).digest
        for array in (matrix.values, matrix.no_guess):
            assert array is not None
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 9


@pytest.mark.parametrize(
    ("code", "targets", "limits"),
    [
        ("A", [AGE], (0.0, INF)),
        ("S", [AGE, HEIGHT], (0.0, INF)),
        ("Z", [COLOUR], (0.0, 1.0)),
        ("Z", [COLOUR, SEX], (0.0, 2.0)),
        ("Z1.5N", [COLOUR], (0.0, 1.5)),
        ("Z0.2N", [COLOUR], (0.0, 1.0)),
        ("L", [COLOUR], (0.0, INF)),
        ("L", [AGE], (-INF, INF)),
        ("Q", [COLOUR], (0.0, 2.0)),
        ("C", [AGE], (0.0, INF)),
        ("Mcosts", [COLOUR], (0.0, 5.0)),
        ("Moptional", [COLOUR], (0.0, 5.0)),
    ],
)
def test_a_loss_knows_what_can_be_lost(code: str, targets: list[Target], limits: tuple[float, float]) -> None:
    loss, (low, high) = loss_of(code), limits
    assert loss.limits(targets) == limits
    assert loss.impossible(np.array([low, high, low - 1e-9, high + 1e-9]), targets) is None
    for limit, beyond in ((low, low - 3), (high, high + 3)):
        found = loss.impossible(np.array([1.0, beyond]), targets)
        assert (found is None) == np.isinf(limit)
        assert found is None or found[0] == 1


def test_pseudo_values_of_metrics_may_be_anything() -> None:
    assert loss_of("rmse").impossible(np.array([-3.0]), [AGE]) is None
