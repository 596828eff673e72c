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
MOST_CUSTOMERS = 1 << 20


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


class Queues:
    """The queues of all banks: when each customer will be done, and since when he looks at other queues.

    A customer who is done is simply one whose time has passed; `tails` says where the next one goes.
    """

    def __init__(self, skill: Numbers) -> None:
        self.done = np.zeros((*skill.shape, LONGEST_QUEUE))
        self.restless = np.zeros(self.done.shape)
        self.tails = np.zeros(skill.shape, dtype=np.int64)
        self.skill = skill
        self.ready = np.full(skill.shape, np.inf)
        """When each teller opens his queue; infinity for those who were not called."""
        self.ready[:, 0] = 0.0

    def lengths(self, bank: Rows, time: Numbers) -> Rows:
        """How many customers stand in each queue, the one being served included."""
        found: Rows = (self.done[bank] > time[:, None, None]).sum(axis=2)
        return found

    def join(self, bank: Rows, queue: Rows, visit: tuple[Numbers, Numbers, Numbers]) -> None:
        """Customers go to the ends of queues; of each: the time, his work, when he gets restless."""
        time, work, restless = visit
        tail = self.tails[bank, queue]
        last = self.done[bank, queue, (tail - 1) % LONGEST_QUEUE]
        place = tail % LONGEST_QUEUE
        self.done[bank, queue, place] = np.maximum(time, last) + work / self.skill[bank, queue]
        self.restless[bank, queue, place] = restless
        self.tails[bank, queue] = tail + 1

    def leave(self, bank: Rows, queue: Rows) -> tuple[Numbers, Numbers]:
        """The last of each queue, not being served yet, leaves it: his work, since when restless."""
        place = (self.tails[bank, queue] - 1) % LONGEST_QUEUE
        ahead = (place - 1) % LONGEST_QUEUE
        duration = self.done[bank, queue, place] - self.done[bank, queue, ahead]
        self.done[bank, queue, place] = 0.0
        self.tails[bank, queue] -= 1
        return duration * self.skill[bank, queue], self.restless[bank, queue, place]


def turned_away(branches: Branches, draws: Draws) -> tuple[Numbers, Numbers]:
    """How many customers come to each bank in a day, and how many of them find all open queues full."""
    banks = len(branches.customers)
    queues = Queues(branches.skill)
    came, lost = np.zeros(banks), np.zeros(banks)
    active, progress = np.flatnonzero(branches.customers > 0), np.zeros(banks)
    number = 0
    while len(active):
        random = customer_draws(draws, active, number)
        progress[active] -= logarithm(1 - random[0]) / branches.customers[active]
        within = np.flatnonzero(progress[active] < 1)
        active, random, number = active[within], random[:, within], number + 1
        came[active] += 1
        time = MINUTES * rush(progress[active])
        work, patience = -SERVICE * logarithm(1 - random[1]), -PATIENCE * logarithm(1 - random[2])
        full = serve(queues, branches, active, (time, work, time + patience))
        lost[active[full]] += 1
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


def serve(queues: Queues, branches: Branches, bank: Rows, visit: tuple[Numbers, Numbers, Numbers]) -> Flags:
    """The customers choose queues, and impatient ones change; which of them are turned away."""
    time = visit[0]
    lengths = queues.lengths(bank, time)
    is_open = staff(queues, bank, time, lengths, branches.call[bank])
    shown = np.where(is_open, lengths, LONGEST_QUEUE + 1)
    queue, row = shown.argmin(axis=1), np.arange(len(bank))
    full: Flags = shown[row, queue] >= branches.longest[bank]
    stay = np.flatnonzero(~full)
    time_, work, restless = (part[stay] for part in visit)
    queues.join(bank[stay], queue[stay], (time_, work, restless))
    shown[stay, queue[stay]] += 1
    change_queues(queues, bank, time, shown)
    return full


def staff(queues: Queues, bank: Rows, time: Numbers, lengths: Rows, call: Numbers) -> Flags:
    """Which queues are open to those who come now; a teller is called, or one with nothing to do leaves.

    He leaves if the other open queues are on average shorter than `call`; the first teller never does.
    """
    ready = queues.ready[bank]
    is_open = ready <= time[:, None]
    at_hand = is_open.sum(axis=1)
    shortest = np.where(is_open, lengths, LONGEST_QUEUE + 1).min(axis=1)
    absent = np.isinf(ready) & (queues.skill[bank] > 0)
    coming = (~is_open & ~np.isinf(ready)).any(axis=1)
    calling = np.flatnonzero((shortest >= call) & ~coming & absent.any(axis=1))
    ready[calling, absent[calling].argmax(axis=1)] = time[calling] + DELAY
    idle = is_open & (lengths == 0)
    idle[:, 0] = False
    quiet = np.where(is_open, lengths, 0).sum(axis=1) < call * (at_hand - 1)
    leaving = np.flatnonzero(idle.any(axis=1) & quiet)
    gone = idle[leaving].argmax(axis=1)
    ready[leaving, gone] = np.inf
    is_open[leaving, gone] = False
    queues.ready[bank] = ready
    return is_open


def change_queues(queues: Queues, bank: Rows, time: Numbers, lengths: Rows) -> None:
    """In each bank the last of the longest open queue, if restless, goes to one shorter by two or more."""
    long, short = np.where(lengths > LONGEST_QUEUE, -1, lengths).argmax(axis=1), lengths.argmin(axis=1)
    row = np.arange(len(bank))
    uneven = np.flatnonzero(lengths[row, long] - lengths[row, short] >= 2)
    bank, time, long, short = bank[uneven], time[uneven], long[uneven], short[uneven]
    place = (queues.tails[bank, long] - 1) % LONGEST_QUEUE
    moving = np.flatnonzero(queues.restless[bank, long, place] <= time)
    bank, time, long, short = bank[moving], time[moving], long[moving], short[moving]
    work, since = queues.leave(bank, long)
    queues.join(bank, short, (time, work, since))
