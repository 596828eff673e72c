"""The `pumadyn` family: how a joint of the Puma 560 robot arm accelerates."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.portable import Draws
from redelve.data.catalogue.puma560 import JOINTS, Motion, accelerate, frames
from redelve.data.catalogue.simulated_family import CASES, Account, Member, Simulation, member_files
from redelve.model.dataset import Numbers

WIDTH = {"8f": 0.6, "8n": 1.2, "32f": 0.7, "32n": 1.5}
"""How wide the inputs' ranges are, in the units of `attributes`: the more, the less linear."""
TORQUE = {8: 1.0, 32: 100.0}
NOISE = {
    "8fm": 0.12,
    "8fh": 0.40,
    "8nm": 0.12,
    "8nh": 0.40,
    "32fm": 0.003,
    "32fh": 0.010,
    "32nm": 0.005,
    "32nh": 1 / 60,
}
"""Standard deviation of the noise: on positions, speeds, torques and target (8), on the target alone (32)."""


class State(NamedTuple):
    """Positions, speeds and torques: rows are joints, columns cases."""

    theta: Numbers
    speed: Numbers
    torque: Numbers


ACCOUNT = Account(
    "accel",
    """\
{name}: {description}.

The task is to predict the angular acceleration of one joint of a Unimation
Puma 560 robot arm from the state of the arm. With 8 inputs these are the
positions and speeds of the first three joints and the torques of the first
two, and the third joint's acceleration is to be predicted. With 32 inputs
they are the positions and speeds of all six joints, the torques of the first
five, and factors by which five links differ from those of the standard arm
in mass, in length and in friction; the sixth joint's acceleration is to be
predicted. Many of the 32 inputs hardly matter, or not at all.

After the "pumadyn" family of the DELVE archive, made by Zoubin Ghahramani
with Peter Corke's Robotics Toolbox.
""",
    """\
The dynamics are those of rigid links with Corke's published parameters of the
arm (Corke and Armstrong-Helouvry 1994): gravity 9.81, inertia of the motors
included, no friction.

Eight inputs. As the original is described by others: with a width b of 1.2
(non-linear) or 0.6 (fairly linear), positions and speeds are uniform within
b pi/2 of zero and torques within b/2; joints four to six stand at zero, and
so do the other torques. Gaussian noise of standard deviation 0.12 (medium) or
0.40 (high) is added to the positions, speeds and torques of all six joints
before the acceleration is computed, and to the acceleration.

Thirty-two inputs. Columns, ranges (non-linear: b = 1.5, positions and speeds
within b pi/2, torques within 50 b, factors between 1 - b/2 and 1 + b), the
absence of friction (so that the factors db do not matter), what the factors
dm (mass and inertia) and da (length) act on, and the noise on the target
(Gaussian, standard deviation 0.005, a share of 0.027 of the variance) were
found by fitting the original pumadyn-32nm data, correlation 0.986. A public
sample of the original pumadyn-32fm, with all inputs scaled in one and the
same way, agrees with b = 0.7 (on 20 of its cases the accelerations computed
here correlate 0.987 with the targets); its noise share is about the same,
whence the standard deviation 0.003. The noise of the two members of high
unpredictability is redelve's own choice: 10/3 times as large, which is the
ratio for eight inputs.

The cases themselves are new: numbers obtained on these datasets and on the
original ones are alike but not equal. Values are written as in the original
files, with eight significant digits.
""",
)


def files(name: str) -> dict[str, str]:
    """All files of a member's folder."""
    member = Member.named(name)
    return member_files(member, attributes(member), simulate(member).scientific(), ACCOUNT)


pumadyn_8fm = partial(files, "pumadyn-8fm")
pumadyn_8fh = partial(files, "pumadyn-8fh")
pumadyn_8nm = partial(files, "pumadyn-8nm")
pumadyn_8nh = partial(files, "pumadyn-8nh")
pumadyn_32fm = partial(files, "pumadyn-32fm")
pumadyn_32fh = partial(files, "pumadyn-32fh")
pumadyn_32nm = partial(files, "pumadyn-32nm")
pumadyn_32nh = partial(files, "pumadyn-32nh")


