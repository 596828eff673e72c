"""The `bank` family: what share of a town's customers find all queues of their bank full."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from redelve.data.catalogue.bank_choice import Town, customers
from redelve.data.catalogue.bank_queues import MINUTES, Branches, turned_away
from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.portable import Draws, exponential, logarithm
from redelve.data.catalogue.simulated_family import CASES, Account, Member, Simulation, member_files
from redelve.model.dataset import Numbers
from redelve.seeds import seed

AREAS = BANKS = 3
TELLERS = (2, 3, 4)
"""How many tellers each bank has; one of them is always there."""
POPULATION = 3.1
"""Mean of the (exponential) populations."""
RATE = 0.3125
"""Customers a minute for each unit of population."""
LEAST_LONGEST, LEAST_CALL = 5, 2
SHOWN_8 = ("a1cx", "a1cy", "b2x", "b2y", "a2pop", "a3pop", "temp", "mxql")
"""What varies with eight inputs; the rest is as in `FIXED`."""


class Unpredictability(NamedTuple):
    """What the inputs do not tell about a town."""

    skill: float
    """Tellers are by up to this share faster or slower than their bank's effectiveness says."""
    staying_away: bool = False
    """Whether a share of the people of areas 1 and 3, any being equally probable, do not come at all."""
    told: float = 1.0
    """To which power the recorded effectiveness counts."""
    untold: float = 0.0
    """Standard deviation of what else there is to its logarithm."""
    usual: float = 1.0
    """The effectiveness of a bank of recorded effectiveness 1, on average."""


HIGH = Unpredictability(0.45, staying_away=True, told=0.4, untold=0.38, usual=1.2)
UNPREDICTABILITY = {"8m": Unpredictability(0.27), "32m": Unpredictability(0.33), "8h": HIGH, "32h": HIGH}


class BankPlace(NamedTuple):
    """The rectangle in which a centre or a bank lies: its middle, and how far it reaches from there."""

    x: float
    y: float
    reach_x: float = 1.0
    reach_y: float = 1.0


class Variation(NamedTuple):
    """How much the towns of a member differ."""

    areas: tuple[BankPlace, ...]
    banks: tuple[BankPlace, ...]
    spread: tuple[float, float]
    """Least value, and mean of the exponential variable added to it."""
    correlation: float
    temperature: tuple[float, float]
    """Mean and standard deviation of the temperature's logit."""
    effectiveness: tuple[float, float]
    longest: int


ANYWHERE = (BankPlace(0, 0),) * 3
NEAR = (BankPlace(0, 0, 0.5, 0.5),) * 3
NON_LINEAR = Variation(ANYWHERE, ANYWHERE, (0.0, 1.0), 0.5, (0.0, 1.0), (0.5, 2.0), 9)
VARIATIONS = {
    "8n": NON_LINEAR,
    "32n": NON_LINEAR,
    "8f": NON_LINEAR._replace(areas=NEAR, banks=NEAR, temperature=(0.5, 1.0), longest=8),
    "32f": Variation(
        areas=(
            BankPlace(0.6, 0.85, 0.1, 0.15),
            BankPlace(-0.25, 0.85, 0.05, 0.05),
            BankPlace(-0.03, -0.02, 0.03, 0.02),
        ),
        banks=(
            BankPlace(0.15, 0.2, 0.05, 0.1),
            BankPlace(-0.05, -0.3, 0.15, 0.2),
            BankPlace(-0.65, 0.15, 0.05, 0.05),
        ),
        spread=(0.5, 0.1),
        correlation=0.1,
        temperature=(0.0, 0.2),
        effectiveness=(0.9, 1.1),
        longest=8,
    ),
}
FIXED_SPREAD = {"f": 1.0, "n": 0.25}
FIXED = {
    **{f"a{area}rho": 0.0 for area in (1, 2, 3)},
    **{f"b{bank}call": 3.0 for bank in (1, 2, 3)},
    **{f"b{bank}eff": 0.99 for bank in (1, 2, 3)},
    "a1pop": 2.5,
    "a2cx": -0.7,
    "a2cy": 0.0,
    "a3cx": 0.45,
    "a3cy": 1.0,
    "b1x": 0.2,
    "b1y": 0.3,
    "b3x": -0.9,
    "b3y": -0.15,
}
"""What does not vary with eight inputs, besides the spreads."""

