"""The main job from end to end: tasks, methods, an experiment, its results, an Assessment to ask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.answers.losses import (
    Loss,
    LossLike,
    as_loss,
    canonical_code,
    chosen_losses,
    known_loss,
    primary_loss_for,
    usual_losses,
)
from redelve.data.scores.score_files import ScoresLike, called, read_scores
from redelve.data.tables.assembly import Labels
from redelve.data.tables.inputs_and_target import TargetLike
from redelve.data.tasks import SizesLike, TasksLike, assignments_for
from redelve.errors import SpecError
from redelve.findings import (
    Findings,
    Margin,
    MarginLike,
    TaskFindings,
    compare_everywhere,
    find,
)
from redelve.findings.failures import failed_jobs_of, failures_frame
from redelve.findings.findings import Validation, coverage_of, many_runs
from redelve.findings.planned import planned_pairs
from redelve.findings.result_frames import (
    cases_frame,
    coverage_frame,
    findings_frame,
    jobs_frame,
    over_tasks_frame,
    runs_frame,
)
from redelve.methods.contract import Method, MethodsLike, default_methods, named_methods, taking
from redelve.model import Assignment
from redelve.model.prototask import DataDescription, described
from redelve.registry import named_fields, named_options, value_told
from redelve.report.contests import Contests
from redelve.report.sections import ReportContext
from redelve.run.cells import Limits, cells_ahead
from redelve.run.experiment import LEAVE_OUT, Experiment, assignment_targets, shard_of
from redelve.run.more_losses import lacks, with_loss
from redelve.run.progress import in_notebook, shown
from redelve.run.results import Results
from redelve.run.workers import WorkersLike
from redelve.settling import BudgetLike, Settling, raced_assignments, seconds_of, settle
from redelve.store import Archive
from redelve.store.archive import Watch, carry_out, keep_results
from redelve.store.fact_files import as_known
from redelve.store.layout import MARKER, no_archive_at, refuse_in_archive, root_in
from redelve.store.look_files import note_analysis
from redelve.store.same_data import adopted
from redelve.store.score_results import Missing, results_of_scores, saying_replaced

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from redelve.findings.case_columns import ByLike
    from redelve.findings.differences import Differences

STOPPED = "stopped: what was done is lost; give archive=… to keep it, and the same call goes on"
STOPPED_AND_KEPT = "stopped: what was done is kept in {path}, and the same call goes on"


@named_options
def assess(  # noqa: PLR0913  (options of a public function are explicit)
    methods: MethodsLike | None,
    tasks: TasksLike,
    target: TargetLike | None = None,
    *,
    groups: str | Labels | None = None,
    design: str | None = None,
    gap: int | None = None,
    sizes: SizesLike = None,
    losses: Sequence[LossLike] | None = None,
    runs: int = 1,
    workers: WorkersLike = 1,
    limits: Limits | None = None,
    on_failure: str = LEAVE_OUT,
    archive: str | os.PathLike[str] | None = None,
    retry: str | None = None,
    shard: str | None = None,
    progress: bool | None = None,
    margin: MarginLike | None = None,
    compare: Sequence[tuple[str, str]] | None = None,
    judge_by: LossLike | None = None,
    until_settled: bool = False,
    budget: BudgetLike | None = None,
) -> Assessment:
    """Run methods on tasks and find out, with honest uncertainty, how well they learn and which is better.

    Parameters
    ----------
    methods
        A dictionary of names and methods, where a method is anything that `as_method` takes: a
        scikit-learn estimator, a function, the words of a command, the name of a built-in method. Or one
        method, or a list of names, estimators and functions, which are called by their own names. None
        takes a sensible set for the targets.
    tasks
        One or several of what `task` takes: addresses such as ``"kin-8nm/dist"``, files, data frames,
        and what `task`, `from_frame` and `from_file` return. Or a pair ``(X, y)``, or a dictionary of names
        and frames.
    target
        The column to predict, where files or frames are given; with one frame also the values themselves.
    groups
        For files and frames, the column that tells which cases belong together.
    design
        For files and frames, how training and test sets are made: ``"cv"``, ``"cv 10x3"``, ``"nested"``,
        ``"time"``, ``"holdout"``, ``"disjoint"`` (see `from_frame`).
    gap
        With ``design="time"``, how many cases are left out between what trains and what tests.
    sizes
        The training-set size, or several, to choose among those of the tasks; all if left out.
    losses
        The losses and metrics to compute: codes (``"S"``), scikit-learn's names (``"roc_auc"``, ``"rmse"``),
        scorers, functions ``metric(y_true, y_pred)``, losses of your own; all usual ones if left out.
    runs
        Runs with different seeds on every training set. From 2 on, redelve tells what varies with the
        seed from what varies with the training set.
    workers
        Who does the work: 1 is this process, a number that many processes, ``"dask"`` or an address
        such as ``"tcp://host:8786"`` a cluster, ``"slurm"`` an array of tasks; the name of another
        executor, workers of `redelve.run.workers`, or any `concurrent.futures.Executor`, which is left
        open. Results do not depend on it.
    limits
        What a job may use: seconds, memory, threads, a process of its own.
    on_failure
        What becomes of jobs that fail: ``"leave out"``, or ``"baseline"`` to have the best constant
        stand in.
    archive
        A folder that keeps every record as soon as it is made. The same call goes on where it was
        stopped, and jobs that the folder holds already are not done again.
    retry
        With an archive, which jobs that failed before are done again: ``"failed"`` (their method raised an
        error), ``"crashed"`` (their process died), ``"all"`` or ``"none"``. Unless it is ``"none"``, a job
        that ran out of time or memory is also done again when it may use more than it had. The new record
        takes the place of the old one.
    shard
        Which part of the jobs to do, as in ``"2/8"``, for machines that share no disk: each does a part into
        an archive of its own, `Archive.merge` brings them together, and the same call without it has all.
    progress
        Whether to show a progress bar: on standard error, or below the cell of a notebook. None shows one
        in notebooks alone.
    margin
        The difference of expected losses that does not matter to you: a number in the units of the loss,
        or a share of the smaller expected loss of the two methods, as in ``"2%"``. redelve then tells
        which methods are equivalent within it and which are not worse by more. Choose it before you look.
    compare
        The pairs of methods that you planned to compare, as in ``[("mine", "theirs")]``. They alone are
        tested, and allow for each other only; all else is described. None compares all pairs.
    judge_by
        The loss or metric to judge by, as in ``"accuracy"``, ``"roc_auc"`` or ``"rmse"``; None for squared
        error, or zero-one where classes are predicted.
    until_settled
        Whether to add training sets only until it is settled which method is best: a race, in which
        methods drop out when they are shown to be worse (docs/until-settled.md). The largest
        training-set size with 16 training sets is raced; choose another with `sizes`. With a
        `margin` the race also ends when all methods left in it are equivalent.
    budget
        With `until_settled`, seconds, or a text such as ``"30min"``: no job begins after them, nor one
        that would end after them if it takes as long as the longest of its method so far. Jobs under
        way come to their end. With an archive the same call goes on later.

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
    check_racing(until_settled, budget=budget, compare=compare, shard=shard)
    how = Settling(_within(margin), _seconds(budget), _place_of(archive), workers, _watch(progress), retry)
    chosen = _chosen_methods(methods, tasks)
    bounds = limits or Limits()
    with cells_ahead(_first_here(chosen, how), bounds):
        options = {"groups": groups, "design": design, "gap": gap}
        assignments = assignments_for(tasks, target, sizes=sizes, options=options, takes=taking(chosen))
        if until_settled or (how.archive is not None and how.archive.exists()):
            assignments = _as_worked_on(assignments, how.archive, until_settled)
        data = described(assignments.values())
        named = _methods_for(assignments.values()) if chosen is None else chosen
        planned = None if compare is None else planned_pairs(compare, named)
        code, wanted = (None, losses) if judge_by is None else _judging(judge_by, losses, assignments)
        experiment = Experiment(named, assignments, runs, wanted, bounds, on_failure, shard=shard_of(shard))
        results = _results_of(experiment, replace(how, loss=code), until_settled)
    return Assessment(results, code, how.archive, data, how.margin, planned, assignments)


