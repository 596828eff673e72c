"""The `kin` family: how far the hand of a robot arm with eight joints is from a target.

The links are described by Denavit and Hartenberg's parameters: angle theta, twist alpha, length a, offset d.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.portable import Draws, sine_cosine
from redelve.data.catalogue.simulated_family import CASES, Account, Member, Simulation, member_files
from redelve.model.dataset import Numbers

JOINTS = 8
POINT = {"8f": 0.1, "8n": 0.1, "32f": 0.2, "32n": 0.1}
"""Each coordinate of the point from which the distance is measured."""

TWISTS = tuple(quarters * math.pi / 2 for quarters in (1, 0, -1, 1, -1, 0, 2, 0))
LENGTHS = (0.0, 0.4318, 0.0203, 0.0, 0.0, 0.0, 0.2, 0.3)
OFFSETS = (0.0, 0.0, 0.15005, 0.4318, 0.0, -0.1, 0.0, 0.0)

ANGLE = {"f": math.pi / 10, "n": math.pi / 2}
"""Angles are uniform between minus and plus this."""
TWIST = {"f": math.pi / 8, "n": math.pi / 2}
"""With 32 inputs each twist is minus this, nothing or plus this."""
LINK, LINK_SPREAD = 0.3, 0.014
"""With 32 inputs, mean and standard deviation of the lengths and offsets that are not zero."""
LENGTH_PRESENT, OFFSET_PRESENT = 0.7, 0.5
NOISE = {
    "8fm": 0.047,
    "8fh": 0.177,
    "8nm": 0.2,
    "8nh": 0.588,
    "32fm": 0.0545,
    "32fh": 0.1355,
    "32nm": 0.0622,
    "32nh": 0.2,
}
"""Uniform noise between minus and plus this is added to every input before the distance is computed."""


class Arm(NamedTuple):
    """Arms: rows are joints, columns cases."""

    theta: Numbers
    alpha: Numbers
    a: Numbers
    d: Numbers


ACCOUNT = Account(
    "dist",
    """\
{name}: {description}.

A robot arm has eight links, one behind the other, each of which turns about
a joint. The task is to predict how far the hand is from a given point. With
8 inputs the arm is always the same one, a Puma 560 with two links added, and
the inputs are the angles of its joints. With 32 inputs every case has an arm
of its own: to the angles come the twists, lengths and offsets of the links.
What cannot be predicted stems from noise on the inputs: the distance is that
of an arm whose joints stand a little differently from what is recorded.

After the "kin" family of the DELVE archive, made by Zoubin Ghahramani.
""",
    """\
Eight inputs. The constants of the arm, the point (0.1, 0.1, 0.1), the ranges
of the angles (within pi/2 of zero if non-linear, pi/10 if fairly linear) and
the kind and amount of noise (uniform, on every angle) were found by fitting
the original kin-8nm data; the amounts for the other three members are set so
that the share of the targets' variance that is noise is that of the original
data (fm 0.024, fh 0.253, nm 0.043, nh 0.342).

Thirty-two inputs. A sample of the original kin-32fm is public, with all its
inputs scaled in one and the same way. It shows eight angles, eight twists
with three equally frequent values, eight lengths and eight offsets that are
either zero or near one common value. Taken as angles within pi/10, twists of
-pi/8, 0 or pi/8 and links of 0.3 (standard deviation 0.014; lengths present
with probability 0.7, offsets with 0.5), distances from the point (0.2, 0.2,
0.2) explain all but 0.05 of the variance of the sample's 4094 sound targets,
and nothing in the inputs explains any of that rest: it is noise, which grows
with the distance as noise on all inputs does. That is used here for the fairly
linear members; the noise share of kin-32fh is that of kin-8fh. For the
non-linear ones, of which no data were available, the point (0.1, 0.1, 0.1),
angles within pi/2 and twists of -pi/2, 0 or pi/2 are redelve's own choice. So
is the kind of noise: uniform on every one of the 32 inputs, as much as gives
kin-32nm and kin-32nh the noise shares of those with 8.