ACCOUNT = Account(
    "rej",
    """\
{name}: {description}.

In a town there are three residential areas and three banks. Customers live
around the centres of the areas, choose a bank by its distance (the more
strictly, the lower the "temperature"), and join the shortest queue. A bank
calls another teller when its queues get long, and sends tellers away who have
nothing to do; customers who lose patience change to a shorter queue. The task
is to predict, from the properties of the town, the share of customers who go
away because all open queues of their bank are full. Most of the targets are
small, some are zero, and a few are large.

After the "bank" family of the DELVE archive, made by Carl Edward Rasmussen.
""",
    """\
What is known of the original is its outline (areas, choice by distance, tasks
of varying complexity, patience, queues opened and closed by demand, tellers
of differing effectiveness, impatient customers who change queue) and data:
all cases of the original bank-8fm and bank-32nh and half of bank-32fm. The
simulator is redelve's own; it was run on the original inputs, and its constants
were chosen so that it gives the original targets as well as it can. How close
each member is to its original is told in redelve's page on datasets.

Inputs. The 32 columns and their distributions are those of the original.
Non-linear members: centres and banks uniform within one unit of zero, spreads
exponential with mean 1, correlations within 0.5, populations exponential with
mean 3.1, effectiveness between 0.5 and 2, longest queues 5 to 9. The length at
which a teller is called is uniform between 2 and one less than the longest
queue, and the logit of the temperature is standard normal. Fairly linear
members: centres and banks within small rectangles, spreads 0.5 plus an
exponential of mean 0.1, correlations within 0.1, effectiveness between 0.9 and
1.1, longest queues 5 to 8, temperatures near 0.5. With eight inputs, fairly
linear, the centre of area 1 and bank 2 are within half a unit of zero and the
logit of the temperature has mean 0.5, as in the original bank-8fm; non-linear,
of which no data were at hand, they vary as with 32 inputs. What does not vary
with eight inputs was fitted: spreads 1 (non-linear: 0.25, redelve's own
choice), population 2.5 of area 1, no correlation, effectiveness 0.99, tellers
called at length 3, areas 2 and 3 around (-0.7, 0) and (0.45, 1), banks 1 and 3
at (0.2, 0.3) and (-0.9, -0.15).

Simulator. A home is bivariate normal around the area's centre; bank b is
chosen with probability in proportion to exp(-0.65 distance / temperature).
Customers come at random in 480 minutes, 0.3125 a minute for each unit of
population, 27 per cent of them in the middle fifth of the time. The banks have
two, three and four tellers; a task takes 3.14 minutes on average (exponential)
divided by the teller's skill. A customer joins the shortest open queue. If all
open queues have reached the length "call", another teller is called, who takes
1.6 minutes to come; a teller other than the first who has nobody to serve
leaves if the other open queues are on average shorter than "call". Patience is
exponential, mean 7.8 minutes; when a customer comes in, the last of the longest
queue, if out of patience, changes to a queue that is shorter by at least two.
Whoever finds all open queues at length "mxql" is turned away.

Unpredictability. A teller's skill is the bank's effectiveness times a factor
that is uniform within 0.27 (8 inputs) or 0.33 (32) of one. With high
unpredictability within 0.45, and then only a share of the people of areas 1
and 3 come, uniform between none and all, as the original bank-32nh shows; and
the bank's effectiveness is 1.2 times the 0.4th power of the recorded one times
a log-normal factor (0.38).

Values are written as in the original files: six decimals, or integers.
""",
)


