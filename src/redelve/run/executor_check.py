"""Does an executor keep to the contract? Numbered checks that anyone can run on an executor of their own."""

from __future__ import annotations

from collections.abc import Iterable

from redelve.data.tasks import assignments_for
from redelve.methods.contract import METHODS
from redelve.model.numbered_checks import CheckReport, NumberedChecks, must
from redelve.run.cells import Limits
from redelve.run.experiment import Experiment, plan, run
from redelve.run.results import Record
from redelve.run.workers import InProcess, Workers, WorkersLike, as_they_end, workers_for

TASK = "demo/age/std.32"
NUMBERS = range(20)
CHECKS = NumberedChecks[Workers]()


def check_executor(executor: WorkersLike) -> CheckReport:
    """Try whether an executor does every job once, passes errors on, stops, and changes no loss.

    Parameters
    ----------
    executor
        The name of a registered executor, workers, or any `concurrent.futures.Executor`.

    Returns
    -------
    CheckReport
        A finding for each of the checks X001 to X005. An executor that never ends a job is not found out:
        the checks wait for it.

    Examples
    --------
    >>> check_executor("serial").passed
    True
    """
    name = executor if isinstance(executor, str) else type(executor).__name__
    return CHECKS.report(name, workers_for(executor))


@CHECKS.check("X001", "at least one job is handed out at a time", "`at_once` says how many are under way.")
def _at_once(workers: Workers) -> None:
    number = workers.at_once
    must(isinstance(number, int) and number >= 1, f"at_once is {number!r}, not 1 or more")


@CHECKS.check(
    "X002",
    "every job is done once",
    "Twenty numbers, doubled by a function that is made on the spot, as in a notebook.",
)
def _every_job_once(workers: Workers) -> None:
    factor = 2
    made = sorted(as_they_end(workers, lambda number: factor * number, NUMBERS, _lost), key=str)
    must(made == sorted((factor * number for number in NUMBERS), key=str), f"what came back is {made}")


@CHECKS.check("X003", "an error that a job raises comes back", "What went wrong must not get lost.")
def _errors(workers: Workers) -> None:
    try:
        made = list(as_they_end(workers, _fail, [7], _lost))
    except ZeroDivisionError:
        return
    must(False, f"a job that raises ZeroDivisionError came back as {made}")


@CHECKS.check(
    "X004",
    "it can be stopped early and used again",
    "After `close` the executor is asked for anew: for the next assessment, or after Ctrl-C in a notebook.",
)
def _closed_early(workers: Workers) -> None:
    made = as_they_end(workers, _same, NUMBERS, _lost)
    next(made)
    made.close()
    again = list(as_they_end(workers, _same, [1], _lost))
    must(again == [1], f"after work was stopped early, a job for 1 came back as {again}")


@CHECKS.check(
    "X005",
    "losses are those of one process, to the last bit",
    "Who does the work must not matter. Workers need the same packages and the job's number of threads.",
)
def _same_records(workers: Workers) -> None:
    methods = {name: METHODS[name] for name in ("constant", "lin-1")}
    experiment = Experiment(methods, assignments_for(TASK), limits=Limits(isolated=False))
    jobs = plan(experiment)[:4]
    expected, made = (_losses(run(experiment, jobs, hands)) for hands in (InProcess(), workers))
    wrong = [f"{job}, loss {code}" for job, code in expected if made.get((job, code)) != expected[job, code]]
    must(not wrong, f"other losses: {'; '.join(wrong)}")


def _losses(records: Iterable[Record]) -> dict[tuple[str, str], list[float]]:
    return {(str(one.job), code): losses.tolist() for one in records for code, losses in one.losses.items()}


def _same(number: int) -> int:
    return number


def _fail(number: int) -> float:
    return number / 0


def _lost(number: int, reason: str) -> str:
    return f"{number} was lost: {reason}"
