"""The dynamics of the Puma 560 robot arm, for many arms at once.

Parameters: Corke and Armstrong-Hélouvry (1994), "A search for consensus among model parameters reported for
the PUMA 560 robot", as published with Corke's Robotics Toolbox (standard Denavit-Hartenberg convention, SI
units). Algorithm: recursive Newton-Euler (Luh, Walker and Paul 1980), from which the mass matrix comes column
by column (Walker and Orin 1982, method 1). Everything is written out in components, so that no library
chooses the order of additions and the results have the same bits everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from redelve.data.catalogue.portable import sine_cosine
from redelve.model.dataset import Numbers

GRAVITY = 9.81
JOINTS = 6

Vector = tuple[Numbers, Numbers, Numbers]
Motion = list[Numbers]
"""A number for each joint: an array over the arms."""


class Link(NamedTuple):
    """A link: geometry, mass, centre of mass, moments of inertia about it, motor's inertia, gear ratio."""

    twist: tuple[float, float]
    """Sine and cosine of the angle alpha."""
    length: float
    offset: float
    mass: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float]
    motor: float
    gear: float


LINKS = (
    Link((1, 0), 0.0, 0.0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.35, 0.0), 200e-6, 62.6111),
    Link((0, 1), 0.4318, 0.0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539), 200e-6, 107.815),
    Link((-1, 0), 0.0203, 0.15005, 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125), 200e-6, 53.7063),
    Link((1, 0), 0.0, 0.4318, 0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3), 33e-6, 76.0364),
    Link((-1, 0), 0.0, 0.0, 0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3), 33e-6, 71.923),
    Link((0, 1), 0.0, 0.0, 0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), 33e-6, 76.686),
)


class ArmFrame(NamedTuple):
    """How a link stands to the one before it, in one pose."""

    sine: Numbers
    cosine: Numbers
    twist: tuple[float, float]
    origin: Vector
    """From the frame before to this one, seen from this one."""
    centre: Vector
    mass: Numbers
    inertia: Vector
    motor: float

    def inward(self, vector: Vector) -> Vector:
        """A vector of the frame before, seen from this frame."""
        x, y, z = vector
        sine, cosine = self.twist
        across = self.cosine * y - self.sine * x
        return self.cosine * x + self.sine * y, cosine * across + sine * z, cosine * z - sine * across

    def outward(self, vector: Vector) -> Vector:
        """A vector of this frame, seen from the frame before."""
        x, y, z = vector
        sine, cosine = self.twist
        across = cosine * y - sine * z
        return (
            self.cosine * x - self.sine * across,
            self.sine * x + self.cosine * across,
            sine * y + cosine * z,
        )


def frames(angles: Motion, masses: Motion | None = None, lengths: Motion | None = None) -> list[ArmFrame]:
    """The links in a pose; `masses` multiply masses and inertias of the links, `lengths` their lengths."""
    one = np.ones_like(angles[0])
    found = []
    for joint, link in enumerate(LINKS):
        sine, cosine = sine_cosine(angles[joint])
        mass = one if masses is None else masses[joint]
        length = link.length * (one if lengths is None else lengths[joint])
        origin = (length, one * (link.offset * link.twist[0]), one * (link.offset * link.twist[1]))
        x, y, z = (one * component for component in link.centre)
        inertia = (mass * link.inertia[0], mass * link.inertia[1], mass * link.inertia[2])
        motor = link.motor * link.gear * link.gear
        found.append(ArmFrame(sine, cosine, link.twist, origin, (x, y, z), mass * link.mass, inertia, motor))
    return found


