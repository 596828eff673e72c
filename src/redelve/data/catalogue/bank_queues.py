"""The queues of many banks at once, and the customers who find every open queue full.

redelve's own simulator, after the published outline of DELVE's: tasks vary in complexity and customers in
patience; a bank opens and closes queues by demand; tellers differ in effectiveness; impatient customers
change queue; those who find all open queues full go away. It is driven by events: in every step each bank
receives its next customer, whose random numbers depend on the bank and the customer only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.data.catalogue.portable import Draws, logarithm
from redelve.model.dataset import Numbers

Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]
Lengths = NDArray[np.int8]
Visit = tuple[Numbers, Numbers, Numbers]
"""Of each customer: the time, his work, when he gets restless."""

MINUTES = 480.0
"""How long the banks are watched."""
SERVICE = 3.14
"""Minutes that a task of mean complexity takes a teller of skill 1."""
PATIENCE = 7.8
"""Minutes of waiting, on average, after which a customer begins to look at other queues."""
DELAY = 1.6
"""Minutes until a teller who is called opens his queue."""
RUSH, RUSH_TIME = 0.27, 0.2
"""The share of the customers who come in the rush, and how much of the time it takes, in the middle."""
LONGEST_QUEUE = 9
CLOSED = np.int8(LONGEST_QUEUE + 1)
"""The length that a closed queue seems to have."""
MOST_CUSTOMERS = 1 << 20
FEWEST_OPEN = 0.85
"""Banks that have closed are put aside when no more than this part of those watched is still open."""


class Branches(NamedTuple):
    """Banks, one in each row, with a column for each teller where there are several."""

    customers: Numbers
    """How many are expected."""
    call: Numbers
    """The length of all open queues at which another teller is called."""
    longest: Numbers
    """The length at which a queue is full."""
    skill: Numbers
    """How fast each teller works; one who does not exist has none."""

    def of(self, bank: Rows) -> Branches:
        """Some of the banks."""
        return Branches(*(part[bank] for part in self))


class Queues:
    """The queues of all banks: when each customer will be done, and since when he looks at other queues.

    A customer who is done is simply one whose time has passed; `tails` says where the next one goes. The last
    axis is that of the banks, which are many, after the tellers and the places of a queue, which are few:
    arithmetic goes along the banks.
    """

    def __init__(self, skill: Numbers) -> None:
        self.skill = np.ascontiguousarray(skill.T)
        self.done = np.zeros((LONGEST_QUEUE, *self.skill.shape))
        self.restless = np.zeros(self.done.shape)
        self.tails = np.zeros(self.skill.shape, dtype=np.int64)
        self.ready = np.full(self.skill.shape, np.inf)
        """When each teller opens his queue; infinity for those who were not called."""
        self.ready[0] = 0.0

    def keep(self, bank: Rows) -> None:
        """Put all other banks aside."""
        for name in ("skill", "done", "restless", "tails", "ready"):
            setattr(self, name, np.take(getattr(self, name), bank, axis=-1))

    def lengths(self, time: Numbers) -> Lengths:
        """How many customers stand in each queue, the one being served included."""
        found: Lengths = np.zeros(self.tails.shape, dtype=np.int8)
        for done in self.done:
            found += done > time
        return found

    def join(self, bank: Rows, queue: Rows, visit: Visit) -> None:
        """Customers go to the ends of queues."""
        time, work, restless = visit
        tail = self.tails[queue, bank]
        last = self.done[(tail - 1) % LONGEST_QUEUE, queue, bank]
        place = tail % LONGEST_QUEUE
        self.done[place, queue, bank] = np.maximum(time, last) + work / self.skill[queue, bank]
        self.restless[place, queue, bank] = restless
        self.tails[queue, bank] = tail + 1

    def leave(self, bank: Rows, queue: Rows) -> tuple[Numbers, Numbers]:
        """The last of each queue, not being served yet, leaves it: his work, since when restless."""
        place = (self.tails[queue, bank] - 1) % LONGEST_QUEUE
        ahead = (place - 1) % LONGEST_QUEUE
        duration = self.done[place, queue, bank] - self.done[ahead, queue, bank]
        self.done[place, queue, bank] = 0.0
        self.tails[queue, bank] -= 1
        return duration * self.skill[queue, bank], self.restless[place, queue, bank]


def turned_away(branches: Branches, draws: Draws) -> tuple[Numbers, Numbers]:
    """How many customers come to each bank in a day, and how many of them find all open queues full."""
    came, lost = np.zeros(len(branches.customers)), np.zeros(len(branches.customers))
    bank = np.flatnonzero(branches.customers > 0)
    watched, progress, number = branches.of(bank), np.zeros(len(bank)), 0
    queues = Queues(watched.skill)
    while len(bank):
        random = customer_draws(draws, bank, number)
        progress -= logarithm(1 - random[0]) / watched.customers
        is_open, number = progress < 1, number + 1
        if (still := np.flatnonzero(is_open)).size <= FEWEST_OPEN * len(bank):
            queues.keep(still)
            bank, watched, progress = bank[still], watched.of(still), progress[still]
            random, is_open = random[:, still], is_open[still]
        came[bank] += is_open
        time = MINUTES * rush(progress)
        work, patience = -SERVICE * logarithm(1 - random[1]), -PATIENCE * logarithm(1 - random[2])
        full = serve(queues, watched, (time, work, time + patience))
        lost[bank] += full & is_open
    return came, lost


def rush(progress: Numbers) -> Numbers:
    """When, as a share of the day, so large a share of the customers has come."""
    before, early = (1 - RUSH) / 2, (1 - RUSH_TIME) / 2
    usual = progress * (early / before)
    in_rush = early + (progress - before) * (RUSH_TIME / RUSH)
    after = (early + RUSH_TIME) + (progress - (before + RUSH)) * (early / before)
    return np.where(progress < before, usual, np.where(progress < before + RUSH, in_rush, after))


def customer_draws(draws: Draws, bank: Rows, number: int) -> Numbers:
    """The three uniform numbers of each bank's customer of this number."""
    first = (bank.astype(np.uint64) * np.uint64(MOST_CUSTOMERS) + np.uint64(number)) * np.uint64(4)
    return draws.at(first + np.arange(3, dtype=np.uint64)[:, None])


