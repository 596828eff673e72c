"""Does an executor do its work? A check that anyone can run on an executor of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from redelve.data.tasks import assignments_for
from redelve.methods.contract import METHODS
from redelve.run.experiment import Experiment, plan, run
from redelve.run.results import Record
from redelve.run.workers import EXECUTORS, InProcess, Workers, WorkersLike, as_they_end, workers_for

TASK = "demo/age/std.32"
NUMBERS = range(20)


def check_executor(executor: WorkersLike) -> list[str]:
    """Try whether an executor does each job once, passes errors on, stops, and makes the same records.

    Parameters
    ----------
    executor
        The name of a registered executor, workers, or any `concurrent.futures.Executor`.

    Returns
    -------
    list of str
        What is wrong, a sentence each; empty if nothing is. An executor that never ends a job is not found
        out: the check waits for it.

    Examples
    --------
    >>> check_executor("serial")
    []
    """
    workers = workers_for(executor)
    found: list[str] = []
    for check in (_at_once, _every_job_once, _errors, _closed_early, _same_records):
        try:
            found += check(workers)
        except Exception as error:
            found.append(f"{_sentence(check)}: {type(error).__name__}: {error}")
    return found


def check_executors() -> dict[str, list[str]]:
    """What is wrong with each of the executors that are registered."""
    return {name: check_executor(name) for name in EXECUTORS}


def _sentence(check: Callable[[Workers], list[str]]) -> str:
    return str(check.__doc__).partition("\n")[0].rstrip(".")


def _at_once(workers: Workers) -> list[str]:
    """At least one job is handed out at a time."""
    number = workers.at_once
    return [] if isinstance(number, int) and number >= 1 else [f"at_once is {number!r}, not 1 or more"]


def _every_job_once(workers: Workers) -> list[str]:
    """Every job is done once, by a function made on the spot, and again after the executor was let go."""
    factor = 2
    wanted = [factor * number for number in NUMBERS]
    found = []
    for time in ("at first", "after it was let go of"):
        made = sorted(as_they_end(workers, lambda number: factor * number, NUMBERS, _lost), key=str)
        if made != sorted(wanted, key=str):
            found.append(f"{time}, {len(NUMBERS)} numbers doubled came back as {made}")
    return found


def _errors(workers: Workers) -> list[str]:
    """An error that a job raises comes back."""
    try:
        made = list(as_they_end(workers, _fail, [7], _lost))
    except ZeroDivisionError:
        return []
    return [f"a job that raises ZeroDivisionError came back as {made}"]


def _closed_early(workers: Workers) -> list[str]:
    """Work that is stopped early is stopped, and the executor can be used again."""
    made = as_they_end(workers, _same, NUMBERS, _lost)
    next(made)
    made.close()
    again = list(as_they_end(workers, _same, [1], _lost))
    return [] if again == [1] else [f"after work was stopped early, a job for 1 came back as {again}"]


def _same_records(workers: Workers) -> list[str]:
    """The losses of an experiment are those that one process computes, to the last bit."""
    experiment = Experiment({name: METHODS[name] for name in ("constant", "lin-1")}, assignments_for(TASK))
    jobs = plan(experiment)[:4]
    expected, made = (_losses(run(experiment, jobs, hands)) for hands in (InProcess(), workers))
    wrong = [f"{job}, loss {code}" for job, code in expected if made.get((job, code)) != expected[job, code]]
    return [f"losses differ from those of one process: {', '.join(wrong)}"] if wrong else []


def _losses(records: Iterable[Record]) -> dict[tuple[str, str], list[float]]:
    return {(str(one.job), code): losses.tolist() for one in records for code, losses in one.losses.items()}


def _same(number: int) -> int:
    return number


def _fail(number: int) -> float:
    return number / 0


def _lost(number: int, reason: str) -> str:
    return f"{number} was lost: {reason}"
