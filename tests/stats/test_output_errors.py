"""PROBEN1's error measures against numbers worked by hand (section 2.6)."""

import numpy as np
import pytest

from redelve.data.proben1 import ExampleSet, problem
from redelve.errors import PredictionError, SpecError
from redelve.stats.output_errors import (
    HALF,
    STRICT,
    Thresholds,
    classification_error,
    classify,
    decide,
    squared_error_percentage,
    true_classes,
    winner_takes_all,
)
from tests.data.proben1.genuine import FOLDER, needs_genuine

# Tables 3 and 4: least squared error percentages of linear networks on training and validation set, and those
# on the test set, where training came near its end (standard deviations of at most 0.02 over ten runs)
LINEAR = {
    "cancer1": (4.25, 2.91, 3.52), "cancer3": (3.30, 4.23, 4.11), "gene1": (8.42, 9.58, 9.92),
    "gene2": (8.39, 9.90, 9.51), "gene3": (8.21, 9.36, 10.61), "soybean1": (0.65, 0.98, 1.16),
    "thyroid1": (3.76, 3.78, 3.84), "thyroid3": (3.85, 3.39, 4.02), "building2": (0.34, 0.37, 0.35),
    "flare1": (0.37, 0.34, 0.52), "flare3": (0.39, 0.46, 0.35), "hearta2": (4.17, 4.28, 4.19),
}  # fmt: skip


class TestSquaredErrorPercentage:
    def test_the_formula_by_hand(self) -> None:
        outputs, targets = [[0.8, 0.1, 0.3], [0.0, 1.0, 0.5]], [[1, 0, 0], [0, 0, 1]]
        total = 0.2**2 + 0.1**2 + 0.3**2 + 0 + 1 + 0.25
        assert float(squared_error_percentage(outputs, targets)) == pytest.approx(100 * total / (3 * 2))

    def test_the_range_of_outputs_is_a_factor(self) -> None:
        found = squared_error_percentage([[0.0], [1.0]], [[-1.0], [1.0]], output_range=(-1.0, 1.0))
        assert float(found) == pytest.approx(100 * 2 / (1 * 2) * 1)

    def test_the_worst_answer_within_the_range_is_100_and_others_may_be_worse(self) -> None:
        targets = np.array([[1.0, 0.0], [0.0, 1.0]])
        assert float(squared_error_percentage(1 - targets, targets)) == 100
        assert float(squared_error_percentage(3 - targets, targets)) > 100

    def test_many_runs_are_measured_at_once(self) -> None:
        rng = np.random.default_rng(0)
        outputs, targets = rng.random((2, 5, 7, 3)), rng.random((7, 3))
        found = squared_error_percentage(outputs, targets)
        assert found.shape == (2, 5)
        assert found[1, 4] == pytest.approx(100 * np.mean((outputs[1, 4] - targets) ** 2))

    def test_bad_arrays_are_refused(self) -> None:
        with pytest.raises(PredictionError, match="expected outputs of 2 × 1"):
            squared_error_percentage([[1.0], [1.0], [1.0]], [[1.0], [0.0]])
        with pytest.raises(PredictionError, match="finite"):
            squared_error_percentage([[np.nan]], [[1.0]])
        with pytest.raises(PredictionError, match="examples × nodes"):
            squared_error_percentage([1.0], [1.0])
        with pytest.raises(SpecError, match="is empty"):
            squared_error_percentage([[1.0]], [[1.0]], output_range=(1.0, 1.0))


class TestClasses:
    targets = np.eye(3)[[0, 1, 2, 0]]

    def test_the_highest_output_wins_and_of_equal_ones_the_first(self) -> None:
        assert winner_takes_all([[0.1, 0.3, 0.2], [-1.0, -2.0, -0.5], [0.4, 0.4, 0.1]]).tolist() == [1, 2, 0]

    def test_classification_error_is_the_percentage_of_wrong_examples(self) -> None:
        outputs = [[0.9, 0, 0], [0.9, 0, 0], [0, 0, 0.1], [0, 0.2, 0.1]]
        assert float(classification_error(outputs, self.targets)) == 50
        assert classification_error(np.stack([outputs, self.targets]), self.targets).tolist() == [50, 0]

    def test_exactly_one_output_above_one_half(self) -> None:
        outputs = [[0.6, 0.5, 0.0], [0.6, 0.7, 0.0], [0.5, 0.5, 0.5], [0.0, 2.0, -1.0]]
        assert decide(outputs, HALF).tolist() == [0, -1, -1, 1]

    def test_thresholds_of_3_and_7_tenths(self) -> None:
        outputs = [[0.71, 0.29, 0.0], [0.71, 0.31, 0.0], [0.7, 0.0, 0.0], [0.9, 0.8, 0.0], [0.9, 0.3, 0.0]]
        assert decide(outputs, STRICT).tolist() == [0, -1, -1, -1, -1]

    def test_wrong_rejected_and_right_sum_to_100(self) -> None:
        outputs = [[0.9, 0.1, 0.1], [0.9, 0.1, 0.1], [0.6, 0.6, 0.6], [0.6, 0.1, 0.1]]
        half, strict = classify(outputs, self.targets), classify(outputs, self.targets, STRICT)
        assert (float(half.wrong), float(half.rejected), float(half.right)) == (25, 25, 50)
        assert (float(strict.wrong), float(strict.rejected), float(strict.right)) == (25, 50, 25)

    def test_rejection_never_makes_an_example_wrong_that_was_right(self) -> None:
        rng = np.random.default_rng(1)
        targets = np.eye(4)[rng.integers(0, 4, 200)]
        outputs = rng.normal(0.3, 0.4, (5, 200, 4)) + 0.4 * targets
        verdict = classify(outputs, targets, STRICT)
        assert (verdict.wrong <= classification_error(outputs, targets)).all()
        assert np.allclose(verdict.wrong + verdict.rejected + verdict.right, 100)

    def test_targets_that_are_no_classes_are_refused(self) -> None:
        with pytest.raises(SpecError, match=r"example 2 has .* \[1.0, 1.0\], which is no 1-of-2 code"):
            true_classes([[1, 0], [1, 1]])
        with pytest.raises(SpecError, match="wrong way round"):
            decide([[1.0]], Thresholds(0.7, 0.3))


@needs_genuine
@pytest.mark.parametrize("name", LINEAR)
def test_least_squares_has_the_errors_of_prechelt_s_linear_networks(name: str) -> None:
    """Reading, sets and error measure at once: a linear network trained to its end is least squares."""

    def design(part: ExampleSet) -> np.ndarray:
        return np.column_stack([np.ones(len(part)), part.inputs])

    parts = problem(name, folder=FOLDER)
    weights = np.linalg.lstsq(design(parts.training), parts.training.outputs, rcond=None)[0]
    errors = [float(squared_error_percentage(design(part) @ weights, part.outputs)) for part in parts]
    assert errors[0] <= LINEAR[name][0] + 0.005  # nothing linear has a smaller training error
    assert errors == pytest.approx(LINEAR[name], abs=0.07)
    assert errors[0] == pytest.approx(LINEAR[name][0], abs=0.025)