def torques(arm: list[ArmFrame], speeds: Motion, accelerations: Motion, gravity: float = GRAVITY) -> Motion:
    """What the motors must do for these accelerations: Newton-Euler, outwards and then inwards."""
    forces: list[tuple[Vector, Vector]] = []
    nothing = np.zeros_like(speeds[0])
    spin: Vector = (nothing, nothing, nothing)
    twirl, push = spin, (nothing, nothing, nothing + gravity)
    for frame, speed, acceleration in zip(arm, speeds, accelerations, strict=True):
        x, y = twirl[0] + spin[1] * speed, twirl[1] - spin[0] * speed
        twirl = frame.inward((x, y, twirl[2] + acceleration))
        spin = frame.inward((spin[0], spin[1], spin[2] + speed))
        push = add(frame.inward(push), carried(spin, twirl, frame.origin))
        at_centre = add(push, carried(spin, twirl, frame.centre))
        moment = times(frame.inertia, twirl)
        gyroscopic = cross(spin, times(frame.inertia, spin))
        forces.append((times((frame.mass,) * 3, at_centre), add(moment, gyroscopic)))
    return inwards(arm, forces, accelerations)


def inwards(arm: list[ArmFrame], forces: list[tuple[Vector, Vector]], accelerations: Motion) -> Motion:
    """The torques of the joints, from the force and moment on each link, beginning at the hand."""
    nothing = np.zeros_like(accelerations[0])
    force: Vector = (nothing, nothing, nothing)
    moment = force
    found: Motion = []
    for joint in reversed(range(JOINTS)):
        frame, (own_force, own_moment) = arm[joint], forces[joint]
        arm_to_centre = add(frame.origin, frame.centre)
        own = add(cross(arm_to_centre, own_force), own_moment)
        moment = add(add(moment, cross(frame.origin, force)), own)
        force = add(force, own_force)
        moment, force = frame.outward(moment), frame.outward(force)
        found.append(moment[2] + frame.motor * accelerations[joint])
    return found[::-1]


def mass_matrix(arm: list[ArmFrame]) -> list[Motion]:
    """The matrix by which accelerations become torques; it is symmetric."""
    nothing = np.zeros_like(arm[0].sine)
    still = [nothing] * JOINTS
    unit = [[nothing + (row == column) for row in range(JOINTS)] for column in range(JOINTS)]
    return [torques(arm, still, column, gravity=0.0) for column in unit]


def accelerate(arm: list[ArmFrame], speeds: Motion, driving: Motion) -> Motion:
    """The accelerations that the driving torques cause: forward dynamics."""
    still = [np.zeros_like(speeds[0])] * JOINTS
    resisting = torques(arm, speeds, still)
    excess = [drive - resist for drive, resist in zip(driving, resisting, strict=True)]
    return solve(mass_matrix(arm), excess)


def solve(matrix: list[Motion], right: Motion) -> Motion:
    """Symmetric positive definite equations, by L D L' factors; every number is an array over the arms."""
    size = len(right)
    lower = [list(row) for row in matrix]
    for column in range(size):
        for row in range(column + 1, size):
            factor = lower[row][column] / lower[column][column]
            for other in range(row, size):
                lower[other][row] = lower[other][row] - factor * lower[other][column]
    value = list(right)
    for column in range(size):
        for row in range(column + 1, size):
            value[row] = value[row] - lower[row][column] / lower[column][column] * value[column]
    for row in reversed(range(size)):
        value[row] = value[row] / lower[row][row]
        for column in range(row):
            value[column] = value[column] - lower[row][column] * value[row]
    return value


def carried(spin: Vector, twirl: Vector, place: Vector) -> Vector:
    """The acceleration of a place of a turning body relative to the body's origin."""
    return add(cross(twirl, place), cross(spin, cross(spin, place)))


def add(left: Vector, right: Vector) -> Vector:
    """The sum of two vectors."""
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def times(left: Vector, right: Vector) -> Vector:
    """The products of the components."""
    return left[0] * right[0], left[1] * right[1], left[2] * right[2]


def cross(left: Vector, right: Vector) -> Vector:
    """The vector product."""
    return (
        left[1] * right[2] - left[2] * right[1],
        left[2] * right[0] - left[0] * right[2],
        left[0] * right[1] - left[1] * right[0],
    )
