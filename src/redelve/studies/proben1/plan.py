"""Which runs the tables need: a sheet for each part of the experiments and each dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from redelve.data.proben1 import parse_name
from redelve.errors import SpecError
from redelve.seeds import seed
from redelve.studies.proben1 import printed
from redelve.studies.proben1.readings import LINEAR, PRINTED, SEARCH, TrainingReading
from redelve.studies.proben1.topologies import TRIED, Topology

PARTS = {
    3: ("linear",),
    4: ("linear",),
    5: ("search",),
    6: ("search",),
    7: ("search",),
    8: ("pivot",),
    9: ("pivot",),
    10: ("no-shortcut",),
    11: ("no-shortcut",),
    12: ("pivot", "no-shortcut"),
}
"""The parts of the experiments that each table tells of."""
SINGLE = "mushroom1"
"""The dataset of which a single run was made, with a linear network only (section 3.3.1)."""


@dataclass(frozen=True)
class Amounts:
    """How many runs of a linear network, of a multilayer network, and how many searches of 36 runs."""

    linear: int = printed.LINEAR_RUNS
    multilayer: int = printed.PIVOT_RUNS
    searches: int = 1

    def __post_init__(self) -> None:
        if min(self.linear, self.multilayer, self.searches) < 1:
            raise SpecError(f"{self}: make at least one run")


@dataclass(frozen=True)
class Sheet:
    """Runs on one dataset, by their networks in order; a run's seed depends on nothing but its place."""

    part: str
    dataset: str
    topologies: tuple[Topology, ...]
    reading: TrainingReading
    seed: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed of each run."""
        places = range(len(self.topologies))
        return tuple(seed("study proben1", self.part, self.dataset, self.seed, place) for place in places)

    def first(self, runs: int) -> Sheet:
        """The same with its first runs only."""
        return replace(self, topologies=self.topologies[:runs])


@dataclass(frozen=True)
class Proben1Plan:
    """The tables wanted, and every sheet they need, once."""

    tables: tuple[int, ...]
    sheets: tuple[Sheet, ...]


def datasets_of(table: int) -> tuple[str, ...]:
    """The datasets that a table has rows for."""
    return tuple(row["dataset"] for row in printed.rows(table))


def make_plan(
    tables: Iterable[int],
    reading: TrainingReading,
    *,
    datasets: Sequence[str] | None = None,
    amounts: Amounts | None = None,
    seed: int = 0,
) -> Proben1Plan:
    """What to run for these tables, on these datasets (None: all) and so often (None: as published)."""
    wanted = tuple(sorted(set(tables)))
    for name in datasets or ():
        parse_name(name)
    needed: dict[tuple[str, str], Sheet] = {}
    for table in wanted:
        for dataset in datasets_of(table):
            if datasets is None or dataset in datasets:
                for part in PARTS[table]:
                    sheet = _sheet(part, dataset, reading, amounts or Amounts(), seed)
                    needed[part, dataset] = sheet
    if not needed:
        raise SpecError(
            f"tables {', '.join(map(str, wanted))} tell nothing of {', '.join(datasets or ())}: "
            "name datasets such as glass1, or leave them out for all"
        )
    return Proben1Plan(wanted, tuple(needed.values()))


def _sheet(part: str, dataset: str, reading: TrainingReading, amounts: Amounts, seed: int) -> Sheet:
    if part == "linear":
        runs = 1 if dataset == SINGLE else amounts.linear
        return Sheet(part, dataset, (Topology(),) * runs, LINEAR, seed)
    if part == "search":
        how = SEARCH if reading == PRINTED else reading
        return Sheet(part, dataset, TRIED * amounts.searches, how, seed)
    pivot, _ = printed.pivots()[dataset]
    network = replace(pivot, shortcuts=part == "pivot")
    return Sheet(part, dataset, (network,) * amounts.multilayer, reading, seed)
