"""The bank family: the simulator against a plain one, then the cases and their distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from redelve.data.catalogue import bank_queues as queues
from redelve.data.catalogue.bank import (
    TELLERS,
    UNPREDICTABILITY,
    attributes,
    branches_of,
    draw_towns,
    town_of,
)
from redelve.data.catalogue.bank_choice import STRICTNESS, Town, customers
from redelve.data.catalogue.bank_queues import Branches, customer_draws, rush, turned_away
from redelve.data.catalogue.portable import Draws
from redelve.data.catalogue.simulated_family import Member
from redelve.seeds import seed
from tests.conftest import RunCommand
from tests.data.catalogue.simulated import Numbers, check_member, digest, folder, linear_share, members, table

USUAL = ("8nh",)
PINNED = {
    "bank-8fm": "92c63b4b21aff2dedbde5858abdd35af6d7e0255e39174519a9ab8956ec890c1",
    "bank-8fh": "1ba540c9fbfba0f7d5723fca8b77e78b674c0ceb74bef4f977df6837c6851886",
    "bank-8nm": "94407190062cb5816f59d03d1ba9b1d9a7eaf170e539451caaa1bfec93109c4d",
    "bank-8nh": "ce41fc35bcf2d7dd41f76f8af2271b282242387843a21f0c1a323c3e037e0285",
    "bank-32fm": "91ae4ad5d17d434846af20c8e168d72ee959c351233fbcd2a4a52d487c2e832b",
    "bank-32fh": "edb15392722d60e7b45c3cac1e82112e892ebacb26af7d7ce5d9932e5dc05fa4",
    "bank-32nm": "34aef5d6453c2d2ec2dfd998adcb7faded54ca4dce27dec689d33bad5a3e2974",
    "bank-32nh": "06fda4a490f87d82c351bae29edb85aa68eb11185bfb9a4766307cd547b03f8b",
}


class PlainBank:
    """A bank as a list of queues, each a list of (time when done, time when restless)."""

    def __init__(self, call: float, longest: float, skills: list[float]) -> None:
        self.call, self.longest, self.skills = call, longest, [skill for skill in skills if skill]
        self.queues: list[list[tuple[float, float]]] = [[] for _ in self.skills]
        self.ready = [0.0, *(math.inf for _ in self.skills[1:])]

    def arrive(self, time: float, work: float, patience: float) -> bool:
        """Whether the customer is turned away."""
        self.queues = [[one for one in queue if one[0] > time] for queue in self.queues]
        self.staff(time)
        best = min(self.open(time), key=lambda number: len(self.queues[number]))
        full = len(self.queues[best]) >= self.longest
        if not full:
            self.join(best, time, work, time + patience)
        self.change(time)
        return full

    def open(self, time: float) -> list[int]:
        return [number for number, ready in enumerate(self.ready) if ready <= time]

    def join(self, number: int, time: float, work: float, restless: float) -> None:
        queue = self.queues[number]
        begin = max(time, queue[-1][0] if queue else 0.0)
        queue.append((begin + work / self.skills[number], restless))

    def staff(self, time: float) -> None:
        there = self.open(time)
        lengths = [len(self.queues[number]) for number in there]
        if min(lengths) >= self.call:
            if math.inf in self.ready and not any(time < at < math.inf for at in self.ready):
                self.ready[self.ready.index(math.inf)] = time + queues.DELAY
            return
        idle = [number for number in there if number and not self.queues[number]]
        if idle and sum(lengths) / (len(there) - 1) < self.call:
            self.ready[idle[0]] = math.inf

    def change(self, time: float) -> None:
        lengths = {number: len(self.queues[number]) for number in self.open(time)}
        longest, shortest = max(lengths, key=lengths.__getitem__), min(lengths, key=lengths.__getitem__)
        if lengths[longest] - lengths[shortest] < 2 or self.queues[longest][-1][1] > time:
            return
        done, restless = self.queues[longest].pop()
        work = (done - self.queues[longest][-1][0]) * self.skills[longest]
        self.join(shortest, time, work, restless)


def plain_counts(branches: Branches, row: int, draws: Draws) -> tuple[int, int]:
    """Who came to a bank and who was turned away, customer by customer."""
    bank = PlainBank(branches.call[row], branches.longest[row], branches.skill[row].tolist())
    progress, away = 0.0, list[bool]()
    while True:
        random = customer_draws(draws, np.array([row]), len(away))[:, 0].tolist()
        progress -= math.log(1 - random[0]) / branches.customers[row]
        if progress >= 1:
            return len(away), sum(away)
        time = queues.MINUTES * float(rush(np.array([progress]))[0])
        work, patience = -queues.SERVICE * math.log(1 - random[1]), -queues.PATIENCE * math.log(1 - random[2])
        away.append(bank.arrive(time, work, patience))


@pytest.fixture(scope="module")
def towns() -> Town:
    return town_of(draw_towns(Member.named("bank-32nm")))


def shares(scenes: Sequence[Branches], draws: Draws) -> list[Numbers]:
    """The share of each town's customers who are turned away, by scene; all wait in one simulation."""
    stacked = [np.concatenate(parts) for parts in zip(*scenes, strict=True)]
    came, lost = turned_away(Branches(*stacked), draws)
    found = lost.reshape(-1, 3).sum(axis=1) / came.reshape(-1, 3).sum(axis=1)
    return np.split(found, np.cumsum([len(scene.customers) // 3 for scene in scenes])[:-1])


def test_the_simulator_does_what_a_plain_one_does(towns: Town) -> None:
    few = Town(*(part[:4] for part in towns))
    branches = branches_of(few, UNPREDICTABILITY["32m"], Draws(4))
    came, lost = turned_away(branches, Draws(11))
    plain = [plain_counts(branches, row, Draws(11)) for row in range(12)]
    assert [(int(c), int(x)) for c, x in zip(came, lost, strict=True)] == plain
    assert 0.02 < lost.sum() / came.sum() < 0.5


def test_customers_go_to_the_nearest_bank_when_it_is_cold_and_anywhere_when_it_is_hot(towns: Town) -> None:
    few = Town(*(part[:50] for part in towns))
    chosen = customers(few)
    assert chosen.sum(axis=1) == pytest.approx(few.population.sum(axis=1))
    hot = customers(few._replace(temperature=np.full(50, 1e9)))
    assert hot == pytest.approx(np.repeat(few.population.sum(axis=1)[:, None] / 3, 3, axis=1))
    still = few._replace(spread_x=0 * few.x, spread_y=0 * few.x, temperature=np.full(50, 1e-5))
    distance = np.hypot(
        still.bank_x[:, None] - still.x[..., None], still.bank_y[:, None] - still.y[..., None]
    )
    nearest = distance.argmin(axis=2)
    expected = [[still.population[n, nearest[n] == b].sum() for b in range(3)] for n in range(50)]
    assert customers(still) == pytest.approx(np.array(expected), abs=1e-2)


def test_homes_stand_for_the_normal_distribution(towns: Town) -> None:
    few, generator = Town(*(part[:60] for part in towns)), np.random.default_rng(1)
    many = np.zeros((60, 3))
    for area in range(3):
        east, tilt = generator.standard_normal((2, 60, 2000))
        slant = few.correlation[:, area, None]
        x = few.x[:, area, None] + few.spread_x[:, area, None] * east
        y = few.y[:, area, None] + few.spread_y[:, area, None] * (slant * east + np.sqrt(1 - slant**2) * tilt)
        away = [np.hypot(few.bank_x[:, b, None] - x, few.bank_y[:, b, None] - y) for b in range(3)]
        weights = np.exp(-STRICTNESS * np.array(away) / few.temperature[:, None])
        many += few.population[:, area, None] * (weights / weights.sum(axis=0)).mean(axis=2).T
    assert np.abs(customers(few) - many).mean() < 0.02 * many.mean()


def test_a_town_does_not_depend_on_its_neighbours(towns: Town) -> None:
    branches = branches_of(Town(*(part[:20] for part in towns)), UNPREDICTABILITY["32m"], Draws(3))
    fewer = Branches(*(part[:15] for part in branches))
    assert np.array_equal(turned_away(branches, Draws(3))[1][:15], turned_away(fewer, Draws(3))[1])


def test_more_customers_or_slower_tellers_mean_more_rejections(towns: Town) -> None:
    few = Town(*(part[:30] for part in towns))
    changes: Sequence[dict[str, Numbers]] = (
        {},
        {"population": 2 * few.population},
        {"effectiveness": few.effectiveness / 2},
        {"longest": few.longest - 3},
    )
    scenes = [branches_of(few._replace(**changed), UNPREDICTABILITY["32m"], Draws(5)) for changed in changes]
    usual, crowded, slow, short = (found.mean() for found in shares(scenes, Draws(6)))
    assert crowded > 1.2 * usual
    assert slow > 1.2 * usual
    assert short > 1.02 * usual


def test_in_high_unpredictability_people_of_two_areas_stay_away(towns: Town) -> None:
    few = Town(*(part[:2000] for part in towns))
    alone = [few._replace(population=few.population * (np.arange(3) == area)) for area in range(3)]
    came = [
        branches_of(one, UNPREDICTABILITY["32h"], Draws(2)).customers.sum()
        / branches_of(one, UNPREDICTABILITY["32m"], Draws(2)).customers.sum()
        for one in alone
    ]
    assert came == pytest.approx([0.5, 1.0, 0.5], abs=0.04)


def test_banks_have_two_three_and_four_tellers(towns: Town) -> None:
    branches = branches_of(Town(*(part[:5] for part in towns)), UNPREDICTABILITY["32m"], Draws(3))
    assert (branches.skill > 0).sum(axis=1).tolist() == [*TELLERS] * 5


def test_the_rush_is_in_the_middle_fifth() -> None:
    assert rush(np.array([0.0, 0.365, 0.635, 1.0])) == pytest.approx([0.0, 0.4, 0.6, 1.0])


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


def first_days(name: str, days: int = 2, count: int = 150) -> list[Numbers]:
    """The targets of the first towns of a member on several days: other people, the same inputs."""
    member = Member.named(name)
    town = Town(*(part[:count] for part in town_of(draw_towns(member))))
    kind = UNPREDICTABILITY[f"{member.inputs}{member.noise}"]
    people = (Draws(seed("dataset", name, "people", day)) for day in range(days))
    return shares([branches_of(town, kind, drawn) for drawn in people], Draws(0))


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("bank-8fm", 0.01, 0.07), ("bank-32nm", 0.01, 0.07), ("bank-32nh", 0.25, 0.55)],
)
def test_what_the_inputs_do_not_tell_is_little_or_much_as_the_name_says(
    name: str, least: float, most: float
) -> None:
    first, second = first_days(name)
    assert least < ((first - second) ** 2).mean() / 2 / first.var() < most


ORIGINALS = {  # mean, standard deviation, skewness, share that a linear function leaves; 32nm: only two
    "bank-8fm": (0.1615, 0.1519, 1.057, 0.0649),
    "bank-32fm": (0.2056, 0.1604, 0.726, 0.0642),
    "bank-32nh": (0.0836, 0.1218, 1.966, 0.4656),
    "bank-32nm": (0.171, 0.165),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ORIGINALS)
def test_the_targets_are_distributed_like_the_originals(name: str) -> None:
    cases = table(name)
    inputs, targets = cases[:, :-1], cases[:, -1]
    measured = (
        targets.mean(),
        targets.std(),
        ((targets - targets.mean()) ** 3).mean() / targets.std() ** 3,
        1 - linear_share(inputs, targets),
    )
    for ours, original in zip(measured, ORIGINALS[name], strict=False):
        assert ours == pytest.approx(original, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [8, 32])
def test_non_linear_members_are_less_linear(inputs: int) -> None:
    shares = {kind: linear_share(*divided(table(f"bank-{inputs}{kind}m"))) for kind in "fn"}
    assert shares["f"] > 0.92
    assert shares["n"] < 0.9


def divided(cases: Numbers) -> tuple[Numbers, Numbers]:
    return cases[:, :-1], cases[:, -1]


def test_numbers_are_written_as_in_the_original() -> None:
    *reals, longest, rejected = folder("bank-8nh")["Dataset.data"].split("\n", 1)[0].split(" ")
    assert longest in "56789"
    assert [f"{float(value):f}" for value in (*reals, rejected)] == [*reals, rejected]
    assert folder("bank-8nh")["rej/std.prior"].splitlines()[7:] == ["8 NLMH integer", "9 NLMH real"]


@pytest.mark.slow
def test_dcheck_finds_nothing(delve_home: Path, run_command: RunCommand) -> None:
    assert run_command("dcheck", ["/bank-8nh"]).out == "/bank-8nh: no problems found\n"