def files(name: str) -> dict[str, str]:
    """All files of a member's folder."""
    member = Member.named(name)
    described, simulation = attributes(member), simulate(member)
    integers = [attribute.type == "integer" for attribute in described]
    rows = [
        [f"{value:.0f}" if whole else f"{value:f}" for value, whole in zip(case, integers, strict=True)]
        for case in np.column_stack([simulation.inputs, simulation.targets]).tolist()
    ]
    return member_files(member, described, rows, ACCOUNT)


bank_8fm = partial(files, "bank-8fm")
bank_8fh = partial(files, "bank-8fh")
bank_8nm = partial(files, "bank-8nm")
bank_8nh = partial(files, "bank-8nh")
bank_32fm = partial(files, "bank-32fm")
bank_32fh = partial(files, "bank-32fh")
bank_32nm = partial(files, "bank-32nm")
bank_32nh = partial(files, "bank-32nh")


def attributes(member: Member) -> list[AttributeLine]:
    """The inputs and the target."""
    varied = all_attributes(variation_of(member).longest)
    shown = [attribute for attribute in varied if member.inputs == 32 or attribute.name in SHOWN_8]
    if member.inputs == 8:
        shown.sort(key=lambda attribute: SHOWN_8.index(attribute.name))
    return [*shown, AttributeLine("rej", "[0,1]", "Share of customers turned away")]


def all_attributes(longest: int) -> list[AttributeLine]:
    """The 32 properties of a town, in the order of Dataset.data."""
    found = []
    for area in range(1, AREAS + 1):
        found += [
            AttributeLine(f"a{area}cx", "[-1,1]", f"East-west position of area {area}"),
            AttributeLine(f"a{area}cy", "[-1,1]", f"North-south position of area {area}"),
            AttributeLine(f"a{area}sx", "[0,Inf)", f"East-west spread of area {area}"),
            AttributeLine(f"a{area}sy", "[0,Inf)", f"North-south spread of area {area}"),
            AttributeLine(f"a{area}rho", "[-1,1]", f"Correlation of the positions of homes in area {area}"),
            AttributeLine(f"a{area}pop", "[0,Inf)", f"Population of area {area}"),
        ]
    found.append(AttributeLine("temp", "(0,1)", "Temperature: how little distance matters for the choice"))
    for bank in range(1, BANKS + 1):
        call = f"{LEAST_CALL}..{longest - 1}"
        found += [
            AttributeLine(f"b{bank}x", "[-1,1]", f"East-west position of bank {bank}"),
            AttributeLine(f"b{bank}y", "[-1,1]", f"North-south position of bank {bank}"),
            AttributeLine(
                f"b{bank}call", call, f"Queue length at which bank {bank} calls a teller", "integer"
            ),
            AttributeLine(f"b{bank}eff", "(0,Inf)", f"Effectiveness of the tellers of bank {bank}"),
        ]
    allowed = f"{LEAST_LONGEST}..{longest}"
    return [*found, AttributeLine("mxql", allowed, "Largest length of a queue", "integer")]


def variation_of(member: Member) -> Variation:
    """How much the towns of this member differ."""
    return VARIATIONS[f"{member.inputs}{member.linearity}"]


def simulate(member: Member, repetition: int = 0) -> Simulation:
    """The cases of a member; another repetition has the same towns, but other tellers and customers."""
    towns = draw_towns(member)
    names = [attribute.name for attribute in attributes(member)[:-1]]
    people, visitors = (
        Draws(seed("dataset", member.name, what, repetition)) for what in ("people", "customers")
    )
    branches = branches_of(town_of(towns), UNPREDICTABILITY[f"{member.inputs}{member.noise}"], people)
    came, lost = (part.reshape(-1, BANKS) for part in turned_away(branches, visitors))
    share = (lost[:, 0] + lost[:, 1] + lost[:, 2]) / np.maximum(came[:, 0] + came[:, 1] + came[:, 2], 1)
    return Simulation(np.column_stack([towns[name] for name in names]), np.round(share, 6))


