"""First weights: NumPy's Philox, one stream for each seed, drawn for many seeds at once."""

import zlib

import numpy as np
import pytest

from redelve.errors import SpecError
from redelve.nets import Architecture, draw, initial_weights
from redelve.nets.starting import FEW, TOGETHER

SEEDS = [0, 1, 7, 2**63, 2**64 - 1, 123_456_789_012_345]


def network(connections: int) -> Architecture:
    return Architecture((connections - 1, 1), ("logistic",))


@pytest.mark.parametrize("connections", [2, 3, 4, 5, 8, 9, FEW, FEW + 1])
def test_numbers_are_those_of_numpys_generator_for_each_seed(connections: int) -> None:
    found = draw(network(connections), SEEDS, "weights", -1.4, 1.4)
    for seed, row in zip(SEEDS, found, strict=True):
        key = np.array([seed, zlib.crc32(b"weights")], dtype=np.uint64)
        own = np.random.Generator(np.random.Philox(key=key)).uniform(-1.4, 1.4, connections)
        np.testing.assert_array_equal(row, own)


def test_a_run_does_not_depend_on_how_many_there_are() -> None:
    many = initial_weights(network(9), range(5, 2 * TOGETHER + 8), 1.0)
    for place in (0, TOGETHER - 1, TOGETHER, 2 * TOGETHER + 2):
        np.testing.assert_array_equal(many[place], initial_weights(network(9), [5 + place], 1.0)[0])


def test_numbers_are_uniform_and_not_alike() -> None:
    found = draw(network(9), range(40_000), "weights", 0.0, 1.0)
    assert len(np.unique(found)) == found.size
    np.testing.assert_allclose(found.mean(axis=0), 0.5, atol=4 * 0.289 / 200)
    np.testing.assert_allclose(np.corrcoef(found.T) - np.eye(9), 0, atol=0.025)
    assert not (draw(network(9), range(3), "delta0", 0.0, 1.0) == found[:3]).any()


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_named(seed: int) -> None:
    with pytest.raises(SpecError, match=f"seed {seed}: give a number from 0"):
        draw(network(9), [3, seed], "weights", 0.0, 1.0)


def test_bounds_are_in_order() -> None:
    with pytest.raises(SpecError, match=r"weights between 1\.0 and -1\.0: give the smaller number first"):
        initial_weights(network(9), [1], -1.0)
