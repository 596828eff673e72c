"""The benchmark problems of training time."""

import numpy as np
import pytest

from redelve.errors import SpecError
from redelve.studies.hamey import encoder, exclusive_or, parity, problem_named, two_spirals


def test_exclusive_or_is_parity_of_two() -> None:
    one, other = exclusive_or(), parity(2)
    assert one.layers == other.layers == "2-2-1"
    np.testing.assert_array_equal(one.data.inputs, other.data.inputs)
    np.testing.assert_array_equal(one.data.targets, other.data.targets)


@pytest.mark.parametrize("bits", [3, 5])
def test_parity_is_odd_when_one_bit_is_turned(bits: int) -> None:
    data = parity(bits).data
    answers = {tuple(row): int(target[0]) for row, target in zip(data.inputs, data.targets, strict=True)}
    assert len(answers) == 2**bits
    for bits_of_case, answer in answers.items():
        turned = (1 - bits_of_case[0], *bits_of_case[1:])
        assert answers[turned] == 1 - answer


def test_an_encoder_says_what_it_is_given() -> None:
    problem = encoder(8, 3)
    assert problem.layers == "8-3-8"
    np.testing.assert_array_equal(problem.data.inputs, problem.data.targets)
    assert (problem.data.inputs.sum(axis=1) == 1).all()
    assert encoder().layers == "10-5-10"


def test_two_spirals_are_194_points_opposite_each_other() -> None:
    problem = two_spirals()
    inputs, targets = problem.data.inputs, problem.data.targets[:, 0]
    assert inputs.shape == (194, 2)
    np.testing.assert_allclose(inputs[targets == 1], -inputs[targets == 0])
    np.testing.assert_allclose(inputs[0], [0, 6.5], atol=1e-12)
    np.testing.assert_allclose(np.hypot(*inputs[96]), 0.5)
    assert problem.architecture.shortcuts
    # Lang and Witbrock (1988): 138 weights in a 2-5-5-5-1 network with shortcuts
    assert problem.architecture.connection_count == 138


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("xor", "2-2-1"),
        ("exclusive-or", "2-2-1"),
        ("encoder", "10-5-10"),
        ("encoder-8-3", "8-3-8"),
        ("encoder-4-2-4", "4-2-4"),
        ("parity-4", "4-4-1"),
        ("parity-4-8", "4-8-1"),
        ("two-spirals", "2-5-5-5-1"),
    ],
)
def test_problems_have_names(name: str, layers: str) -> None:
    assert problem_named(name).layers == layers
    assert problem_named(problem_named(name).name).layers == layers


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("xnor", 'unknown problem "xnor": give one such as xor, encoder'),
        ("xor-3", 'unknown problem "xor-3"'),
        ("parity-three", 'unknown problem "parity-three"'),
        ("encoder-8-3-9", "encoder 8-3-9: an encoder has as many outputs as inputs"),
        ("parity-17", "parity of 17 bits, 17 hidden units: give 2 to 16 bits"),
        ("encoder-1-5", "encoder 1-5-1: give 2 or more inputs"),
    ],
)
def test_errors_name_the_culprit(name: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        problem_named(name)