def serve(queues: Queues, branches: Branches, visit: Visit) -> Flags:
    """The customers choose queues, and impatient ones change; which of them are turned away."""
    time = visit[0]
    lengths = queues.lengths(time)
    is_open = staff(queues, time, lengths, branches.call)
    shown = np.where(is_open, lengths, CLOSED)
    queue, shortest = first_smallest(shown)
    full: Flags = shortest >= branches.longest
    stay = np.flatnonzero(~full)
    time_, work, restless = (part[stay] for part in visit)
    queues.join(stay, queue[stay], (time_, work, restless))
    shown[queue[stay], stay] += 1
    change_queues(queues, time, shown)
    return full


def first_smallest(lengths: Lengths) -> tuple[Rows, Lengths]:
    """In each bank the first of the shortest queues, and how long it is."""
    queue, shortest = np.zeros(lengths.shape[1], dtype=np.int64), lengths[0].copy()
    for number in range(1, len(lengths)):
        queue[lengths[number] < shortest] = number
        np.minimum(shortest, lengths[number], out=shortest)
    return queue, shortest


def staff(queues: Queues, time: Numbers, lengths: Lengths, call: Numbers) -> Flags:
    """Which queues are open to those who come now; a teller is called, or one with nothing to do leaves.

    He leaves if the other open queues are on average shorter than `call`; the first teller never does.
    """
    ready = queues.ready
    is_open: Flags = ready <= time
    away = np.isinf(ready)
    at_hand = np.add.reduce(is_open, axis=0, dtype=np.int8)
    shortest = np.where(is_open, lengths, CLOSED).min(axis=0)
    absent = away & (queues.skill > 0)
    coming = (~is_open & ~away).any(axis=0)
    idle = is_open & (lengths == 0)
    idle[0] = False
    waiting = np.add.reduce(lengths * is_open, axis=0, dtype=np.int8)
    calling = np.flatnonzero((shortest >= call) & ~coming & absent.any(axis=0))
    ready[absent[:, calling].argmax(axis=0), calling] = time[calling] + DELAY
    leaving = np.flatnonzero(idle.any(axis=0) & (waiting < call * (at_hand - 1)))
    gone = idle[:, leaving].argmax(axis=0)
    ready[gone, leaving] = np.inf
    is_open[gone, leaving] = False
    return is_open


def change_queues(queues: Queues, time: Numbers, lengths: Lengths) -> None:
    """In each bank the last of the longest open queue, if restless, goes to one shorter by two or more."""
    long, negative = first_smallest(-np.where(lengths > LONGEST_QUEUE, -1, lengths))
    short, least = first_smallest(lengths)
    bank = np.flatnonzero(-negative - least >= 2)
    place = (queues.tails[long[bank], bank] - 1) % LONGEST_QUEUE
    bank = bank[queues.restless[place, long[bank], bank] <= time[bank]]
    work, since = queues.leave(bank, long[bank])
    queues.join(bank, short[bank], (time[bank], work, since))
