"""A town with residential areas and banks, and the customers who find every queue of a bank full.

redelve's own simulator, after the published outline of DELVE's: customers live in several areas and choose
a bank by distance; their tasks vary in complexity and they in patience; a bank opens and closes queues by
demand; tellers differ in effectiveness; impatient customers change queue; those who find all queues full
go away.

It is driven by events, and many towns are simulated at once: in every step each town receives its next
customer. The random numbers of a customer depend on the town and the customer only.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.data.catalogue.portable import Draws, exponential, logarithm, normal_pairs
from redelve.model.dataset import Numbers

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]

RATE = 0.1
"""Customers a minute for each unit of population."""
SERVICE = 7.0
"""Minutes that a task of mean complexity takes a teller of effectiveness 1."""
PATIENCE = 5.0
"""Minutes of waiting, on average, after which a customer begins to look at other queues."""
SKILLS = (1.2, 1.0, 0.8)
"""How the tellers of a bank compare, in the order in which they are called."""
DELAY = 20.0
"""Minutes until a teller who is called opens his queue."""
STRICTNESS = 4.0
"""By how much distance is multiplied before it is compared with the temperature."""
LONGEST_QUEUE = 9
MOST_CUSTOMERS = 1 << 20


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


class Visit(NamedTuple):
    """A customer of each of some towns."""

    town: Rows
    bank: Rows
    time: Numbers
    complexity: Numbers
    patience: Numbers


class Banks:
    """The queues of all banks: when each customer will be done, and since when he looks at other queues.

    A customer who is done is simply one whose time has passed; `tails` says where the next one goes.
    """

    def __init__(self, banks: int) -> None:
        places = (banks, len(SKILLS), LONGEST_QUEUE)
        self.done = np.zeros(places)
        self.restless = np.zeros(places)
        self.tails = np.zeros(places[:2], dtype=np.int64)
        self.ready = np.full(places[:2], np.inf)
        self.ready[:, 0] = 0.0

    def lengths(self, bank: Rows, time: Numbers) -> Rows:
        """How many customers stand in each queue, the one being served included."""
        found: Rows = (self.done[bank] > time[:, None, None]).sum(axis=2)
        return found

    def last_done(self, bank: Rows, queue: Rows) -> Numbers:
        """When the last of the queue will be done."""
        found: Numbers = self.done[bank, queue, (self.tails[bank, queue] - 1) % LONGEST_QUEUE]
        return found

    def join(self, bank: Rows, queue: Rows, visit: tuple[Numbers, Numbers, Numbers]) -> None:
        """Customers go to the ends of queues; of each: the time, how long he takes, when he gets restless."""
        time, duration, restless = visit
        begin = np.maximum(time, self.last_done(bank, queue))
        place = self.tails[bank, queue] % LONGEST_QUEUE
        self.done[bank, queue, place] = begin + duration
        self.restless[bank, queue, place] = restless
        self.tails[bank, queue] += 1

    def leave(self, bank: Rows, queue: Rows) -> tuple[Numbers, Numbers]:
        """The last of each queue, not being served yet, leaves it: how long he takes, since when restless."""
        place = (self.tails[bank, queue] - 1) % LONGEST_QUEUE
        ahead = (place - 1) % LONGEST_QUEUE
        duration = self.done[bank, queue, place] - self.done[bank, queue, ahead]
        self.done[bank, queue, place] = 0.0
        self.tails[bank, queue] -= 1
        return duration, self.restless[bank, queue, place]


def turned_away(town: Town, minutes: float, draws: Draws) -> Numbers:
    """The share of each town's customers, in so many minutes, who find all queues of their bank full."""
    towns, banks = town.bank_x.shape
    queues = Banks(towns * banks)
    came, lost = np.zeros(towns), np.zeros(towns)
    active, progress = np.arange(towns), np.zeros(towns)
    expected = minutes * RATE * total(town.population)
    for number in count():
        random = customer_draws(draws, active, number)
        progress[active] -= logarithm(1 - random[0]) / expected[active]
        within = np.flatnonzero(progress[active] < 1)
        active, random = active[within], random[:, within]
        if not len(active):
            break
        came[active] += 1
        visit = visits(town, active, minutes * rush(progress[active]), random)
        lost[active[serve(queues, town, visit)]] += 1
    return lost / np.maximum(came, 1)


def rush(progress: Numbers) -> Numbers:
    """When so large a share of the customers has come: two fifths of them in the middle fifth of the time."""
    return np.where(
        progress < 0.3,
        progress * (4 / 3),
        np.where(progress < 0.7, 0.4 + (progress - 0.3) * 0.5, 0.6 + (progress - 0.7) * (4 / 3)),
    )


