"""The main job from end to end: tasks, methods, an experiment, its results, an Assessment to ask."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from redelve.answers.losses import LossLike
from redelve.data.tasks import TaskLike, assignments_for
from redelve.methods.contract import MethodsLike, default_methods, named_methods
from redelve.registry import named_options
from redelve.report.assessed import Assessment
from redelve.report.sections import described
from redelve.run.cells import Limits
from redelve.run.experiment import LEAVE_OUT, Experiment, assignment_targets
from redelve.run.progress import shown
from redelve.run.workers import WorkersLike
from redelve.store.archive import carry_out


@named_options
def assess(  # noqa: PLR0913  (options of a public function are explicit)
    methods: MethodsLike | None,
    tasks: TaskLike | Iterable[TaskLike],
    *,
    sizes: Sequence[int] | None = None,
    losses: Sequence[LossLike] | None = None,
    runs: int = 1,
    workers: WorkersLike = 1,
    limits: Limits | None = None,
    on_failure: str = LEAVE_OUT,
    archive: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Assessment:
    """Run methods on tasks and find out, with honest uncertainty, how well they learn and which is better.

    Parameters
    ----------
    methods
        A dictionary of names and methods, where a method is anything that `as_method` takes: a
        scikit-learn estimator, a function, the words of a command, the name of a built-in method. Or a
        list of names of built-in methods. None takes a sensible set for the targets.
    tasks
        One or several of what `task` takes: addresses such as ``"kin-8nm/dist"``, files, and what `task`,
        `from_frame` and `from_file` return.
    sizes
        Training-set sizes to choose among those of the tasks; all if left out.
    losses
        The losses to compute, or their codes, as in ``["S", Huber()]``; all usual ones that apply if left
        out.
    runs
        Runs with different seeds on every training set. From 2 on, redelve tells what varies with the
        seed from what varies with the training set.
    workers
        Who does the work: 1 is this process, a number that many processes, ``"dask"`` or an address
        such as ``"tcp://host:8786"`` a cluster; the name of another executor, workers of
        `redelve.run.workers`, or any `concurrent.futures.Executor`, which is left open. Results do not
        depend on it.
    limits
        What a job may use: seconds, memory, threads, a process of its own.
    on_failure
        What becomes of jobs that fail: ``"leave out"``, or ``"baseline"`` to have the best constant
        stand in.
    archive
        A folder that keeps every record as soon as it is made. The same call goes on where it was
        stopped, and jobs that the folder holds already are not done again.
    progress
        Whether to show a progress bar on standard error.

    Returns
    -------
    Assessment
        Print it for a summary; ask it for comparisons, tables and a report.

    Raises
    ------
    RedelveError
        A method or a task is not there, or a method can not work on a task. A method that fails at
        work raises nothing: its record says so.

    Notes
    -----
    Each method learns from the same training sets and is judged on the same test cases; their losses
    are compared case by case. Expected losses and their standard errors come from the analysis of
    variance that fits the design: Rasmussen et al. (1996), The DELVE manual, chapter 8, for training
    sets that share no case; Nadeau and Bengio (2003) and Bates et al. (2024) for cross-validation.
    docs/statistics.md has the formulas, docs/calibration.md how far they hold.

    Examples
    --------
    >>> import redelve
    >>> assessment = redelve.assess(["constant", "lin-1"], "demo/age", sizes=[256])
    >>> (contest,) = assessment.compare("lin-1", "constant")
    >>> contest.winner
    'lin-1'
    """
    assignments = assignments_for(tasks, sizes=sizes)
    data = described(assignments.values())
    if methods is None:
        targets = {target for one in assignments.values() for target in assignment_targets(one)}
        methods = default_methods(tuple(targets))
    experiment = Experiment(
        named_methods(methods),
        assignments,
        runs=runs,
        losses=losses,
        limits=limits or Limits(),
        on_failure=on_failure,
    )
    results = carry_out(
        experiment,
        archive,
        workers=workers,
        watch=lambda records, jobs: shown(records, len(jobs)) if progress else records,
    )
    path = None if archive is None else Path(archive)
    return Assessment(results, archive=path, data=data)
