"""The `bank` family: what share of a town's customers find all queues of their bank full."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from redelve.data.catalogue.bank_queues import Town, turned_away
from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.portable import Draws, exponential
from redelve.data.catalogue.simulated_family import CASES, Account, Member, Simulation, member_files
from redelve.model.dataset import Numbers
from redelve.seeds import seed

AREAS = BANKS = 3
POPULATION = 3.1
"""Mean of the (exponential) populations."""
MINUTES = {"m": 480.0, "h": 45.0}
"""How long the banks are watched: the shorter, the more is left to chance."""
LEAST_LONGEST, LEAST_CALL = 5, 2
SHOWN_8 = ("a1cx", "a1cy", "b2x", "b2y", "a2pop", "a3pop", "temp", "mxql")
"""What varies with eight inputs; the rest is as in `FIXED`."""


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
    temperature: float
    """Standard deviation of the temperature's logit."""
    effectiveness: tuple[float, float]
    longest: int


ANYWHERE = (BankPlace(0, 0),) * 3
VARIATIONS = {
    "n": Variation(ANYWHERE, ANYWHERE, (0.0, 1.0), 0.5, 1.0, (0.5, 2.0), 9),
    "f": Variation(
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
        temperature=0.2,
        effectiveness=(0.9, 1.1),
        longest=8,
    ),
}
FIXED = {"sx": 0.25, "sy": 0.25, "rho": 0.0, "pop": 2.0, "call": 2.0, "eff": 0.8}

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
of differing effectiveness, impatient customers who change queue) and, from
the original data, the inputs. The simulator is redelve's own.

Inputs. The 32 columns and their distributions for the non-linear members are
those of the original bank-32nm: centres and banks uniform within one unit of
zero, spreads exponential with mean 1, correlations within 0.5, populations
exponential with mean 3.1, effectiveness between 0.5 and 2, longest queues 5
to 9. The length at which a teller is called is uniform between 2 and one
less than the longest queue, and the logit of the temperature is normal, which
agrees with the original data. For the fairly linear members the inputs vary
as in a public sample of the original bank-32fm: centres and banks within
small rectangles, spreads 0.5 plus an exponential of mean 0.1, correlations
within 0.1, effectiveness between 0.9 and 1.1, longest queues 5 to 8,
temperatures near 0.5. The eight inputs of the smaller members are those of
the original bank-8fm, from memory. What does not vary there is redelve's own
choice: the middles of the fairly linear members' rectangles, spreads 0.25,
population 2, no correlation, effectiveness 0.8, tellers called at length 2.

Simulator. Customers come at random, 0.1 a minute for each unit of population;
in the middle fifth of the time come two fifths of them. A home is bivariate
normal around the area's centre; bank b is chosen with probability in
proportion to exp(-4 distance / temperature). Every bank has three tellers, the
first always present, whose skills are 1.2, 1.0 and 0.8 times the bank's
effectiveness; a task takes 7 minutes on average (exponential) divided by
skill. A customer joins the shortest open queue. If all open queues have
reached the length "call", another teller is called, who takes 20 minutes to
come; tellers other than the first leave when they have nobody to serve and
some other queue is shorter than "call". Patience is exponential, mean 5
minutes; when a customer comes in, the last of the longest queue, if out of
patience, changes to a queue that is shorter by at least two. Whoever finds
all open queues at length "mxql" is turned away. The constants were chosen so
that the targets of bank-32nm are distributed much like the original ones
(mean 0.171, largest 0.85, 5 % zeros).

Unpredictability. The banks are watched for 480 minutes (medium) or for 45
(high), beginning empty: redelve's own choice.

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
    varied = all_attributes(VARIATIONS[member.linearity].longest)
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


def simulate(member: Member, repetition: int = 0) -> Simulation:
    """The cases of a member; another repetition has the same towns but other customers."""
    towns = draw_towns(member)
    names = [attribute.name for attribute in attributes(member)[:-1]]
    customers = Draws(seed("dataset", member.name, "customers", repetition))
    rejected = turned_away(town_of(towns), MINUTES[member.noise], customers)
    return Simulation(np.column_stack([towns[name] for name in names]), np.round(rejected, 6))


def draw_towns(member: Member) -> dict[str, Numbers]:
    """The 32 properties of each town, by their names, rounded as they are written."""
    draws, variation = Draws(member.seed), VARIATIONS[member.linearity]
    found: dict[str, Numbers] = {}
    for number, place in enumerate(variation.areas, 1):
        found |= draw_area(draws, f"a{number}", place, variation)
    found["temp"] = 1 / (1 + exponential(-variation.temperature * draws.normals(CASES)))
    found["mxql"] = draws.integers(LEAST_LONGEST, variation.longest, CASES)
    for number, place in enumerate(variation.banks, 1):
        found |= draw_bank(draws, f"b{number}", place, variation, found["mxql"])
    if member.inputs == 8:
        found |= fixed(found)
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


def fixed(towns: dict[str, Numbers]) -> dict[str, Numbers]:
    """What does not vary with eight inputs: the fairly linear members' middles."""
    middle = VARIATIONS["f"]
    values = {name: FIXED[name[2:]] for name in towns if name[2:] in FIXED}
    for number, (area, bank) in enumerate(zip(middle.areas, middle.banks, strict=True), 1):
        values |= {
            f"a{number}cx": area.x,
            f"a{number}cy": area.y,
            f"b{number}x": bank.x,
            f"b{number}y": bank.y,
        }
    return {name: np.full(CASES, value) for name, value in values.items() if name not in SHOWN_8}


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