@named_options
def compare_scores(  # noqa: PLR0913  (options of a public function are explicit)
    scores: ScoresLike,
    *,
    model: str | None = None,
    case: str | None = None,
    score: str | None = None,
    task: str | None = None,
    run: str | None = None,
    group: str | None = None,
    fold: str | None = None,
    training_set: str | None = None,
    weight: str | None = None,
    prompt: str | None = None,
    slices: str | Sequence[str] = (),
    higher_is_better: bool | None = None,
    metric: str | None = None,
    limits: tuple[float, float] | None = None,
    ratio: float | None = None,
    missing: Missing = "common",
    pooled: bool = False,
    reader: str | None = None,
    unfinished: bool = False,
    name: str | None = None,
    margin: MarginLike | None = None,
    compare: Sequence[tuple[str, str]] | None = None,
    notes: str | Sequence[str] = (),
    chosen_of: Mapping[str, int] | None = None,
    archive: str | os.PathLike[str] | None = None,
) -> Assessment:
    """Compare models by scores that were computed elsewhere, with honest uncertainty.

    Parameters
    ----------
    scores
        A frame of pandas or polars, a file or several (.csv, .tsv, .parquet, .jsonl, .json, and those of
        the tools that redelve knows), or rows as dictionaries. A long table has a row for every score, with
        columns for the model, the case and the score; a wide one has a column for every model.
    model
        The column that tells who was scored; this and the next ones where the columns' names do not tell.
    case
        The column of what they were scored on: questions, test cases.
    score
        The column of the numbers.
    task
        The column of the benchmark or data set that a case belongs to.
    run
        The column that tells several answers of a model to a case apart: samples, epochs, seeds.
    group
        The column of cases that belong together: of the same passage, repository, patient.
    fold
        The column of folds or resamples, of methods that were trained anew for each.
    training_set
        The column of training sets, likewise.
    weight
        The column that says how much a case counts.
    prompt
        The column of what was asked, or of a hash of it.
    slices
        Columns that say more of the cases, such as a topic or a language: `differences` tells where one
        model is worse (docs/where-they-differ.md).
    higher_is_better
        Whether more is better. Left out, the name of the score must tell (``accuracy``, ``loss``).
    metric
        What to call the score; the name of its column if left out. Where the files of a tool have several
        scores (scorers, metrics), which one.
    limits
        The lowest and the highest score there can be, as in ``(0, 1)``.
    ratio
        Of scores of folds without cases, test cases over training cases: 1/9 for ten folds.
    missing
        What becomes of cases that some model has no score on: ``"common"`` leaves them out for all models,
        ``"worst"`` counts the worst score.
    pooled
        Whether to take the cases of all tasks together as one task.
    reader
        Which tool wrote the files, where that can not be told from them.
    unfinished
        Whether to take evaluations that did not end well, which are refused otherwise; it is noted.
    name
        What to call the task, where the table has none; the name of the file if left out.
    margin
        The difference that does not matter to you, as in `assess`.
    compare
        The pairs of models that you planned to compare, as in `assess`.
    notes
        What you know of the data and no table shows, such as a contamination; told beside the results.
    chosen_of
        Models that were picked as the best of several on these very cases, as in ``{"mine": 20}``.
    archive
        A folder to keep the scores in, for `redelve report` and for more models later. Other scores of the
        same models on the same cases that it holds are replaced, which is told.

    Returns
    -------
    Assessment
        Print it for a summary; ask it for comparisons, tables and a report.

    Notes
    -----
    Models are fixed and the cases are a sample: differences are paired case by case, and dependent cases
    count as one (Miller 2024, arXiv:2411.00640; Cochran 1977, chapter 6, for clusters of unequal size).
    Several answers of a model to a case are averaged before. All claims are one family at 5 %, as in
    `assess`. Scores of folds go to the corrected resampled t-test (Nadeau and Bengio 2003).
    docs/bring-results.md tells more.

    Examples
    --------
    >>> import redelve
    >>> rows = [{"model": "a", "case": case, "score": int(case % 9 > 0)} for case in range(99)]
    >>> rows += [{"model": "b", "case": case, "score": int(case % 2 > 0)} for case in range(99)]
    >>> redelve.compare_scores(rows).compare("a", "b")[0].winner
    'a'
    """
    columns = {"model": model, "case": case, "score": score, "task": task, "run": run, "group": group}
    columns |= {"fold": fold, "training_set": training_set, "weight": weight, "prompt": prompt}
    read = partial(read_scores, scores, columns=columns, metric=metric, slices=_each(slices), reader=reader)
    table = read(higher_is_better=higher_is_better, limits=limits, ratio=ratio, unfinished=unfinished)
    name = name or called(scores)
    results = results_of_scores(
        table, missing=missing, name=name, pooled=pooled, said=_each(notes), chosen_of=chosen_of
    )
    planned = None if compare is None else planned_pairs(compare, results.methods)
    within, path = _within(margin), _place_of(archive)
    return Assessment(_kept(results, path), None, path, margin=within, planned=planned)


