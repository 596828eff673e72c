"""The kin family: byte by byte, against an arm of matrices, and with the original's noise and linearity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from redelve.data.catalogue.kin import LENGTHS, OFFSETS, TWISTS, simulate
from redelve.data.catalogue.simulated_family import Member
from redelve.data.delve.reading import Library, TaskSource
from redelve.data.delve.roots import DataAddress, active
from redelve.methods.builtin.linear import lin_1
from redelve.model import Instance
from redelve.model.dataset import Column, SelectedColumn
from redelve.model.encodings import fit
from tests.conftest import RunCommand
from tests.data.catalogue.simulated import (
    Numbers,
    check_member,
    digest,
    folder,
    linear_share,
    members,
    table,
)

USUAL = ("8fm", "8fh", "8nm", "8nh", "32nm")
NOISE_SHARES = {"8fm": 0.024, "fh": 0.253, "nm": 0.043, "nh": 0.342}  # of the original kin-8 data
NOISE_SHARES |= {"32fm": 0.049}  # what distances leave of the 4094 sound targets of the original kin-32fm
PINNED = {
    "kin-8fm": "640f80d339388b480c2b630cfdde5e9a7df6bcd627b40b02cb43584c03c69764",
    "kin-8fh": "d55c4157cba1aac080214668cc7ebff1f9395a60f8e3b7ac399103c791b5ff79",
    "kin-8nm": "a928cca70e132ca385cc84a009f169dab7a52fc13f4c618aebb4160bd7b00513",
    "kin-8nh": "90ce228c8565fefd64e6c737190972aabb95797361c6d97f6ab3cb9064ebcf7e",
    "kin-32fm": "837bb0909e7291afbd317aef7bbb74ce81d7416f12360af48c0f4e14925b872e",
    "kin-32fh": "dfa1c944578e5004a5ac0bd35817f5da5a285cf0268eb4f13494a2afa60077dd",
    "kin-32nm": "45b66d4f5672e4a044667c5e9e47afa541d7164fa7c015c996a4bf67bd5e26ac",
    "kin-32nh": "562a9852fa9b87e3494bfb7c0e75ffcb840be48ed2995b38a1894e3f4d5b4452",
}


@pytest.mark.parametrize("name", members("kin", USUAL))
def test_members_are_complete_and_in_their_ranges(name: str) -> None:
    check_member(name, "dist")


@pytest.mark.parametrize("name", members("kin", USUAL))
def test_the_cases_are_the_same_everywhere(name: str) -> None:
    assert digest(name) == PINNED[name]


@pytest.mark.parametrize("name", members("kin", USUAL))
def test_the_noise_share_is_the_originals(name: str) -> None:
    share = NOISE_SHARES.get(name[-2:]) or NOISE_SHARES[name.removeprefix("kin-")]
    assert simulate(Member.named(name)).noise_share == pytest.approx(share, abs=0.01)


def arm_of_matrices(theta: Numbers, alpha: Numbers, a: Numbers, d: Numbers) -> float:
    """The distance of the hand, by the product of Denavit and Hartenberg's matrices."""
    place = np.eye(4)
    for t, s, length, offset in zip(theta, alpha, a, d, strict=True):
        turn = np.array(
            [[np.cos(t), -np.sin(t), 0, 0], [np.sin(t), np.cos(t), 0, 0], [0, 0, 1, offset], [0, 0, 0, 1]]
        )
        twist = np.array(
            [[1, 0, 0, length], [0, np.cos(s), -np.sin(s), 0], [0, np.sin(s), np.cos(s), 0], [0, 0, 0, 1]]
        )
        place = place @ turn @ twist
    return float(np.linalg.norm(place[:3, 3] - 0.1))


@pytest.mark.parametrize("name", ["kin-8nm", "kin-32nm"])
def test_without_noise_the_target_is_the_distance_by_matrices(name: str) -> None:
    simulation = simulate(Member.named(name))
    assert simulation.noise_free is not None
    for inputs, distance in zip(simulation.inputs[:200], simulation.noise_free[:200], strict=True):
        constants = (TWISTS, LENGTHS, OFFSETS) if len(inputs) == 8 else inputs[8:].reshape(3, 8)
        assert arm_of_matrices(inputs[:8], *map(np.asarray, constants)) == pytest.approx(distance, abs=1e-12)


@pytest.mark.parametrize("inputs", [8, 32])
def test_fairly_linear_members_are_more_linear(inputs: int) -> None:
    shares = {}
    for linearity in "fn":
        simulation = simulate(Member("kin", inputs, linearity, "m"))
        assert simulation.noise_free is not None
        shares[linearity] = linear_share(simulation.inputs, simulation.noise_free)
    assert shares["f"] > 0.9
    assert shares["n"] < 0.5


def test_numbers_are_written_as_in_the_original() -> None:
    lines = folder("kin-8nm")["Dataset.data"].splitlines()
    assert {len(line) for line in lines} == {9 * 16}
    first = [f"{value:.7e}" for value in table("kin-8nm")[0]]
    assert lines[0] == "".join(value.rjust(16) for value in first)


def test_dcheck_finds_nothing(delve_home: Path, run_command: RunCommand) -> None:
    assert run_command("dcheck", ["/kin-8nm"]).out == "/kin-8nm: no problems found\n"


def standardised_loss(source: TaskSource) -> float:
    """The squared error of lin-1 over the variance of all test targets, by way of the default encodings."""
    squares, targets = [], []
    for instance in source.instances():
        guesses, truth = guess(source, instance)
        squares.append((guesses - truth) ** 2)
        targets.append(truth)
    return float(np.concatenate(squares).mean() / np.concatenate(targets).var(ddof=1))


def guess(source: TaskSource, instance: Instance) -> tuple[Numbers, Numbers]:
    """lin-1's guesses for an instance, decoded, and the true targets."""
    training, testing = (
        [SelectedColumn(column, rows) for column in source.data.cases.columns]
        for rows in (instance.training, instance.testing)
    )
    codings, prior = source.default_codings(), source.task.prior
    encoders = [
        fit(attribute, prior.attribute(attribute.number), codings[attribute.number], column)
        for attribute, column in zip(source.data.attributes, training, strict=True)
    ]

    def coded(columns: Sequence[Column]) -> Numbers:
        pairs = zip(encoders, columns, strict=False)
        return np.column_stack([one.numbers for encoder, column in pairs for one in encoder.encode(column)])

    known = coded(training)
    mean = lin_1(known[:, :-1], known[:, -1:], coded(testing[:-1])).mean[:, 0]
    texts = np.array([repr(float(value)) for value in mean], dtype=object)
    return encoders[-1].decode([texts]).astype(np.float64), testing[-1].numbers()


@pytest.mark.parametrize(("size", "loss", "tolerance"), [(1024, 0.57, 0.03), (64, 0.66, 0.07)])
def test_lin_1_does_as_well_as_on_the_original(
    delve_home: Path, tmp_path: Path, size: int, loss: float, tolerance: float
) -> None:
    # the original kin-8nm gives 0.569 and 0.655
    library = Library(active(str(tmp_path)))
    source = library.task(DataAddress.parse(f"/kin-8nm/dist/std.{size}"))
    assert len(source.instances()) == (4 if size == 1024 else 8)
    assert standardised_loss(source) == pytest.approx(loss, abs=tolerance)
