"""Functions and random numbers that are the same everywhere, against those of numpy and of `Uniforms`."""

from __future__ import annotations

import numpy as np

from redelve.data.catalogue.portable import Draws, exponential, logarithm, normal_pairs, sine_cosine
from redelve.data.catalogue.uniforms import Uniforms


def test_sines_and_cosines_are_right_to_the_last_bit_but_one() -> None:
    angles = np.linspace(-20, 20, 100_001)
    sine, cosine = sine_cosine(angles)
    assert np.abs(sine - np.sin(angles)).max() < 2.5e-16
    assert np.abs(cosine - np.cos(angles)).max() < 2.5e-16


def test_logarithms_and_exponentials_are_right() -> None:
    numbers = np.concatenate([np.linspace(2.0**-53, 1, 100_001), [1e-300, 0.5, 1e300]])
    assert np.allclose(logarithm(numbers), np.log(numbers), rtol=1e-15, atol=0)
    powers = np.linspace(-700, 700, 100_001)
    assert np.allclose(exponential(powers), np.exp(powers), rtol=1e-15, atol=0)


def test_the_stream_is_that_of_uniforms() -> None:
    one, many = Uniforms(7), Draws(7)
    assert many.uniforms(3).tolist() == [one.uniform() for _ in range(3)]
    assert many.uniforms(2, 2).ravel().tolist() == [one.uniform() for _ in range(4)]
    assert Draws(7).at(np.array([6], dtype=np.uint64)) == many.at(np.arange(7, dtype=np.uint64))[-1]


def test_distributions_have_their_moments() -> None:
    count = 100_000
    normals = Draws(1).normals(count)
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((normals**power).mean() - moment) < 4 * np.sqrt(variance / count)
    first, second = normal_pairs(Draws(2).uniforms(count), Draws(3).uniforms(count))
    assert abs((first * second).mean()) < 4 / np.sqrt(count)
    assert abs(Draws(4).exponentials(3.0, count).mean() - 3) < 4 * 3 / np.sqrt(count)
    integers = Draws(5).integers(-1, 1, count)
    assert np.unique(integers).tolist() == [-1, 0, 1]
    assert abs(integers.mean()) < 4 * np.sqrt(2 / 3 / count)