The cases themselves are new: numbers obtained on these datasets and on the
original ones are alike but not equal. Values are written as in the original
files: eight significant digits, right-justified in 16 columns.
""",
)


def files(name: str) -> dict[str, str]:
    """All files of a member's folder."""
    member = Member.named(name)
    rows = simulate(member).scientific()
    found = member_files(member, attributes(member), rows, ACCOUNT)
    found["Dataset.data"] = "".join(f"{''.join(f'{value:>16}' for value in row)}\n" for row in rows)
    return found


kin_8fm = partial(files, "kin-8fm")
kin_8fh = partial(files, "kin-8fh")
kin_8nm = partial(files, "kin-8nm")
kin_8nh = partial(files, "kin-8nh")
kin_32fm = partial(files, "kin-32fm")
kin_32fh = partial(files, "kin-32fh")
kin_32nm = partial(files, "kin-32nm")
kin_32nh = partial(files, "kin-32nh")


def attributes(member: Member) -> list[AttributeLine]:
    """The inputs and the target."""
    limit, twist = (f"{scale[member.linearity]:.7f}" for scale in (ANGLE, TWIST))
    joints = range(1, JOINTS + 1)
    found = [
        AttributeLine(f"theta{j}", f"[-{limit},{limit}]", f"Angle of joint {j} (radians)") for j in joints
    ]
    if member.inputs == 32:
        twists = f"[-{twist},{twist}]"
        found += [AttributeLine(f"alpha{j}", twists, f"Twist of link {j} (radians)") for j in joints]
        found += [AttributeLine(f"a{j}", "[0,Inf)", f"Length of link {j} (metres)") for j in joints]
        found += [AttributeLine(f"d{j}", "[0,Inf)", f"Offset of link {j} (metres)") for j in joints]
    return [*found, AttributeLine("y", "[0,Inf)", "Distance of the hand from the target (metres)")]


def simulate(member: Member) -> Simulation:
    """The cases of a member."""
    draws = Draws(member.seed)
    varies = member.inputs == 32
    arm = draw_arm(draws, member) if varies else standard_arm(draws, member)
    used = arm if varies else (arm.theta,)
    width = NOISE[member.kind]
    noisy = arm._replace(theta=arm.theta + draws.between(-width, width, JOINTS, CASES))
    if varies:
        alpha, a, d = (part + draws.between(-width, width, JOINTS, CASES) for part in arm[1:])
        noisy = Arm(noisy.theta, alpha, a, d)
    point = POINT[f"{member.inputs}{member.linearity}"]
    return Simulation(np.concatenate(used).T, distance(noisy, point), distance(arm, point))


def standard_arm(draws: Draws, member: Member) -> Arm:
    """The arm of the members with eight inputs, in random poses."""
    limit = ANGLE[member.linearity]
    constants = (np.repeat(np.array([row]).T, CASES, axis=1) for row in (TWISTS, LENGTHS, OFFSETS))
    return Arm(draws.between(-limit, limit, JOINTS, CASES), *constants)


def draw_arm(draws: Draws, member: Member) -> Arm:
    """Random arms in random poses."""
    limit = ANGLE[member.linearity]
    theta = draws.between(-limit, limit, JOINTS, CASES)
    alpha = TWIST[member.linearity] * draws.integers(-1, 1, JOINTS, CASES)
    return Arm(theta, alpha, draw_links(draws, LENGTH_PRESENT), draw_links(draws, OFFSET_PRESENT))


def draw_links(draws: Draws, present: float) -> Numbers:
    """Random lengths or offsets, present with this probability and else zero."""
    is_present = draws.uniforms(JOINTS, CASES) < present
    return np.where(is_present, LINK + LINK_SPREAD * draws.normals(JOINTS, CASES), 0.0)


def distance(arm: Arm, point: float) -> Numbers:
    """How far the hand is from `point` (each coordinate); each link moves what is beyond, hand first."""
    x = y = z = np.zeros(arm.theta.shape[1])
    for joint in reversed(range(JOINTS)):
        sine, cosine = sine_cosine(arm.theta[joint])
        twist_sine, twist_cosine = sine_cosine(arm.alpha[joint])
        x = x + arm.a[joint]
        y, z = twist_cosine * y - twist_sine * z, twist_sine * y + twist_cosine * z + arm.d[joint]
        x, y = cosine * x - sine * y, sine * x + cosine * y
    x, y, z = x - point, y - point, z - point
    found: Numbers = np.sqrt(x * x + y * y + z * z)
    return found