def customer_draws(draws: Draws, town: Rows, number: int) -> Numbers:
    """The seven uniform numbers of each town's customer of this number."""
    first = (town.astype(np.uint64) * np.uint64(MOST_CUSTOMERS) + np.uint64(number)) * np.uint64(8)
    return draws.at(first + np.arange(7, dtype=np.uint64)[:, None])


def visits(town: Town, rows: Rows, time: Numbers, random: Numbers) -> Visit:
    """Where the customers live, which banks they choose, and what they bring along."""
    area = chosen(town.population[rows], random[1])
    east, north = normal_pairs(random[2], random[3])
    slant = town.correlation[rows, area]
    north = slant * east + np.sqrt(1 - slant * slant) * north
    x = town.x[rows, area] + town.spread_x[rows, area] * east
    y = town.y[rows, area] + town.spread_y[rows, area] * north
    across, up = town.bank_x[rows] - x[:, None], town.bank_y[rows] - y[:, None]
    distance = np.sqrt(across * across + up * up)
    further = distance - distance.min(axis=1)[:, None]
    bank = chosen(exponential(-STRICTNESS * further / town.temperature[rows, None]), random[4])
    return Visit(rows, bank, time, -logarithm(1 - random[5]), -PATIENCE * logarithm(1 - random[6]))


def serve(queues: Banks, town: Town, visit: Visit) -> Flags:
    """The customers choose queues, and impatient ones change; which of them are turned away."""
    branch = visit.town * town.bank_x.shape[1] + visit.bank
    lengths = queues.lengths(branch, visit.time)
    is_open = staff(queues, branch, visit.time, lengths, town.call[visit.town, visit.bank])
    queue = np.where(is_open, lengths, LONGEST_QUEUE + 1).argmin(axis=1)
    row = np.arange(len(queue))
    full: Flags = lengths[row, queue] >= town.longest[visit.town]
    stay = np.flatnonzero(~full)
    skill = np.array(SKILLS)[queue] * town.effectiveness[visit.town, visit.bank]
    duration, restless = SERVICE * visit.complexity / skill, visit.time + visit.patience
    queues.join(branch[stay], queue[stay], (visit.time[stay], duration[stay], restless[stay]))
    lengths[stay, queue[stay]] += 1
    change_queues(queues, branch, visit.time, np.where(is_open, lengths, LONGEST_QUEUE + 1))
    return full


def staff(queues: Banks, branch: Rows, time: Numbers, lengths: Rows, call: Numbers) -> Flags:
    """Which queues are open to those who come now; idle tellers leave, or another is called, by demand."""
    ready = queues.ready[branch]
    is_open = ready <= time[:, None]
    idle = is_open & (lengths == 0)
    idle[:, 0] = False
    pressed = np.where(is_open & ~idle, lengths, LONGEST_QUEUE + 1).min(axis=1) >= call
    ready[idle & ~pressed[:, None]] = np.inf
    away = np.isinf(ready)
    coming = (ready > time[:, None]) & ~away
    calling = np.flatnonzero(pressed & ~idle.any(axis=1) & ~coming.any(axis=1) & away.any(axis=1))
    ready[calling, away[calling].argmax(axis=1)] = time[calling] + DELAY
    queues.ready[branch] = ready
    return is_open & (ready <= time[:, None])


def change_queues(queues: Banks, branch: Rows, time: Numbers, lengths: Rows) -> None:
    """In each bank the last of the longest open queue, if restless, goes to one shorter by two or more."""
    long, short = np.where(lengths > LONGEST_QUEUE, -1, lengths).argmax(axis=1), lengths.argmin(axis=1)
    row = np.arange(len(branch))
    place = (queues.tails[branch, long] - 1) % LONGEST_QUEUE
    restless = queues.restless[branch, long, place] <= time
    moving = np.flatnonzero(restless & (lengths[row, long] - lengths[row, short] >= 2))
    branch, time, long, short = branch[moving], time[moving], long[moving], short[moving]
    duration, since = queues.leave(branch, long)
    skills = np.array(SKILLS)
    queues.join(branch, short, (time, duration * skills[long] / skills[short], since))


def chosen(weights: Numbers, random: Numbers) -> Rows:
    """One column of each row, with probabilities in proportion to the weights."""
    rest = random * total(weights)
    found = np.zeros(len(random), dtype=np.int64)
    passed = np.zeros(len(random))
    for column in range(weights.shape[1] - 1):
        passed = passed + weights[:, column]
        found += rest >= passed
    return found


def total(weights: Numbers) -> Numbers:
    """The sums of the rows, added from left to right."""
    found = weights[:, 0]
    for column in range(1, weights.shape[1]):
        found = found + weights[:, column]
    return found
