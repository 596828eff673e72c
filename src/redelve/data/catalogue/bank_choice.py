"""A town with residential areas and banks: how many customers each bank may expect.

Customers live around the centres of the areas and choose a bank by its distance. Where many choose
independently, each bank's customers come at random by themselves, so only their expected number matters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from redelve.data.catalogue.portable import exponential, normal_pairs
from redelve.model.dataset import Numbers

STRICTNESS = 0.65
"""By how much distance is multiplied before it is compared with the temperature."""
HOMES = 32
"""So many homes stand for all of an area, spread evenly over the normal distribution."""
EVENLY = (0.7548776662466927, 0.5698402909980532)
"""The steps of Roberts's R2 sequence, which fills the unit square evenly."""


class Town(NamedTuple):
    """Towns: rows are towns, columns areas or banks (where there are any)."""

    x: Numbers
    y: Numbers
    spread_x: Numbers
    spread_y: Numbers
    correlation: Numbers
    population: Numbers
    temperature: Numbers
    bank_x: Numbers
    bank_y: Numbers
    call: Numbers
    effectiveness: Numbers
    longest: Numbers


def customers(town: Town) -> Numbers:
    """How many units of population choose each bank."""
    found = np.zeros(town.bank_x.shape)
    for area in range(town.x.shape[1]):
        share = np.zeros(found.shape)
        for east, north in homes():
            share = share + liking(town, area, east, north)
        found = found + town.population[:, area, None] * (share / HOMES)
    return found


def homes() -> list[tuple[float, float]]:
    """Homes around a centre, in units of the spread."""
    number = np.arange(HOMES, dtype=np.float64)
    first, second = ((0.5 + number * step) % 1.0 for step in EVENLY)
    east, north = normal_pairs(first, second)
    return list(zip(east.tolist(), north.tolist(), strict=True))


def liking(town: Town, area: int, east: float, north: float) -> Numbers:
    """With what probability those who live here choose each bank."""
    slant = town.correlation[:, area]
    x = town.x[:, area] + town.spread_x[:, area] * east
    y = town.y[:, area] + town.spread_y[:, area] * (slant * east + np.sqrt(1 - slant * slant) * north)
    across, up = town.bank_x - x[:, None], town.bank_y - y[:, None]
    distance = np.sqrt(across * across + up * up)
    further = distance - distance.min(axis=1)[:, None]
    weights = exponential(-STRICTNESS * further / town.temperature[:, None])
    total = weights[:, 0]
    for bank in range(1, weights.shape[1]):
        total = total + weights[:, bank]
    found: Numbers = weights / total[:, None]
    return found