def _methods_for(assignments: Iterable[Assignment]) -> dict[str, Method]:
    """A sensible set for what is to be predicted."""
    targets = {target for one in assignments for target in assignment_targets(one)}
    return named_methods(default_methods(tuple(targets)))


def _chosen_methods(methods: MethodsLike | None, tasks: object) -> dict[str, Method] | None:
    """The methods by name, None for a sensible set; refused where tasks stand in their place."""
    is_task = (
        hasattr(methods, "columns") or hasattr(methods, "assignments") or isinstance(methods, Assignment)
    )
    values = list(tasks.values()) if isinstance(tasks, Mapping) else [tasks]
    if is_task or any(hasattr(one, "fit") for one in values):
        raise SpecError(
            "methods come first, then the data: assess(methods, tasks); these are the other way round"
        )
    return None if methods is None else named_methods(methods)


def _place_of(archive: str | os.PathLike[str] | None) -> Path | None:
    """The path of an archive, which may be there or not; an error where there can be none."""
    if archive is None:
        return None
    path = Path(archive)
    try:
        path.stat()
    except FileNotFoundError:  # it is made later
        pass
    except ValueError:  # a NUL character is told there
        return path
    except OSError as error:
        raise no_archive_at(path, error) from None
    _check_place(path.resolve().parent)
    return path