def branches_of(town: Town, unpredictability: Unpredictability, people: Draws) -> Branches:
    """The banks of all towns, one after the other, with what the inputs do not tell about them."""
    if unpredictability.staying_away:
        coming = people.uniforms(*town.population.shape)
        coming[:, 1] = 1.0
        town = town._replace(population=town.population * coming)
    towns = len(town.longest)
    effectiveness = unpredictability.usual * exponential(
        unpredictability.told * logarithm(town.effectiveness)
        + unpredictability.untold * people.normals(towns, BANKS)
    )
    each = 1 + unpredictability.skill * people.between(-1, 1, towns, BANKS, max(TELLERS))
    there = np.arange(max(TELLERS)) < np.array(TELLERS)[:, None]
    return Branches(
        customers=(MINUTES * RATE * customers(town)).ravel(),
        call=town.call.ravel(),
        longest=np.repeat(town.longest, BANKS),
        skill=np.where(there, effectiveness[:, :, None] * each, 0.0).reshape(-1, max(TELLERS)),
    )


def draw_towns(member: Member) -> dict[str, Numbers]:
    """The 32 properties of each town, by their names, rounded as they are written."""
    draws, variation = Draws(member.seed), variation_of(member)
    found: dict[str, Numbers] = {}
    for number, place in enumerate(variation.areas, 1):
        found |= draw_area(draws, f"a{number}", place, variation)
    middle, spread = variation.temperature
    found["temp"] = 1 / (1 + exponential(-(middle + spread * draws.normals(CASES))))
    found["mxql"] = draws.integers(LEAST_LONGEST, variation.longest, CASES)
    for number, place in enumerate(variation.banks, 1):
        found |= draw_bank(draws, f"b{number}", place, variation, found["mxql"])
    if member.inputs == 8:
        found |= fixed(member.linearity)
    return {name: np.round(values, 6) for name, values in found.items()}


def draw_area(draws: Draws, name: str, place: BankPlace, variation: Variation) -> dict[str, Numbers]:
    """The properties of an area."""
    least, mean = variation.spread
    return {
        f"{name}cx": place.x + place.reach_x * draws.between(-1, 1, CASES),
        f"{name}cy": place.y + place.reach_y * draws.between(-1, 1, CASES),
        f"{name}sx": least + draws.exponentials(mean, CASES),
        f"{name}sy": least + draws.exponentials(mean, CASES),
        f"{name}rho": variation.correlation * draws.between(-1, 1, CASES),
        f"{name}pop": draws.exponentials(POPULATION, CASES),
    }


def draw_bank(
    draws: Draws, name: str, place: BankPlace, variation: Variation, longest: Numbers
) -> dict[str, Numbers]:
    """The properties of a bank."""
    return {
        f"{name}x": place.x + place.reach_x * draws.between(-1, 1, CASES),
        f"{name}y": place.y + place.reach_y * draws.between(-1, 1, CASES),
        f"{name}call": LEAST_CALL + np.floor((longest - LEAST_CALL) * draws.uniforms(CASES)),
        f"{name}eff": draws.between(*variation.effectiveness, CASES),
    }


def fixed(linearity: str) -> dict[str, Numbers]:
    """What does not vary with eight inputs."""
    spreads = {f"a{area}{name}": FIXED_SPREAD[linearity] for area in (1, 2, 3) for name in ("sx", "sy")}
    return {name: np.full(CASES, value) for name, value in (FIXED | spreads).items()}


def town_of(towns: dict[str, Numbers]) -> Town:
    """The properties as the simulator wants them."""

    def columns(name: str) -> Numbers:
        return np.column_stack([towns[name.format(number)] for number in (1, 2, 3)])

    return Town(
        x=columns("a{}cx"),
        y=columns("a{}cy"),
        spread_x=columns("a{}sx"),
        spread_y=columns("a{}sy"),
        correlation=columns("a{}rho"),
        population=columns("a{}pop"),
        temperature=towns["temp"],
        bank_x=columns("b{}x"),
        bank_y=columns("b{}y"),
        call=columns("b{}call"),
        effectiveness=columns("b{}eff"),
        longest=towns["mxql"],
    )
