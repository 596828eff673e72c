"""Which runs the tables need: a sheet for each part of the experiments and each dataset, made of jobs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from redelve.data.proben1 import parse_name
from redelve.data.proben1.data_sources import Origin
from redelve.data.proben1.proben1_tasks import numbers_and_origin
from redelve.errors import SpecError
from redelve.model import Assignment
from redelve.nets import Engine
from redelve.run.cells import Limits
from redelve.run.experiment import Experiment
from redelve.run.results import Job
from redelve.seeds import seed
from redelve.studies.proben1 import printed
from redelve.studies.proben1.network_method import ProbenNetwork
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


QUICK = ("cancer1", "glass1", "heartac1")
QUICK_RUNS = 5
"""What a demonstration makes."""
IN_THIS_PROCESS = Limits(isolated=False)
"""Networks are redelve's own code: none needs a process of its own."""


@dataclass(frozen=True)
class Amounts:
    """How many runs of a linear network, of a multilayer network, and how many searches of 36 runs."""

    linear: int = printed.LINEAR_RUNS
    multilayer: int = printed.PIVOT_RUNS
    searches: int = 1

    def __post_init__(self) -> None:
        if min(self.linear, self.multilayer, self.searches) < 1:
            raise SpecError(f"{self}: make at least one run")


@lru_cache(maxsize=64)
def task_and_origin(dataset: str) -> tuple[Assignment, Origin]:
    """A dataset's task, its classes coded by outputs, and where its data come from.

    It is a name of PROBEN1's, or a .dt file.
    """
    return numbers_and_origin(dataset)


def task_of(dataset: str) -> Assignment:
    """A dataset's task alone."""
    return task_and_origin(dataset)[0]


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

    @cached_property
    def jobs(self) -> dict[Job, int]:
        """A job for each run, and its seed."""
        seeds, task = self.seeds, task_of(self.dataset).address
        names = {topology: self.method_name(topology) for topology in dict.fromkeys(self.topologies)}
        return {Job(task, names[one], 0, place): seeds[place] for place, one in enumerate(self.topologies)}

    def method_name(self, topology: Topology) -> str:
        """What a network is called as a method, as in pivot-16+8-linear."""
        return f"{self.part}-{topology.nodes}-{topology.output}"

    def methods(self, engine: Engine) -> dict[str, ProbenNetwork]:
        """Its networks by name."""
        mixing, networks = engine.backend != "numpy", dict.fromkeys(self.topologies)
        return {self.method_name(one): ProbenNetwork(one, self.reading, engine, mixing) for one in networks}

    @property
    def work(self) -> int:
        """Weights times training cases of all runs: roughly what an epoch costs."""
        task = task_of(self.dataset)
        nodes = len(task.data.inputs), len(task.data.targets)
        return len(task.instances[0].training) * sum(one.connections(*nodes) for one in self.topologies)


@dataclass(frozen=True)
class Proben1Plan:
    """The tables wanted, and every sheet they need, once."""

    tables: tuple[int, ...]
    sheets: tuple[Sheet, ...]
    left_out: tuple[str, ...] = ()
    """Datasets of these tables whose data are not at hand."""
    unusable: dict[str, str] = field(default_factory=dict)
    """Datasets of these tables whose data are damaged, and what is wrong with each."""

    @property
    def run_count(self) -> int:
        """How many runs there are in all."""
        return sum(len(sheet.topologies) for sheet in self.sheets)

    def experiment(self, engine: Engine) -> Experiment:
        """All of it as jobs; the sheet with the most work comes first."""
        sheets = sorted(self.sheets, key=lambda sheet: -sheet.work)
        methods = {name: method for sheet in sheets for name, method in sheet.methods(engine).items()}
        jobs = {job: seed for sheet in sheets for job, seed in sheet.jobs.items()}
        tasks = {task.address: task for task in map(task_of, dict.fromkeys(one.dataset for one in sheets))}
        on_torch = (engine.backend, engine.device) == ("torch", "cpu")
        limits = replace(IN_THIS_PROCESS, threads=engine.threads or 1) if on_torch else IN_THIS_PROCESS
        return Experiment(methods, tasks, losses=("S",), limits=limits, jobs=jobs)


def datasets_named(names: Iterable[str]) -> list[str]:
    """Datasets of print by their names; that of a problem, such as glass, is for all that it has.

    What print has not may be another name of one that it has, such as glass1a, or is refused.
    """
    found: list[str] = []
    for name in filter(None, map(str.strip, names)):
        meant = [one for one in printed.datasets() if name in (one, one[:-1])]
        found += meant or [str(parse_name(name))]
    return found


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
    datasets = None if datasets is None else datasets_named(datasets)
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
