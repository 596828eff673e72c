"""The pumadyn family: the dynamics against energy, kinematics and published values, then the cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from redelve.data.catalogue.puma560 import GRAVITY, LINKS, Motion, accelerate, frames, mass_matrix, torques
from redelve.data.catalogue.pumadyn import simulate
from redelve.data.catalogue.simulated_family import Member
from tests.conftest import RunCommand
from tests.data.catalogue.simulated import Numbers, check_member, digest, folder, linear_share, members

USUAL = ("8nm", "32nm")
PINNED = {
    "pumadyn-8fm": "a0536cdced2dbbdfba8f7a43dbd9f9a3768ef732b7ebf23e24a3688b86ba1851",
    "pumadyn-8fh": "06d8e5a9c79380ae84e6fac718ac05e5b4853797811d7d17e6b7bf5c1391a90c",
    "pumadyn-8nm": "543063a9d379375ed48d506841694d9d2b5c66da119a00926e6094bdab3d0c7c",
    "pumadyn-8nh": "3ba68c85869633825fd3a002c5e0e9471e6428107585c319b113a92005a381df",
    "pumadyn-32fm": "d0d5c6b6efceb923cdba5f312c63232c64b3ac89af8f16e884be5e33dc09364d",
    "pumadyn-32fh": "ce9ab4e9e6d219c5cf46ebbbe130e6ad5861612a91e32ea1bf198e362d8a4aa5",
    "pumadyn-32nm": "4849274020402b78f0077dbc9ab36b1a3d55bbfbba6d29987d4b5a99995fe8af",
    "pumadyn-32nh": "c84a85270dfd8133afb1e707bda0be8647f5521c5a0977df93c0feec30435075",
}
CASES = 50


def motion(seed: int, low: float, high: float) -> Motion:
    return list(np.random.default_rng(seed).uniform(low, high, (6, CASES)))


POSE, SPEED = motion(1, -2.4, 2.4), motion(2, -2.4, 2.4)
MASSES, LENGTHS = motion(3, 0.25, 2.5), motion(4, 0.25, 2.5)
STILL: Motion = [np.zeros(CASES)] * 6


def places(pose: Motion) -> list[Numbers]:
    """The frames of the links as 4 by 4 matrices, for each arm."""
    place, found = np.tile(np.eye(4), (CASES, 1, 1)), []
    for angle, factor, link in zip(pose, LENGTHS, LINKS, strict=True):
        sine, cosine = np.sin(angle), np.cos(angle)
        twist_sine, twist_cosine = link.twist
        step = np.zeros((CASES, 4, 4))
        step[:, 0] = np.stack(
            [cosine, -sine * twist_cosine, sine * twist_sine, link.length * factor * cosine], 1
        )
        step[:, 1] = np.stack(
            [sine, cosine * twist_cosine, -cosine * twist_sine, link.length * factor * sine], 1
        )
        step[:, 2] = [0, twist_sine, twist_cosine, link.offset]
        step[:, 3, 3] = 1
        place = place @ step
        found.append(place)
    return found


def energy(pose: Motion, speed: Motion, *, weight: float = GRAVITY) -> Numbers:
    """Kinetic and potential energy from differences of the links' places; nothing of the dynamics is used."""
    step = 1e-6
    later, earlier = (
        places([a + sign * v for a, v in zip(pose, speed, strict=True)]) for sign in (step, -step)
    )
    found: Numbers = np.zeros(CASES)
    for number, (link, now) in enumerate(zip(LINKS, places(pose), strict=True)):
        change = (later[number] - earlier[number]) / (2 * step)
        centre = np.array([*link.centre, 1.0])
        spin = np.swapaxes(now[:, :3, :3], 1, 2) @ change[:, :3, :3]
        turning = (spin[:, [2, 0, 1], [1, 2, 0]] ** 2 * link.inertia).sum(axis=1)
        moving = link.mass * ((change @ centre)[:, :3] ** 2).sum(axis=1)
        found += MASSES[number] * (moving + turning) / 2 + link.motor * link.gear**2 * speed[number] ** 2 / 2
        found += MASSES[number] * link.mass * weight * (now @ centre)[:, 2]
    return found


def test_inertia_and_weight_are_as_corke_published_them() -> None:
    # Corke (2011), "Robotics, Vision and Control", section 9.2: p560.inertia(qn) and p560.gravload(qn)
    arm = frames([np.array([angle]) for angle in (0, np.pi / 4, np.pi, 0, np.pi / 4, 0)])
    expected = np.diag([3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941])
    for row, column, value in (
        (0, 1, -0.4044),
        (0, 2, 0.1006),
        (0, 3, -0.0025),
        (1, 2, 0.3509),
        (1, 4, 0.0024),
        (2, 4, 0.0015),
    ):
        expected[row, column] = expected[column, row] = value
    assert np.allclose(np.array(mass_matrix(arm))[:, :, 0], expected, atol=5.1e-5)
    weights = np.ravel(torques(arm, [np.zeros(1)] * 6, [np.zeros(1)] * 6))
    assert np.allclose(weights, [0, 31.6399, 6.0351, 0, 0.0283, 0], atol=5.1e-5)