def width(member: Member) -> float:
    """How wide the inputs' ranges are."""
    return WIDTH[f"{member.inputs}{member.linearity}"]


def attributes(member: Member) -> list[AttributeLine]:
    """The inputs and the target."""
    wide, free = width(member), 3 if member.inputs == 8 else 6
    turn, torque = f"{math.pi * wide / 2:.7f}", f"{TORQUE[member.inputs] * wide / 2:g}"
    joints = range(1, free + 1)
    found = [
        AttributeLine(f"theta{j}", f"[-{turn},{turn}]", f"Position of joint {j} (radians)") for j in joints
    ]
    found += [
        AttributeLine(f"thetad{j}", f"[-{turn},{turn}]", f"Speed of joint {j} (radians/s)") for j in joints
    ]
    found += [
        AttributeLine(f"tau{j}", f"[-{torque},{torque}]", f"Torque of joint {j} (N m)") for j in joints[:-1]
    ]
    if member.inputs == 32:
        factor = f"[{1 - wide / 2:g},{1 + wide:g}]"
        for name, what in (("dm", "mass and inertia"), ("da", "length"), ("db", "friction")):
            about = f"Factor on the {what} of link"
            found += [AttributeLine(f"{name}{j}", factor, f"{about} {j}") for j in joints[:-1]]
    return [
        *found,
        AttributeLine(f"thetadd{free}", "(-Inf,Inf)", f"Acceleration of joint {free} (radians/s2)"),
    ]


def simulate(member: Member) -> Simulation:
    """The cases of a member."""
    return simulate_8(member) if member.inputs == 8 else simulate_32(member)


def simulate_8(member: Member) -> Simulation:
    """Three joints move; noise on all inputs, also those of the other joints, and on the target."""
    draws, wide, noise = Draws(member.seed), width(member), NOISE[member.kind]
    theta, speed = (math.pi * draws.between(-wide / 2, wide / 2, 3, CASES) for _ in range(2))
    torque = TORQUE[8] * draws.between(-wide / 2, wide / 2, 2, CASES)
    inputs = State(all_joints(theta), all_joints(speed), all_joints(torque))
    noisy = State(*(part + noise * draws.normals(JOINTS, CASES) for part in inputs))
    targets = acceleration(noisy, joint=3) + noise * draws.normals(CASES)
    return Simulation(np.concatenate([theta, speed, torque]).T, targets, acceleration(inputs, joint=3))


def simulate_32(member: Member) -> Simulation:
    """All joints move, and the links differ from case to case; noise on the target."""
    draws, wide = Draws(member.seed), width(member)
    theta, speed = (math.pi * draws.between(-wide / 2, wide / 2, JOINTS, CASES) for _ in range(2))
    torque = TORQUE[32] * draws.between(-wide / 2, wide / 2, JOINTS - 1, CASES)
    masses, lengths, friction = (draws.between(1 - wide / 2, 1 + wide, JOINTS - 1, CASES) for _ in range(3))
    inputs = np.concatenate([theta, speed, torque, masses, lengths, friction]).T
    factors = [[*part, np.ones(CASES)] for part in (masses, lengths)]
    exact = acceleration(State(theta, speed, all_joints(torque)), *factors, joint=6)
    return Simulation(inputs, exact + NOISE[member.kind] * draws.normals(CASES), exact)


def all_joints(part: Numbers) -> Numbers:
    """Numbers for all joints, zero where none are given."""
    return np.concatenate([part, np.zeros((JOINTS - len(part), CASES))])


def acceleration(
    state: State, masses: Motion | None = None, lengths: Motion | None = None, *, joint: int
) -> Numbers:
    """The acceleration of one joint."""
    arm = frames(list(state.theta), masses, lengths)
    return accelerate(arm, list(state.speed), list(state.torque))[joint - 1]
