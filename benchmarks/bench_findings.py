"""What an analysis and its page take: many methods on many tasks, and many cases of one training set.

The alternative is plain NumPy over the same losses: the standard deviation of every pair's differences, which
is the least that any comparison of all pairs needs.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row
from redelve.answers.predictions import Target, Truth
from redelve.findings import find
from redelve.model import Scheme
from redelve.report.page import write_report
from redelve.report.sections import ReportContext
from redelve.report.sections.overview import summarise
from redelve.run.results import Costs, InstanceFacts, Job, MethodFacts, Record, Results, TaskFacts

COMMAND = "python -m benchmarks findings"
TARGET = Target("y", "real")
Numbers = NDArray[np.float64]


def made_task(address: str, sets: int, cases: int, scheme: Scheme = "hierarchical") -> TaskFacts:
    """A task with that many training sets, each with test cases of its own or all with the same."""
    truth = (Truth.exact(TARGET, np.zeros(cases)),)
    starts = [0 if scheme == "common" else number * cases for number in range(sets)]
    instances = tuple(
        InstanceFacts(f"{address} {number}", 64, np.arange(start, start + cases), truth)
        for number, start in enumerate(starts)
    )
    baselines = {"S": 2.0}
    facts = TaskFacts(address, f"digest of {address}", "data", 64, scheme, 1, (TARGET,), instances, baselines)
    return replace(facts, case_count=cases)


def made_results(methods: int, tasks: Sequence[TaskFacts], seed: int = 1) -> Results:
    """Losses of methods that differ a little; test cases and training sets have effects of their own."""
    rng = np.random.default_rng(seed)
    names = [f"method{number}" for number in range(methods)]
    records: list[Record] = []
    for facts in tasks:
        for number, instance in enumerate(facts.instances):
            hardness = rng.gamma(2.0, 0.5, len(instance.case_numbers))
            for place, name in enumerate(names):
                own = rng.gamma(2.0, 0.2, len(hardness)) + 0.005 * place
                job = Job(facts.address, name, number)
                digest, seed = f"{job}", len(records)
                costs = Costs(0.1, 0.01, 0.1, 10_000_000)
                records.append(Record(job, digest, seed, "done", {"S": hardness + own}, costs=costs))
    known = {name: MethodFacts(name, name, {"kind": "made"}, f"{name} is made up.") for name in names}
    return Results({facts.address: facts for facts in tasks}, known, tuple(records))


def everything(results: Results) -> tuple[int, int]:
    """Findings, the text and the page: lines of the text, and bytes of the page."""
    findings = find(results)
    text = summarise(findings)
    with tempfile.TemporaryDirectory() as folder:
        page = write_report(findings, Path(folder) / "report.html", about=ReportContext())
        return len(text.splitlines()), page.stat().st_size


def study(datasets: int = 20, methods: int = 5, runs: int = 2) -> Results:
    """Many data sets as people bring them: several sizes of most, two losses, runs with other seeds."""
    sizes = [(16, 64) if number % 20 < 17 else (64,) for number in range(datasets)]
    tasks = [
        replace(made_task(f"/data{number}/y/std.{size}", 8, 100), training_set_size=size)
        for number, several in enumerate(sizes)
        for size in several
    ]
    first = made_results(methods, tasks)
    records = [
        replace(
            one,
            job=replace(one.job, run=run),
            digest=f"{one.digest} {run}",
            losses={"S": (losses := one.losses["S"] * (1 + 0.01 * run)), "A": np.sqrt(losses)},
        )
        for run in range(runs)
        for one in first.records
    ]
    return replace(first, records=tuple(records))


def plain_pairs(results: Results) -> float:
    """The sum over tasks and pairs of the standard deviation of their differences."""
    total = 0.0
    for address in results.tasks:
        tables = [
            np.array([one.losses["S"] for one in results.of(name, address)]) for name in results.methods
        ]
        for first, second in combinations(tables, 2):
            total += float((first - second).std())
    return total


def seconds(action: Callable[[], object]) -> float:
    """Time of the processor, which what else the machine does hardly changes."""
    start = time.process_time()
    action()
    return time.process_time() - start


def run() -> list[Row]:
    """Findings, text and page of three sizes, each against a bound and against plain NumPy."""
    everything(made_results(3, [made_task("/warm/up/std.64", 2, 20)]))  # packages are imported
    own = [made_task(f"/data{number}/y/std.64", 8, 100) for number in range(20)]
    common = [made_task(f"/data{number}/y/std.64", 8, 500, "common") for number in range(20)]
    many = "50 methods × 20 tasks × 8 training sets"
    return [
        *_rows(f"{many}, own test sets of 100", made_results(50, own), 60.0),
        *_rows(f"{many}, common test sets of 500", made_results(50, common), 60.0),
        *_rows(
            "29 methods × 10,000 cases, one training set",
            made_results(29, [made_task("/data/y/std.64", 1, 10_000)]),
            2.0,
        ),
        *_one_screen(study()),
    ]


def _one_screen(results: Results) -> list[Row]:
    """Twenty data sets fit on a screen, in an e-mail and in a coffee break."""
    start = time.process_time()
    lines, size = everything(results)
    ours = time.process_time() - start
    what = "20 data sets × 5 methods × 2 runs, 37 tasks"
    return [
        _row(f"findings, text and page: {what} (seconds of CPU)", ours, 10.0, "10 seconds", 1.0),
        _row(f"the page: {what} (MB)", size / 1e6, 5.0, "5 MB", 1.0),
        _row(f"the text: {what} (lines)", lines, 60.0, "60 lines", 1.0),
    ]


def _rows(what: str, results: Results, bound: float) -> list[Row]:
    ours, bare = seconds(lambda: everything(results)), seconds(lambda: plain_pairs(results))
    return [
        _row(f"findings, text and page: {what} (seconds of CPU)", ours, bound, f"{bound:g} seconds", 1.0),
        _row(f"the same: {what}", ours, bare, "plain NumPy: deviations of all pairs' differences", None),
    ]


def _row(name: str, ours: float, alternative: float, against: str, bound: float | None) -> Row:
    ratio = ours / alternative
    return {
        "name": name,
        "ours": ours,
        "alternative": alternative,
        "against": against,
        "ratio": ratio,
        "bound": bound,
        "command": COMMAND,
    }