def test_the_mass_matrix_is_symmetric_positive_and_that_of_the_kinetic_energy() -> None:
    matrix = np.moveaxis(np.array(mass_matrix(frames(POSE, MASSES, LENGTHS))), 2, 0)
    assert np.allclose(matrix, np.swapaxes(matrix, 1, 2), atol=1e-13)
    assert np.linalg.eigvalsh(matrix).min() > 0.1
    speed = np.array(SPEED).T
    kinetic = np.einsum("ci,cij,cj->c", speed, matrix, speed) / 2
    assert np.allclose(kinetic, energy(POSE, SPEED, weight=0.0), rtol=1e-7)


def test_forward_dynamics_undoes_inverse_dynamics() -> None:
    arm, wanted = frames(POSE, MASSES, LENGTHS), motion(5, -5, 5)
    assert np.allclose(accelerate(arm, SPEED, torques(arm, SPEED, wanted)), wanted, atol=1e-12)


def test_energy_changes_by_the_power_of_the_motors() -> None:
    driving, step = motion(6, -75, 75), 1e-5
    gained = accelerate(frames(POSE, MASSES, LENGTHS), SPEED, driving)
    after, before = (
        energy(
            [q + sign * v + sign**2 / 2 * a for q, v, a in zip(POSE, SPEED, gained, strict=True)],
            [v + sign * a for v, a in zip(SPEED, gained, strict=True)],
        )
        for sign in (step, -step)
    )
    power = sum(tau * v for tau, v in zip(driving, SPEED, strict=True))
    assert np.allclose((after - before) / (2 * step), power, atol=0.01)


def test_a_free_arm_keeps_its_energy() -> None:
    pose, speed, step = np.array(POSE), np.array(SPEED), 0.002

    def slope(pose: Numbers, speed: Numbers) -> Numbers:
        return np.array(accelerate(frames(list(pose), MASSES, LENGTHS), list(speed), STILL))

    for _ in range(25):  # Runge and Kutta's method
        k1 = slope(pose, speed)
        k2 = slope(pose + step / 2 * speed, speed + step / 2 * k1)
        k3 = slope(pose + step / 2 * speed + step**2 / 4 * k1, speed + step / 2 * k2)
        k4 = slope(pose + step * speed + step**2 / 2 * k2, speed + step * k3)
        pose = pose + step * speed + step**2 / 6 * (k1 + k2 + k3)
        speed = speed + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    assert np.abs(pose - POSE).max() > 0.1
    assert np.allclose(energy(list(pose), list(speed)), energy(POSE, SPEED), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("name", members("pumadyn", USUAL))
def test_members_are_complete_and_in_their_ranges(name: str) -> None:
    check_member(name, "accel")


@pytest.mark.parametrize("name", members("pumadyn", USUAL))
def test_the_cases_are_the_same_everywhere(name: str) -> None:
    assert digest(name) == PINNED[name]


@pytest.mark.parametrize("inputs", [8, 32])
def test_noise_and_linearity_are_what_the_names_say(inputs: int) -> None:
    noise, linear = {}, {}
    for kind in ("fm", "fh", "nm", "nh"):
        simulation = simulate(Member("pumadyn", inputs, *kind))
        assert simulation.noise_free is not None
        noise[kind] = simulation.noise_share
        linear[kind] = linear_share(simulation.inputs, simulation.noise_free)
    assert max(noise["fm"], noise["nm"]) < 0.06
    assert 0.2 < min(noise["fh"], noise["nh"]) <= max(noise["fh"], noise["nh"]) < 0.45
    assert min(linear["fm"], linear["fh"]) > 0.94
    assert max(linear["nm"], linear["nh"]) < 0.6


def test_pumadyn_32nm_has_the_originals_noise_share_and_scale() -> None:
    simulation = simulate(Member.named("pumadyn-32nm"))
    assert simulation.noise_share == pytest.approx(0.0274, abs=0.002)
    assert simulation.targets.std() == pytest.approx(0.005 / np.sqrt(0.0274), rel=0.03)


def test_factors_on_friction_do_not_matter() -> None:
    simulation = simulate(Member.named("pumadyn-32nm"))
    for column in simulation.inputs.T[27:]:
        assert abs(np.corrcoef(column, simulation.targets)[0, 1]) < 0.05


def test_numbers_are_written_as_in_the_original() -> None:
    values = folder("pumadyn-8nm")["Dataset.data"].split("\n", 1)[0].split(" ")
    assert values == [f"{float(value):.7e}" for value in values]


def test_dcheck_finds_nothing(delve_home: Path, run_command: RunCommand) -> None:
    assert run_command("dcheck", ["/pumadyn-32nm"]).out == "/pumadyn-32nm: no problems found\n"