def _check_place(path: Path) -> None:
    """Refuse to write a file where only an archive's own files belong."""
    place = path if "\0" in str(path) else path.resolve()  # that is no path, as who writes there tells
    if any((one / MARKER).is_file() for one in (place, *place.parents)):
        refuse_in_archive(path)


def _first_here(methods: Mapping[str, Method] | None, how: Settling) -> Method | None:
    """The method that this process begins with, where it is known to do some work."""
    is_here = isinstance(how.workers, int | str) and how.workers in (1, "serial")
    begins = is_here and (how.archive is None or not how.archive.exists())
    return next(iter(methods.values()), None) if methods and begins else None


def _as_worked_on(
    assignments: dict[str, Assignment], archive: Path | None, until_settled: bool
) -> dict[str, Assignment]:
    """The tasks as an archive that is there knows them, with the training sets that a race may use."""
    known = _as_known(assignments, archive)
    return _as_known(raced_assignments(known.values()), archive) if until_settled else known


def _as_known(assignments: dict[str, Assignment], archive: Path | None) -> dict[str, Assignment]:
    """The tasks by the names that the archive has for the same data and the same sets."""
    if archive is None or not archive.exists():
        return assignments
    root = root_in(archive)
    if not all(map(str.isascii, assignments)):
        assignments = as_known(assignments, root)
    return adopted(root, assignments)


