"""What methods may answer: reading, checking and normalising predictions and true values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from redelve.answers.predictions import (
    ClassProbabilities,
    Guesses,
    Target,
    TargetLogProbabilities,
    Truth,
    guesses_of,
    target_of,
    truth_of,
)
from redelve.errors import PredictionError, RedelveError, SpecError
from redelve.model import Attribute, AttributePrior, parse_range, written

COLOUR = Target("colour", "categorical", ("red", "green", "blue"))
COUNT = Target("count", "integer")
AGE = Target("age", "real")
WIND = Target("wind", "angular", unit=360.0)

INF, NAN = math.inf, math.nan


def prior(kind: str, unit: float | None = None) -> AttributePrior:
    return AttributePrior(1, "NLMH", kind, unit=unit)


def attribute(range_text: str, name: str = "x") -> Attribute:
    return Attribute(1, name, "u", parse_range(range_text))


def refusal(error: type[RedelveError], build: Callable[[], object]) -> str:
    with pytest.raises(error) as caught:
        build()
    return str(caught.value)


def close(received: Any, expected: Any) -> bool:
    return bool(np.allclose(received, expected, rtol=1e-12, atol=0))


class TestTargets:
    @pytest.mark.parametrize("kind", ["binary", "nominal", "ordinal"])
    def test_categorical_targets_have_the_levels_of_the_range_in_its_order(self, kind: str) -> None:
        target = target_of(attribute("b a 3..5 ? ?lost"), prior(kind))
        assert target == Target("x", "categorical", ("b", "a", "3", "4", "5"))

    def test_an_order_in_the_prior_does_not_change_the_order_of_levels(self) -> None:
        ordered = AttributePrior(1, "NLMH", "ordinal", order=("high", "low"))
        assert target_of(attribute("low high"), ordered).levels == ("low", "high")

    @pytest.mark.parametrize("kind", ["integer", "real"])
    def test_numeric_targets_have_neither_levels_nor_unit(self, kind: str) -> None:
        target = target_of(attribute("0..9"), prior(kind, unit=3.0))
        assert (target.kind, target.levels, target.unit) == (kind, (), None)

    def test_angular_targets_have_a_unit(self) -> None:
        assert target_of(attribute("[0,24)", "hour"), prior("angular", 24.0)) == Target(
            "hour", "angular", unit=24.0
        )

    def test_targets_are_frozen_and_hashable(self) -> None:
        assert {COLOUR: 1}[Target("colour", "categorical", ("red", "green", "blue"))] == 1
        with pytest.raises(FrozenInstanceError):
            COLOUR.name = "other"  # type: ignore[misc]

    @pytest.mark.parametrize(
        ("build", "message"),
        [
            (
                lambda: target_of(attribute("[0,1]", "dose"), prior("nominal")),
                'target "dose" is nominal but its range is "[0,1]": '
                "list its values there, or make it integer or real in the prior",
            ),
            (
                lambda: target_of(attribute("?"), prior("nominal")),
                'categorical target "x" has no levels: list them in its range',
            ),
            (
                lambda: target_of(attribute("0..9"), prior("fuzzy")),
                'target "x" has unknown type "fuzzy": use binary, nominal, ordinal, integer, real, angular',
            ),
            (
                lambda: target_of(attribute("[0,24)", "hour"), prior("angular")),
                'angular target "hour" needs a positive unit but got none: '
                "give the length of a full turn in the prior, such as unit=360",
            ),
            (
                lambda: Target("hour", "angular", unit=-1.0),
                'angular target "hour" needs a positive unit but got -1.0: '
                "give the length of a full turn in the prior, such as unit=360",
            ),
            (
                lambda: Target("x", "complex"),  # type: ignore[arg-type]
                'target "x" has unknown kind "complex": use categorical, integer, real, angular',
            ),
            (
                lambda: Target("x", "categorical", ("a", "b", "a")),
                'categorical target "x" has the level "a": levels must differ and not begin with ?',
            ),
            (
                lambda: Target("x", "categorical", ("a", "?")),
                'categorical target "x" has the level "?": levels must differ and not begin with ?',
            ),
        ],
    )
    def test_impossible_targets_are_refused(self, build: Callable[[], object], message: str) -> None:
        assert refusal(SpecError, build) == message

    @pytest.mark.parametrize("unit", [0.0, INF, NAN])
    def test_a_unit_is_positive_and_finite(self, unit: float) -> None:
        with pytest.raises(SpecError, match="needs a positive unit"):
            Target("hour", "angular", unit=unit)


class TestTruth:
    def test_levels_become_their_indexes(self) -> None:
        truth = truth_of(COLOUR, ["blue", "red", "green"])
        assert truth.values.tolist() == [2, 0, 1]
        assert truth.level_indexes.tolist() == [2, 0, 1]
        assert truth.censoring.tolist() == [0, 0, 0]

    def test_levels_written_as_numbers_are_matched_to_the_letter(self) -> None:
        digits = Target("digit", "categorical", ("1", "01", "1.0"))
        assert truth_of(digits, ["1.0", "1", "01"]).values.tolist() == [2, 0, 1]

    @pytest.mark.parametrize("target", [AGE, COUNT])
    def test_censored_numbers_keep_their_bound_and_side(self, target: Target) -> None:
        truth = truth_of(target, ["12", "12:", ":-3", "4"])
        assert truth.values.tolist() == [12, 12, -3, 4]
        assert truth.censoring.tolist() == [0, 1, -1, 0]
        assert truth.censoring.dtype == np.int8

    def test_the_bound_of_an_integer_need_not_be_one(self) -> None:
        assert truth_of(COUNT, ["12.5:"]).values.tolist() == [12.5]

    def test_integers_may_be_written_as_decimal_numbers(self) -> None:
        assert truth_of(COUNT, ["3.0", "-2", "1e2"]).values.tolist() == [3, -2, 100]

    def test_angles_are_any_numbers(self) -> None:
        assert truth_of(WIND, ["-90", "720.5"]).values.tolist() == [-90, 720.5]

    def test_columns_of_cases_are_read_as_they_are(self) -> None:
        assert truth_of(AGE, written(["1", "2:"]).texts()).values.tolist() == [1, 2]

    def test_no_cases_make_an_empty_truth(self) -> None:
        assert len(truth_of(AGE, [])) == 0

    def test_a_hundred_thousand_cases_take_a_moment(self) -> None:
        texts = [str(number / 7) for number in range(100_000)]
        start = perf_counter()
        assert len(truth_of(AGE, texts)) == 100_000
        assert perf_counter() - start < 5

    @pytest.mark.parametrize(
        ("target", "text", "message"),
        [
            (
                COLOUR,
                "pink",
                'true value "pink" of target "colour" is not allowed: expected one of red, green',
            ),
            (COLOUR, "12:", 'true value "12:" of target "colour" is not allowed: expected one of red, green'),
            (
                COLOUR,
                "?lost",
                'true value "?lost" of target "colour" is missing, expected one of red, green, blue: '
                "leave such cases out of the prototask",
            ),
            (
                AGE,
                "?",
                'true value "?" of target "age" is missing, expected a number: '
                "leave such cases out of the prototask",
            ),
            (AGE, "old", 'true value "old" of target "age" is not allowed: expected a number'),
            (AGE, "nan", 'true value "nan" of target "age" is not allowed: expected a number'),
            (AGE, "inf", 'true value "inf" of target "age" is not allowed: expected a number'),
            (AGE, "1e999", 'true value "1e999" of target "age" is not allowed: expected a number'),
            (COUNT, "3.5", 'true value 3.5 of integer target "count" is not allowed: expected an integer'),
            (
                WIND,
                "10:",
                'true value 10.0 of angular target "wind" is censored: only integer and real targets can be',
            ),
        ],
    )
    def test_a_bad_value_is_named_with_its_case(self, target: Target, text: str, message: str) -> None:
        good = "red" if target is COLOUR else "1"
        received = refusal(PredictionError, lambda: truth_of(target, [good, good, text]))
        assert received.startswith(f"case 3: {message}")

    def test_only_the_first_levels_of_many_are_named(self) -> None:
        many = Target("x", "categorical", tuple(f"l{number}" for number in range(50)))
        message = refusal(PredictionError, lambda: truth_of(many, ["k"]))
        assert message.endswith("l10, l11, …")

    def test_values_given_as_numbers_are_checked_too(self) -> None:
        assert Truth.exact(COLOUR, [2, 0]).values.tolist() == [2, 0]
        assert refusal(PredictionError, lambda: Truth.exact(COLOUR, [0, 3])) == (
            'case 2: true value 3.0 of categorical target "colour" is not allowed: '
            "expected a level index from 0 to 2"
        )
        assert refusal(PredictionError, lambda: Truth.exact(AGE, [NAN])) == (
            'case 1: true value nan of real target "age" is not allowed: expected a finite number'
        )

    def test_marks_of_censoring_are_checked(self) -> None:
        numbers = np.array([1.0, 2.0])
        assert refusal(PredictionError, lambda: Truth(AGE, numbers, np.array([0, 2], np.int8))) == (
            "case 2: censoring 2 is not allowed: use −1, 0 or 1"
        )
        assert refusal(PredictionError, lambda: Truth(AGE, numbers, np.zeros(3, np.int8))) == (
            'target "age" has 2 true values but 3 marks of censoring: give one for each case'
        )
        with pytest.raises(PredictionError, match=r"of categorical target .* is censored"):
            Truth(COLOUR, numbers, np.array([0, 1], np.int8))


class TestGuesses:
    def test_each_target_has_its_own_guesses(self) -> None:
        guesses = guesses_of([COLOUR, AGE], [["green", "?", "red"], ["1.5", "-2e1", "?"]])
        np.testing.assert_array_equal(guesses.values[0], [1, NAN, 0])
        np.testing.assert_array_equal(guesses.values[1], [1.5, -20, NAN])
        assert len(guesses) == 3

    def test_a_guess_for_an_integer_need_not_be_one(self) -> None:
        assert guesses_of([COUNT], [["2.5"]]).values[0].tolist() == [2.5]

    @pytest.mark.parametrize("text", ["inf", "-Inf", "nan", "NaN", "", "1_0", "two", "3:", "?why", "1e999"])
    @pytest.mark.parametrize("target", [AGE, COUNT, WIND])
    def test_what_is_no_number_is_named_with_its_case(self, target: Target, text: str) -> None:
        assert refusal(PredictionError, lambda: guesses_of([target], [["1", text]])) == (
            f'case 2: guess "{text}" for target "{target.name}" is not allowed: '
            "expected a number, or ? for no guess"
        )

    @pytest.mark.parametrize("text", ["pink", "Red", "0", "?why"])
    def test_an_unknown_level_is_named_with_its_case(self, text: str) -> None:
        assert refusal(PredictionError, lambda: guesses_of([COLOUR], [["red", "?", text]])) == (
            f'case 3: guess "{text}" for target "colour" is not allowed: '
            "expected one of red, green, blue, or ? for no guess"
        )

    @pytest.mark.parametrize(
        ("target", "value", "allowed"),
        [
            (COLOUR, 3.0, "a level index from 0 to 2"),
            (COLOUR, 0.5, "a level index from 0 to 2"),
            (COUNT, INF, "a finite number"),
            (AGE, -INF, "a finite number"),
        ],
    )
    def test_guesses_given_as_numbers_are_checked_too(
        self, target: Target, value: float, allowed: str
    ) -> None:
        values = np.array([0.0, NAN, value])
        assert refusal(PredictionError, lambda: Guesses((target,), (values,))) == (
            f'case 3: guess {value} of {target.kind} target "{target.name}" is not allowed: '
            f"expected {allowed}"
        )

    def test_the_targets_and_lists_of_guesses_must_agree(self) -> None:
        assert refusal(PredictionError, lambda: guesses_of([COLOUR, AGE], [["red"]])) == (
            "expected guesses for 2 targets (colour, age) but got 1"
        )
        assert refusal(PredictionError, lambda: guesses_of([COLOUR, AGE], [["red"], ["1", "2"]])) == (
            'expected 1 guesses for target "age" but got 2: every target needs as many as the first'
        )
        with pytest.raises(PredictionError, match="expected guesses for 0 targets"):
            guesses_of([], [])


class TestClassProbabilities:
    def test_rows_are_normalised(self) -> None:
        given = ClassProbabilities.from_probabilities(COLOUR, [[2, 1, 1], [0, 0, 0.1]])
        assert close(given.values, [[0.5, 0.25, 0.25], [0, 0, 1]])
        assert len(given) == 2
        assert given.targets == (COLOUR,)

    def test_logs_give_the_same_and_minus_infinity_is_zero(self) -> None:
        logs = ClassProbabilities.from_logs(COLOUR, [[math.log(2), 0, 0], [-INF, -INF, -3]])
        assert close(logs.values, [[0.5, 0.25, 0.25], [0, 0, 1]])

    def test_extreme_numbers_neither_overflow_nor_vanish(self) -> None:
        large = ClassProbabilities.from_probabilities(COLOUR, [[1e308, 1e308, 0], [5e-324, 0, 0]])
        assert close(large.values, [[0.5, 0.5, 0], [1, 0, 0]])
        remote = ClassProbabilities.from_logs(COLOUR, [[-5000, -4000, -6000], [-1e308, 1e308, 0]])
        assert remote.logs[0].tolist() == [-1000, 0, -2000]
        assert remote.logs[1].tolist() == [-INF, 0, -1e308]

    @given(st.lists(st.lists(st.floats(-700, 700), min_size=3, max_size=3), min_size=1, max_size=9))
    def test_probabilities_sum_to_one_and_agree_with_scipy(self, rows: list[list[float]]) -> None:
        given = ClassProbabilities.from_logs(COLOUR, rows)
        np.testing.assert_allclose(given.values.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(given.values, softmax(np.array(rows), axis=1), rtol=1e-9, atol=1e-300)
        assert (given.logs <= 0).all()

    def test_the_log_probability_of_the_true_level_is_picked(self) -> None:
        given = ClassProbabilities.from_probabilities(COLOUR, [[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])
        picked = given.log_probability(truth_of(COLOUR, ["blue", "red"]))
        np.testing.assert_allclose(picked, np.log([0.25, 0.125]))

    def test_no_cases_are_allowed(self) -> None:
        assert ClassProbabilities.from_probabilities(COLOUR, []).values.shape == (0, 3)

    @pytest.mark.parametrize("value", [-0.5, NAN, INF])
    def test_a_bad_probability_is_named_with_case_and_level(self, value: float) -> None:
        rows = [[1.0, 0.0, 0.0], [0.5, value, 0.5]]
        assert refusal(PredictionError, lambda: ClassProbabilities.from_probabilities(COLOUR, rows)) == (
            f'case 2: for level "green" of target "colour", {value} is no probability; '
            "expected a finite number of at least 0"
        )

    @pytest.mark.parametrize("value", [NAN, INF])
    def test_a_bad_log_is_named_with_case_and_level(self, value: float) -> None:
        rows = [[1.0, 0.0, 0.0], [0.5, 0.5, value]]
        assert refusal(PredictionError, lambda: ClassProbabilities.from_logs(COLOUR, rows)) == (
            f'case 2: for level "blue" of target "colour", {value} is no log probability; '
            "expected a number or -Inf"
        )

    @pytest.mark.parametrize(
        "build",
        [
            lambda: ClassProbabilities.from_probabilities(COLOUR, [[1, 0, 0], [0, 0, 0]]),
            lambda: ClassProbabilities.from_logs(COLOUR, [[1, 0, 0], [-INF, -INF, -INF]]),
        ],
    )
    def test_something_must_be_possible(self, build: Callable[[], object]) -> None:
        assert refusal(PredictionError, build) == (
            'case 2: every level of target "colour" has probability zero: '
            "give at least one a positive probability"
        )

    @pytest.mark.parametrize("make", [ClassProbabilities.from_probabilities, ClassProbabilities.from_logs])
    def test_every_case_needs_a_number_for_every_level(self, make: Callable[..., object]) -> None:
        assert refusal(PredictionError, lambda: make(COLOUR, [[0.5, 0.25, 0.25], [0.5, 0.5]])) == (
            'case 2: expected 3 probabilities for target "colour" (red, green, blue) but got 2'
        )
        with pytest.raises(PredictionError, match=re.escape("case 1: expected 3 probabilities")):
            make(COLOUR, np.ones((5, 4)))

    def test_other_targets_have_no_class_probabilities(self) -> None:
        assert refusal(PredictionError, lambda: ClassProbabilities.from_probabilities(AGE, [[1]])) == (
            'class probabilities need a categorical target, but "age" is real: '
            "give the probability of the true targets instead"
        )


class TestTargetLogProbabilities:
    def test_probabilities_and_densities_become_logs(self) -> None:
        given = TargetLogProbabilities.from_probabilities([1, 0, 0.5, 40])
        np.testing.assert_allclose(given.values, [0, -INF, math.log(0.5), math.log(40)])
        assert len(given) == 4

    def test_logs_stay_as_they_are(self) -> None:
        assert TargetLogProbabilities.from_logs([-2, -INF, 3]).values.tolist() == [-2, -INF, 3]

    @pytest.mark.parametrize("value", [-0.1, NAN, INF])
    def test_a_bad_probability_is_named_with_its_case(self, value: float) -> None:
        build = lambda: TargetLogProbabilities.from_probabilities([0.5, value])  # noqa: E731
        assert refusal(PredictionError, build) == (
            f"case 2: probability {value} of the true targets is not allowed: "
            "expected a finite number of at least 0"
        )

    @pytest.mark.parametrize("value", [NAN, INF])
    def test_a_bad_log_is_named_with_its_case(self, value: float) -> None:
        assert refusal(PredictionError, lambda: TargetLogProbabilities.from_logs([0.5, value])) == (
            f"case 2: log probability {value} of the true targets is not allowed: "
            "expected a number, or -Inf for probability zero"
        )


FROZEN: list[Callable[[float], Any]] = [
    lambda number: Truth.exact(AGE, [number, 2]),
    lambda number: Guesses((AGE,), (np.array([number, NAN]),)),
    lambda number: ClassProbabilities.from_probabilities(COLOUR, [[number, 1, 1]]),
    lambda number: TargetLogProbabilities.from_logs([number, -INF]),
]


@pytest.mark.parametrize("make", FROZEN)
class TestFrozenValues:
    def test_equal_contents_are_equal_and_have_one_digest(self, make: Callable[[float], Any]) -> None:
        assert make(1) == make(1)
        assert hash(make(1)) == hash(make(1))
        assert make(1).digest == make(1).digest

    def test_other_contents_differ(self, make: Callable[[float], Any]) -> None:
        assert make(1) != make(3)
        assert make(1) != "something else"

    def test_arrays_cannot_be_written_to(self, make: Callable[[float], Any]) -> None:
        values = make(1).values
        array = values[0] if isinstance(values, tuple) else values
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5

    def test_fields_cannot_be_replaced(self, make: Callable[[float], Any]) -> None:
        with pytest.raises((FrozenInstanceError, AttributeError)):
            make(1).values = None


def test_the_array_given_can_change_later_without_harm() -> None:
    numbers = np.array([1.0, 2.0])
    truth = Truth.exact(AGE, numbers)
    numbers[0] = 9
    assert truth.values.tolist() == [1, 2]


@given(st.lists(st.sampled_from(["red", "green", "blue", "?"]), min_size=1))
def test_guessed_levels_can_be_read_back(texts: list[str]) -> None:
    values = guesses_of([COLOUR], [texts]).values[0]
    assert ["?" if math.isnan(value) else COLOUR.levels[int(value)] for value in values] == texts
