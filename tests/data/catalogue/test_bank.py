"""The bank family: the simulator against a plain one, then the cases and their distribution."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from redelve.data.catalogue import bank_queues as queues
from redelve.data.catalogue.bank import MINUTES, attributes, draw_towns, simulate, town_of
from redelve.data.catalogue.bank_queues import Town, customer_draws, rush, turned_away
from redelve.data.catalogue.portable import Draws
from redelve.data.catalogue.simulated_family import Member
from tests.conftest import RunCommand
from tests.data.catalogue.simulated import Numbers, check_member, digest, folder, linear_share, members

USUAL = ("8nh",)
PINNED = {
    "bank-8fm": "804ec4c73c86c114a20a3ba69213b950dc1f82a86962adf4f04e8a84d5499867",
    "bank-8fh": "139300aeedc9edd379ef2ecb57802ec77387b36c33d8a28a65db9e2458bef4bb",
    "bank-8nm": "7abdb99b579b7a0266203a56655a3153057c8216689cf8079f536d5e47f9ddc2",
    "bank-8nh": "f18aa37deaf954a363f5b42126cb7b91d08dc9574c38d4bda165fd566f257cb4",
    "bank-32fm": "3da164494bfbb02b82d7acec08af2b5a7c8a5478e7f5d4a5a6764a09028d57ab",
    "bank-32fh": "d0c398c770c69c2f32cfaf0774bf53941da4459d0a75f566b57166dd666f5289",
    "bank-32nm": "b8458fad9dfb8284109357eb7b2d3cf67a7f989361b60b93a536389458eb0d39",
    "bank-32nh": "d0a44fe47376bf252f850443af750677c6dfb8b327b41694d64c476ae33be5ef",
}


class PlainBank:
    """A bank as a list of queues, each a list of (time when done, time when restless)."""

    def __init__(self, call: float, effectiveness: float, longest: float) -> None:
        self.call, self.effectiveness, self.longest = call, effectiveness, longest
        self.queues: list[list[tuple[float, float]]] = [[], [], []]
        self.ready = [0.0, math.inf, math.inf]

    def arrive(self, time: float, complexity: float, patience: float) -> bool:
        """Whether the customer is served, and not turned away."""
        self.queues = [[one for one in queue if one[0] > time] for queue in self.queues]
        self.staff(time)
        best = min(self.open(time), key=lambda number: len(self.queues[number]))
        served = len(self.queues[best]) < self.longest
        if served:
            duration = queues.SERVICE * complexity / (queues.SKILLS[best] * self.effectiveness)
            self.join(best, time, duration, time + patience)
        self.change(time)
        return served

    def open(self, time: float) -> list[int]:
        return [number for number, ready in enumerate(self.ready) if ready <= time]

    def join(self, number: int, time: float, duration: float, restless: float) -> None:
        queue = self.queues[number]
        queue.append((max(time, queue[-1][0] if queue else 0.0) + duration, restless))

    def staff(self, time: float) -> None:
        idle = [number for number in self.open(time) if number and not self.queues[number]]
        busy = [len(self.queues[number]) for number in self.open(time) if number not in idle]
        if min(busy) < self.call:
            for number in idle:
                self.ready[number] = math.inf
        elif not idle and math.inf in self.ready and not any(time < at < math.inf for at in self.ready):
            self.ready[self.ready.index(math.inf)] = time + queues.DELAY

    def change(self, time: float) -> None:
        lengths = {number: len(self.queues[number]) for number in self.open(time)}
        longest, shortest = max(lengths, key=lengths.__getitem__), min(lengths, key=lengths.__getitem__)
        if lengths[longest] - lengths[shortest] < 2 or self.queues[longest][-1][1] > time:
            return
        done, restless = self.queues[longest].pop()
        duration = (done - self.queues[longest][-1][0]) * queues.SKILLS[longest] / queues.SKILLS[shortest]
        self.join(shortest, time, duration, restless)


def plain_share(town: Town, row: int, minutes: float, draws: Draws) -> float:
    """The share turned away in one town, customer by customer."""
    banks = [PlainBank(town.call[row, b], town.effectiveness[row, b], town.longest[row]) for b in range(3)]
    expected = minutes * queues.RATE * sum(town.population[row])
    progress = 0.0
    served: list[bool] = []
    while True:
        random = customer_draws(draws, np.array([row]), len(served))[:, 0].tolist()
        progress -= math.log(1 - random[0]) / expected
        if progress >= 1:
            return 1 - sum(served) / len(served) if served else 0.0
        time = minutes * float(rush(np.array([progress]))[0])
        bank = plain_choice(town, row, random)
        patience = -queues.PATIENCE * math.log(1 - random[6])
        served.append(banks[bank].arrive(time, -math.log(1 - random[5]), patience))


def plain_choice(town: Town, row: int, random: list[float]) -> int:
    """The bank that a customer chooses."""
    area = int(
        np.searchsorted(np.cumsum(town.population[row]), random[1] * sum(town.population[row]), "right")
    )
    radius, angle = math.sqrt(-2 * math.log(1 - random[2])), 2 * math.pi * random[3]
    east, north = radius * math.cos(angle), radius * math.sin(angle)
    rho = town.correlation[row, area]
    x = town.x[row, area] + town.spread_x[row, area] * east
    y = town.y[row, area] + town.spread_y[row, area] * (rho * east + math.sqrt(1 - rho**2) * north)
    distances = [math.hypot(town.bank_x[row, b] - x, town.bank_y[row, b] - y) for b in range(3)]
    liking = np.exp(-queues.STRICTNESS * (np.array(distances) - min(distances)) / town.temperature[row])
    return int(np.searchsorted(np.cumsum(liking), random[4] * liking.sum(), "right"))


@pytest.fixture(scope="module")
def towns() -> Town:
    return town_of(draw_towns(Member.named("bank-32nm")))


def test_the_simulator_does_what_a_plain_one_does(towns: Town) -> None:
    few = Town(*(part[:40] for part in towns))
    shares = turned_away(few, 480.0, Draws(11))
    assert shares.tolist() == pytest.approx([plain_share(few, row, 480.0, Draws(11)) for row in range(40)])
    assert 0.1 < shares.mean() < 0.3


def test_a_town_does_not_depend_on_its_neighbours(towns: Town) -> None:
    few, fewer = (Town(*(part[:count] for part in towns)) for count in (20, 5))
    assert np.array_equal(turned_away(few, 60.0, Draws(3))[:5], turned_away(fewer, 60.0, Draws(3)))


def test_more_customers_or_slower_tellers_mean_more_rejections(towns: Town) -> None:
    few = Town(*(part[:300] for part in towns))
    usual = turned_away(few, 120.0, Draws(5)).mean()
    assert turned_away(few._replace(population=2 * few.population), 120.0, Draws(5)).mean() > 1.2 * usual
    assert (
        turned_away(few._replace(effectiveness=few.effectiveness / 2), 120.0, Draws(5)).mean() > 1.2 * usual
    )
    assert turned_away(few._replace(longest=few.longest - 3), 120.0, Draws(5)).mean() > 1.1 * usual


def test_two_fifths_of_the_customers_come_in_the_middle_fifth() -> None:
    assert rush(np.array([0.0, 0.3, 0.7, 1.0])) == pytest.approx([0.0, 0.4, 0.6, 1.0])


def test_eight_inputs_vary_and_the_rest_is_fixed() -> None:
    member = Member.named("bank-8nh")
    varying = {name for name, values in draw_towns(member).items() if np.ptp(values) > 0}
    assert varying == {"a1cx", "a1cy", "b2x", "b2y", "a2pop", "a3pop", "temp", "mxql"}
    assert {attribute.name for attribute in attributes(member)} == varying | {"rej"}


def test_the_towns_are_distributed_like_the_originals() -> None:
    towns = draw_towns(Member.named("bank-32nm"))
    assert towns["temp"].mean() == pytest.approx(0.5, abs=0.01)
    assert towns["temp"].std() == pytest.approx(0.21, abs=0.01)
    assert 0.01 < towns["temp"].min() < 0.04
    assert 0.96 < towns["temp"].max() < 0.99
    assert towns["a1pop"].mean() == pytest.approx(3.1, abs=0.15)
    calls = np.bincount(towns["b1call"].astype(int))[2:]
    assert len(calls) == 7
    assert (np.diff(calls[2:]) < 0).all()
    assert (towns["b1call"] < towns["mxql"]).all()


@pytest.mark.parametrize("name", members("bank", USUAL))
def test_members_are_complete_and_in_their_ranges(name: str) -> None:
    check_member(name, "rej")


@pytest.mark.parametrize("name", members("bank", USUAL))
def test_the_cases_are_the_same_everywhere(name: str) -> None:
    assert digest(name) == PINNED[name]


@pytest.mark.slow
def test_the_targets_are_distributed_like_the_originals() -> None:
    targets = simulate(Member.named("bank-32nm")).targets  # the original: 0.171, 423 of 8192, 0.85
    assert targets.mean() == pytest.approx(0.171, abs=0.01)
    assert (targets == 0).mean() == pytest.approx(0.052, abs=0.01)
    assert targets.max() == pytest.approx(0.85, abs=0.05)


def noise_share(first: Numbers, second: Numbers) -> float:
    """The share of the variance that is noise, from two repetitions."""
    return float(((first - second) ** 2).mean() / 2 / first.var())


def explained(inputs: int, kind: str) -> tuple[float, float]:
    """The noise share, and what a linear function explains of the rest."""
    member = Member("bank", inputs, *kind)
    simulation, again = simulate(member), simulate(member, repetition=1)
    noise = noise_share(simulation.targets, again.targets)
    return noise, linear_share(simulation.inputs, simulation.targets) / (1 - noise)


@pytest.mark.parametrize("inputs", [8, 32])
def test_highly_unpredictable_members_are_noisy_and_linearity_is_what_the_names_say(inputs: int) -> None:
    (noise_f, linear_f), (noise_n, linear_n) = explained(inputs, "fh"), explained(inputs, "nh")
    assert 0.2 < min(noise_f, noise_n) <= max(noise_f, noise_n) < 0.45
    assert linear_f > 0.9 > linear_n


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [8, 32])
def test_members_of_medium_noise_have_little_of_it(inputs: int) -> None:
    (noise_f, linear_f), (noise_n, linear_n) = explained(inputs, "fm"), explained(inputs, "nm")
    assert max(noise_f, noise_n) < 0.1
    assert linear_f > 0.93
    assert linear_n < 0.9


def test_numbers_are_written_as_in_the_original() -> None:
    *reals, longest, rejected = folder("bank-8nh")["Dataset.data"].split("\n", 1)[0].split(" ")
    assert longest in "56789"
    assert [f"{float(value):f}" for value in (*reals, rejected)] == [*reals, rejected]
    assert folder("bank-8nh")["rej/std.prior"].splitlines()[7:] == ["8 NLMH integer", "9 NLMH real"]
    assert MINUTES["h"] < MINUTES["m"]


def test_dcheck_finds_nothing(delve_home: Path, run_command: RunCommand) -> None:
    assert run_command("dcheck", ["/bank-8nh"]).out == "/bank-8nh: no problems found\n"