def _within(margin: MarginLike | None) -> Margin | None:
    return None if margin is None else Margin.of(margin)


def _seconds(budget: BudgetLike | None) -> float | None:
    return None if budget is None else seconds_of(budget)


def _each(one_or_more: str | Sequence[str]) -> tuple[str, ...]:
    return (one_or_more,) if isinstance(one_or_more, str) else tuple(one_or_more)


def _watch(progress: bool | None) -> Watch:
    """What shows how far the jobs have come, or lets their records pass."""
    is_shown = in_notebook() if progress is None else progress
    return lambda records, jobs: shown(records, len(jobs)) if is_shown else records


def _judging(
    judge_by: LossLike, losses: Sequence[LossLike] | None, assignments: Mapping[str, Assignment]
) -> tuple[str, Sequence[LossLike] | None]:
    """The code of the loss to judge by, and the losses to compute, which it is one of."""
    judge = _judge_among(losses, judge_by)
    return judge.code, _with_judge(losses, judge, assignments.values())


def _results_of(experiment: Experiment, how: Settling, until_settled: bool) -> Results:
    """What comes of the jobs: of all of them, or of those that a race needs."""
    _check_margin(how.margin, experiment, how.loss)
    try:
        if until_settled:
            return settle(experiment, how)
        return carry_out(experiment, how.archive, workers=how.workers, watch=how.watch, retry=how.retry)
    except KeyboardInterrupt:  # without the pages of where everybody was
        path = how.archive
        raise KeyboardInterrupt(STOPPED if path is None else STOPPED_AND_KEPT.format(path=path)) from None


def _kept(results: Results, archive: Path | None) -> Results:
    """Results of scores, which an archive keeps if there is to be one."""
    if archive is None:
        return results
    return saying_replaced(results, keep_results(archive, results), archive)


def _judge_among(losses: Sequence[LossLike] | None, judge_by: LossLike) -> Loss:
    """The loss to judge by: a code may be that of a loss given beside it, which nobody else knows."""
    given = () if losses is None or not isinstance(judge_by, str) else chosen_losses(losses)
    return next((loss for loss in given if loss.code == judge_by), None) or as_loss(judge_by)


def _with_judge(
    losses: Sequence[LossLike] | None, judge: Loss, assignments: Iterable[Assignment]
) -> Sequence[LossLike] | None:
    """The losses to compute, with the one to judge by."""
    if losses is None and judge.code in {loss.code for loss in usual_losses()}:
        return losses
    if losses is not None:
        chosen = chosen_losses(losses)
        return chosen if judge.code in {loss.code for loss in chosen} else [*chosen, judge]
    targets = [assignment_targets(one) for one in assignments]
    return [*(loss for loss in usual_losses() if all(map(loss.applies_to, targets))), judge]


def _judged(results: Results, judge: Loss, with_answers: Callable[[], Results]) -> Results:
    return with_loss(with_answers(), judge) if lacks(results, judge) else results


def _check_margin(margin: Margin | None, experiment: Experiment, code: str | None) -> None:
    """Refuse a margin that means nothing to the losses that judge, before any job is done."""
    if margin is None:
        return
    limits = []
    for address, facts in experiment.tasks.items():
        chosen = code or primary_loss_for(facts.targets)
        judge = next((one for one in experiment.losses_of[address] if one.code == chosen), None)
        ends = (-inf, inf) if judge is None else judge.limits(facts.targets)
        limits.append(ends)
        if judge is not None and judge.is_shift and ends[0] < 0:
            margin.refuse_share(f"{judge.words} on {address}")
    margin.refuse_all(limits)


def check_racing(until_settled: bool, *, budget: object, compare: object, shard: object) -> None:
    """Refuse what a race alone has a use for, and what it has none for."""
    if budget is not None and not until_settled:
        raise SpecError(
            f"budget={value_told(budget)} is for races alone: give until_settled=True (--until-settled), or "
            "leave it out"
        )
    if compare is not None and until_settled:
        raise SpecError(
            "compare and until_settled don't go together: a race looks for the best of all its methods; give "
            "it two methods to settle one comparison"
        )
    if shard is not None and until_settled:
        raise SpecError(
            "shard and until_settled don't go together: what a race does next depends on all it has seen; "
            "processes with a common archive share a race"
        )


@named_fields
@dataclass(frozen=True)
class Assessment:
    """The results of an assessment, and everything that can be asked of them.

    Printed, it answers three questions: which method, how sure are we, would more data help. You get
    one from `assess`, or make one of what an archive holds:
    ``Assessment(Archive.open("folder").load())``.

    Parameters
    ----------
    results
        The records, with what their tasks and methods are.
    loss
        The code of the loss to judge by; None for squared error, or zero-one where classes are predicted.
    archive
        The folder that the results are from, for what is loaded only when asked.
    data
        The datasets in words, for the report.
    margin
        The difference that does not matter: a number in the units of the loss, or a share as in ``"2%"``.
    planned
        The pairs of methods to compare; None for all.

    Notes
    -----
    Expected losses, standard errors and tests are those of the design: Rasmussen et al. (1996), The
    DELVE manual, chapter 8; Nadeau and Bengio (2003), Machine Learning 52:239–281; Bates, Hastie and
    Tibshirani (2024), Journal of the American Statistical Association 119:1434–1445. All claims are one
    family at 5 %, whose variances learn from each other (Smyth 2004) and whose training-set sizes hand
    down what is left of the level (Wiens 2003). Equivalence is judged by two one-sided tests (Schuirmann
    1987) with the same intervals. docs/statistics.md and docs/comparisons.md have the formulas.

    Examples
    --------
    >>> import redelve
    >>> assessment = redelve.assess(["constant", "lin-1"], "demo/age", sizes=[256])
    >>> list(assessment.frame()["method"])
    ['constant', 'lin-1']
    >>> assessment.judged_by("A").compare("lin-1", "constant")[0].winner
    'lin-1'
    """

    results: Results
    loss: str | None = None
    archive: Path | None = None
    data: tuple[DataDescription, ...] = field(default=(), repr=False)
    margin: MarginLike | None = None
    planned: Sequence[tuple[str, str]] | None = None
    assignments: Mapping[str, Assignment] = field(default_factory=dict, repr=False, compare=False)
    """The tasks with their cases, where the methods were run just now."""

    def judged_by(self, loss: LossLike | None) -> Assessment:
        """The same results judged by another loss or metric, worked out from the answers where need be."""
        if loss is None or isinstance(loss, str):
            return replace(self, loss=canonical_code(loss))
        judge = as_loss(loss)
        return replace(self, results=_judged(self.results, judge, self._with_answers), loss=judge.code)

    @cached_property
    def _judged(self) -> Results:
        """The results with the loss to judge by, worked out where they lack it."""
        judge = None if self.loss is None else known_loss(self.loss)
        return self.results if judge is None else _judged(self.results, judge, self._with_answers)

    def with_archive(self) -> Assessment:
        """The same tasks with the results of every other method that the archive holds on them."""
        if self.archive is None:
            return self
        return replace(self, results=Archive.open(self.archive).beside(self.results))

    @cached_property
    def findings(self) -> Findings:
        """Expected losses, comparisons, curves, costs and validity notes.

        The archive remembers how much there was to look at, for rule V018.
        """
        loss = None if self.loss is None else canonical_code(self.loss)
        found = find(self._judged, loss, planned=self.planned, margin=self.margin)
        if self.archive is not None:
            compared = {task.task.address for task in found.tasks if task.contests}
            note_analysis(Path(self.archive), self.results, compared)  # a text will do
        return found

    def compare(
        self, first: str, second: str, task: str | None = None, *, margin: MarginLike | None = None
    ) -> Contests:
        """Two methods on every task, or on one: differences, intervals and p-values of valid paired tests.

        With a margin, or that of the assessment, also whether they are equivalent within it, or one of them
        not worse by more. On three prototasks or more, `over_tasks` says the same of their average.

        Notes
        -----
        The comparisons allow for each other, not for other pairs of methods: choose the two before you see
        results. Those of `findings` allow for all pairs.
        """
        given = self.margin if margin is None else margin
        within = None if given is None else Margin.of(given)
        chosen = [self._address(task)] if task is not None else list(self.results.tasks)
        contests, over = compare_everywhere(
            self._judged, (first, second), chosen, canonical_code(self.loss), within
        )
        codes = [self.findings.task(address).loss for address in chosen]
        count = len(self.results.methods)
        picked_from = f"{count} {self.results.contender}s" if count > 2 else ""
        return Contests(tuple(chosen), tuple(codes), contests, over, picked_from)

    def differences(
        self, first: str, second: str, task: str | None = None, *, by: ByLike | None = None
    ) -> Differences:
        """Where two methods differ on a task: agreement, the cases that decide, slices of the cases.

        Parameters
        ----------
        first, second
            Their names. Differences are those of the first less the second.
        task
            As in `plot_losses`.
        by
            What cuts the cases into slices: a column's name or several (inputs, the target, ``"truth"``,
            the `slices` of `compare_scores`), or values of your own, as in ``by=frame["colour"]``. Numbers
            are cut at their quartiles.

        Returns
        -------
        Differences
            Print it; `frame()` has a row for every slice, `cases()` one for every case on which they differ.

        Notes
        -----
        The intervals of slices hold all together in 95 % of data sets (Bonferroni): Tango (1998) for errors
        of independent cases, the analysis of the task's design elsewhere (docs/where-they-differ.md).
        """
        from redelve.findings.differences import differences_of

        found = self._task(task)
        address = found.task.address
        return differences_of(
            self._judged,
            (first, second),
            address,
            code=found.loss,
            by=by,
            assignment=self.assignments.get(address),
        )

    def reliability(self, task: str | None = None, *, level: str | None = None) -> pd.DataFrame:
        """Whether class probabilities mean what they say: a row for every method that gave some.

        `level` is the class of interest. Without it, of two classes the second, of more the likeliest. The
        Brier score is miscalibration − discrimination + uncertainty (Dimitriadis et al. 2021).
        """
        from redelve.findings.probabilities import reliability_frame, reliability_of

        address = self._task(task).task.address
        return reliability_frame(reliability_of(self._with_answers(), address, level=level))

    def over_tasks(self) -> pd.DataFrame:
        """A row for every pair of methods on average over tasks; none with fewer than three prototasks.

        Differences are standardised, but for scores of `compare_scores`, which are in their own units; those
        beside a margin are in its own terms, shares or amounts.
        """
        across = self.findings.across
        return over_tasks_frame(() if across is None else across.pairs)

    def frame(self) -> pd.DataFrame:
        """A row for every task and method: expected loss, standard error, interval, standard deviations.

        The interval, `low` to `high`, is a 95 % one of this loss alone. Of many at once more miss than 5 %.
        A method all of whose jobs failed on a task has a row too: `reason` says why.
        """
        return findings_frame(self.findings)

    def failures(self) -> pd.DataFrame:
        """A row for every method, task and reason for which jobs failed: how many of how many, the message.

        Messages that differ in numbers alone are one reason, and the first of them stands for all.
        """
        return failures_frame(failed_jobs_of(self.results))

    def cases(self) -> pd.DataFrame:
        """A row for every job and test case with all its losses."""
        return cases_frame(self.results)

    def jobs(self) -> pd.DataFrame:
        """A row for every job: status, costs, and what its method told of its training."""
        return jobs_frame(self.results)

    def coverage(self, level: float = 0.9) -> pd.DataFrame:
        """How often the central intervals of predictive distributions hold the truth."""
        return coverage_frame(coverage_of(self._with_answers(), level))

    def runs(self, validation: Validation | None = None) -> pd.DataFrame:
        """Statistics over the runs on tasks with one training and one test set (PROBEN1, section 2.8).

        `validation` holds validation errors by method and number of the run, by which the best run is
        chosen.
        """
        found = [many_runs(self.results, task, validation) for task in self.findings.tasks]
        return runs_frame([one for one in found if one is not None])

    def error_percentages(self, output_range: tuple[float, float] = (0.0, 1.0)) -> pd.DataFrame:
        """PROBEN1's errors of every job: squared error percentage, winner-takes-all, thresholds (2.6)."""
        from redelve.findings.error_percentages import errors_frame

        return errors_frame(self._with_answers(), output_range=output_range)

    def report(self, path: str | os.PathLike[str], *, command: str = "") -> Path:
        """Write what was found: .html, .md or .tex by the name's ending, or a folder with everything."""
        from redelve.report.page import write_report

        _check_place(Path(path))
        about = ReportContext(
            command=command,
            data=self.data,
            archive="" if self.archive is None else self.archive.name,
            version=version("redelve"),
        )
        return write_report(self.findings, Path(path), about=about)

    def plot_losses(self, task: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Plot every method's expected loss ± one standard error, the smallest on top.

        Parameters
        ----------
        task
            The address of a task, or the name of a data set, of which the largest training sets are
            taken; it may be left out where there is one data set.
        ax
            The axes to draw on; new ones if left out.

        Returns
        -------
        Axes
            Matplotlib's axes. A filled marker: the method may be the best.
        """
        from redelve.report.plots import plot_losses

        return plot_losses(self.findings, task, ax)

    def plot_differences(self, task: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Plot how much more each method loses than the leader, with intervals that hold all together.

        `task` and `ax` are those of `plot_losses`. A filled dot: the difference is claimed.
        """
        from redelve.report.plots import plot_differences

        return plot_differences(self.findings, task, ax)

    def plot_curves(self, task: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Plot the loss against the number of training cases; `task` and `ax` are those of `plot_losses`."""
        from redelve.report.plots import plot_curves

        return plot_curves(self.findings, task, ax)

    def plot_reliability(
        self,
        *methods: str,
        task: str | None = None,
        level: str | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Plot how often what was given a probability happened: isotonic curves, without bins.

        Of one method the band shows where 95 % of calibrated ones would lie from end to end. `level` is that
        of `reliability`, `task` and `ax` are those of `plot_losses`.
        """
        from redelve.findings.probabilities import reliability_of
        from redelve.report.difference_views import plot_reliability

        address = self._task(task).task.address
        found = reliability_of(self._with_answers(), address, methods or None, level)
        return plot_reliability(found, tuple(self.results.methods), ax)

    def plot_ranks(self, *, ax: Axes | None = None) -> Axes:
        """Plot mean ranks over three or more data sets, with Nemenyi's critical difference (Demšar 2006)."""
        from redelve.report.plots import plot_ranks

        return plot_ranks(self.findings, ax)

    def __str__(self) -> str:
        from redelve.report.sections.overview import summarise

        return summarise(self.findings)

    def __repr__(self) -> str:
        return f"<Assessment: {self.results!r}; print it for a summary>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        from redelve.report.notebook import findings_html

        return findings_html(self.findings)

    def _task(self, task: str | None) -> TaskFindings:
        """What was found on a task, or on the largest of a data set's."""
        from redelve.report.plots import chosen_task

        return chosen_task(self.findings, task)[1]

    def _address(self, task: str) -> str:
        return self.results.task(task if task.startswith("/") else f"/{task}").address

    def _with_answers(self) -> Results:
        """The results with their predictions, which an archive gives only when they are asked for."""
        if self.archive is None:
            return self.results
        digests = {record.digest for record in self.results.records}
        loaded = Archive.open(self.archive).load(digests=digests, answers=True)
        return replace(self.results, records=loaded.records)
