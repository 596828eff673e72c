"""redelve assess and redelve report: which method is better on your data, and how sure that is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from redelve.cli import NO_RESULT
from redelve.cli import options as of
from redelve.cli import table_options as tables
from redelve.cli.options import Command, ToldWithCode, UsageError, write
from redelve.cli.outputs import refuse_inputs
from redelve.errors import hint, in_words

if TYPE_CHECKING:
    from pathlib import Path

    from redelve.assessment import Assessment
    from redelve.data.tables import Intake
    from redelve.data.tasks import Takes, TaskLike
    from redelve.methods.contract import Method
    from redelve.run.results import Results

WHOLE = of.Wanted("whole numbers above 0", 1)
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
SHARD_DONE = (
    "Part {part} is done: {count} jobs are in {folder}/archive. When all parts are, bring their archives "
    "together with\n`redelve archive merge {folder}/archive other-archive …`, and give this command without "
    "--shard.\n"
)
AGAIN = "Jobs that failed are kept: the same command with --retry failed (or crashed, all) does them again."
LOOKED_AT = (
    "Jobs that failed before a look of a race stay as they are, since looks stand: to race anew, give "
    "another folder (-o)."
)
BUDGET_ENDED = (
    "The budget of {budget} ran out before the {races} settled: the same command goes on, with a budget of "
    "its own."
)
ISOLATED: bool | None = True
"""Each job has a process of its own."""
POLICIES = {"leave-out": "leave out", "baseline": "baseline"}


def _who_works() -> str:
    from redelve.run import EXECUTORS

    return f"who does the work: {', '.join(EXECUTORS)}"


def _policy(given: Sequence[str]) -> str:
    if given[-1] not in POLICIES:
        told = f"choose {' or '.join(POLICIES)}{hint(given[-1], POLICIES)}"
        raise UsageError(f'unknown policy "{given[-1]}": {told}')
    return POLICIES[given[-1]]


def _memory(letter: str, meaning: str, argument: str = "size") -> of.TypedOption[int | None]:
    """A number of bytes, such as 2G."""

    def size(given: Sequence[str]) -> int:
        unit = UNITS.get(given[-1][-1:].upper(), 0)
        return int(of.POSITIVE.number(given[-1][:-1] if unit else given[-1]) * (unit or 1))

    return of.TypedOption(of.Option(letter, meaning, argument), size, None, of.POSITIVE.words)


def pairs(letter: str, meaning: str, argument: str = "pairs") -> of.TypedOption[tuple[tuple[str, str], ...]]:
    """Pairs of names such as mine:theirs."""

    def found(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
        both = [part.partition(":") for part in of.parts(given)]
        if not all(first.strip() and second.strip() for first, _, second in both):
            raise ValueError
        return tuple((first.strip(), second.strip()) for first, _, second in both)

    return of.TypedOption(of.Option(letter, meaning, argument), found, (), "pairs of names, as mine:theirs")


class AssessOptions(of.VerbOptions):
    """What `redelve assess` is told."""

    target = of.text("t", "the column to predict", "column")
    methods = of.names("m", "methods by name (`redelve methods` lists them), or methods.py, methods.py:mine")
    program = of.texts("p", "a program as a method, name=command; may be given again", "program")
    loss = of.text("l", "the loss or metric to judge by: S, Z, accuracy, roc_auc, f1_macro, rmse", "code")
    sizes = of.wholes("s", "training-set sizes, separated by commas", "sizes", WHOLE)
    runs = of.whole("r", "runs with different seeds on each training set", wanted=WHOLE, default=1)
    until_settled = of.flag("u", "add training sets until the best method is settled; losers drop out")
    budget = of.text("b", "with -u, begin no job that would end after this time, such as 30min or 8h", "time")
    out = of.text("o", "the folder for descriptions, archive and report", "folder")
    group = of.text("g", "the column that tells which cases belong together", "column")
    kind = of.text("k", "classification or regression, where numbers could be either", "kind")
    design = of.text("D", "how sets are made: cv, nested, time, holdout or disjoint", "design")
    cv = of.text("K", "cross-validation, with folds or folds x repetitions: 10 or 10x3", "folds")
    gap = of.whole("G", "with -D time, cases left out between training and test", wanted=of.FROM_0)
    ignore, missing = tables.ignore(), tables.missing()
    encoding, decimal = tables.encoding(), tables.decimal()
    executor = of.text("e", _who_works, "name")
    workers = of.whole("w", "how many processes", wanted=WHOLE)
    scheduler = of.text("S", "the address of a Dask scheduler, such as tcp://host:8786", "address")
    time_limit = of.number("T", "the most seconds that a job may take", "seconds", of.POSITIVE)
    memory_limit = _memory("M", "the most memory that a job may take, such as 2G")
    confined = of.flag("C", "keep methods from files, network and other processes (Linux)")
    on_failure = of.TypedOption(
        of.Option("f", "what becomes of jobs that fail: leave-out or baseline", "policy"),
        _policy,
        "leave out",
    )
    retry = of.text("R", "do jobs again that failed before: failed, crashed, all or none", "which")
    shard = of.text("N", "do a part of the jobs alone, as 2/8, into an archive to be merged", "part")
    margin = of.text("d", "the difference that does not matter: 2%, or 0.5 in units of the loss", "margin")
    compare = pairs("c", "planned comparisons, mine:theirs, separated by commas; no others are tested")
    quiet = of.quiet()


ASSESS = Command(
    "redelve assess",
    "Run learning methods on tables (.csv, .tsv, .parquet, .arff, .dt) or on tasks of the catalogue,\n"
    "compare them, and write a report. Everything is kept in a folder: the same command, given again, goes\n"
    "on where it was stopped. What was understood of a table is written there, for you to change.",
    "data [ data … ] [ -t column ] [ options ]",
    AssessOptions.declared(),
    least=1,
    most=None,
)


def _assess(given: AssessOptions) -> str:
    """Do the main job; what was understood of the data is shown before it, for it may take long."""
    import shlex
    from pathlib import Path

    from redelve.methods.contract import taking
    from redelve.store.layout import MARKER, refuse_in_archive

    words = sys.argv[2:] if sys.argv[1:2] == ["assess"] else given.arguments
    out = Path(given.out or _default_folder(given.arguments[0]))
    if (out / MARKER).is_file():
        raise UsageError(f'can\'t write to "{out}": this is an archive; name the folder that is to hold one')
    if any((one / MARKER).is_file() for one in out.resolve().parents):
        refuse_in_archive(out)
    if given.retry is not None:
        _refuse_retry(given.retry)
    if _executor(given) == "serial" and not (given.workers or given.scheduler or (out / "archive").exists()):
        _begin_to_load(given)
    methods = _methods(given)
    if given.until_settled or given.budget is not None:
        _refuse_no_race(given, methods)
    takes = taking(methods)
    _refuse_namesakes(given.arguments)
    prepared = [_task(name, given, out, takes) for name in given.arguments]
    report_path = _report_path(out, given.arguments, [path for _, path in prepared])
    assessment = _carried_out(given, methods, [made for made, _ in prepared], out / "archive")
    if given.shard is not None:
        return SHARD_DONE.format(part=given.shard, count=len(assessment.results.records), folder=out)
    if not given.until_settled:
        assessment = assessment.with_archive()
    try:
        written = assessment.report(report_path, command=shlex.join(["redelve", "assess", *words]))
        report = f"Report: {written}"
    except OSError as error:  # what was found out is told all the same
        report = f"No report was written: {in_words(error)}"
    text, results = f"{assessment}\n\n{report}\n", assessment.results
    if results.failures:
        text += "".join(f"{line}\n" for line in _about_failures(results))
    if given.budget is not None:
        text += _about_budget(results, given.budget)
    return told_with_code(assessment, text) if results.failures else text


def _about_failures(results: Results) -> Iterator[str]:
    """What can be done about failed jobs."""
    looked_at = [one for one in results.failures if results.is_looked_at(one.job)]
    if len(looked_at) < len(results.failures):
        yield AGAIN
    if looked_at:
        yield LOOKED_AT


def _about_budget(results: Results, budget: str) -> str:
    """Which races the budget did not suffice for."""
    from redelve.report.formatting import several_names

    left = [address for address, race in results.races.items() if not race.is_over]
    if not left:
        return ""
    told, tasks = budget if budget[-1:].isalpha() else f"{budget} s", several_names(left, "tasks")
    races = f"race on {tasks} was" if len(left) == 1 else f"races on {tasks} were"
    return f"{BUDGET_ENDED.format(budget=told, races=races)}\n"


def _refuse_retry(retry: str) -> None:
    """Before anything is written."""
    from redelve.store.retrying import checked_retry

    checked_retry(retry)


def _refuse_no_race(given: AssessOptions, methods: dict[str, Method] | None) -> None:
    """Before what was understood of a table is written to a folder."""
    from redelve.assessment import check_racing
    from redelve.settling import check_racers, seconds_of

    check_racing(given.until_settled, budget=given.budget, compare=given.compare or None, shard=given.shard)
    if given.budget is not None:
        seconds_of(given.budget)
    if methods is not None:
        check_racers(methods)


def _refuse_namesakes(names: Sequence[str]) -> None:
    """Before one table's description is taken for another's."""
    if len(names) > 1:
        from redelve.data.namesakes import refuse_other_files
        from redelve.data.tasks import is_table

        refuse_other_files([name for name in names if is_table(name)])


def _executor(given: AssessOptions) -> str:
    """Who does the work."""
    usual = "dask" if given.scheduler else "processes" if given.workers else "serial"
    return given.executor or usual


def _carried_out(
    given: AssessOptions, methods: dict[str, Method] | None, tasks: list[TaskLike], archive: Path
) -> Assessment:
    """Have the methods do the tasks; what the report is made with is loaded meanwhile."""
    from redelve.assessment import assess as carry_out
    from redelve.run.cells import Limits
    from redelve.run.workers import workers_from

    if given.shard is None:
        threading.Thread(target=_load_report, daemon=True).start()
    return carry_out(
        methods,
        tasks,
        sizes=given.sizes or None,
        judge_by=given.loss,
        runs=given.runs,
        until_settled=given.until_settled,
        margin=given.margin,
        budget=given.budget,
        workers=workers_from(_executor(given), count=given.workers, scheduler=given.scheduler),
        limits=Limits(given.time_limit, given.memory_limit, isolated=ISOLATED, confined=bool(given.confined)),
        on_failure=given.on_failure,
        archive=archive,
        retry=given.retry,
        shard=given.shard,
        progress=not given.quiet,
        compare=given.compare or None,
    )


def _begin_to_load(given: AssessOptions) -> None:
    """Have the libraries of the user's methods loaded for their cells, while this process loads them too."""
    own = [name for name in given.methods if of.is_own(name)]
    if given.confined or not own:
        return
    from redelve.cli.own_methods import imported_by
    from redelve.run.cells import expect

    if modules := imported_by(own):
        expect(modules)


def _load_report() -> None:
    """Load what the report is made with, while methods are at work in processes of their own."""
    from redelve.report.page import load_page_tools

    load_page_tools()


def told_with_code(assessment: Assessment, text: str) -> str:
    """The text, with an exit code if a method came to nothing."""
    from redelve.findings.failures import methods_without_results

    return ToldWithCode(text, NO_RESULT) if methods_without_results(assessment.results) else text


def _default_folder(name: str) -> str:
    import re
    from pathlib import Path

    from redelve.data.tasks import is_data_file

    bare = Path(name).name.partition(".")[0] if is_data_file(name) else re.sub("[/:]", "-", name.strip("/"))
    return f"{bare}-assessment"


def _task(name: str, given: AssessOptions, out: Path, takes: Takes) -> tuple[TaskLike, Path | None]:
    """An address as it stands; a file made ready and shown, a table by its description in the folder.

    And where that description is.
    """
    from redelve.data.tables import Intake, write_description
    from redelve.data.tasks import described_in, is_data_file, is_table, suited, task

    design, corrected = _design(given), given.some(*tables.CORRECTIONS)
    if not is_data_file(name):
        return name, None
    path: Path | None = None
    made: TaskLike
    if not is_table(name):
        made, hint = task(name), ""
    else:
        path, description = described_in(out, name, given.target)
        asked: Any = {"groups": given.group, "kind": given.kind, "design": design, "gap": given.gap}
        made = task(name, given.target, description=description, **asked, **corrected)
        if isinstance(made, Intake) and made.other is not None:
            made = suited(made, takes)
        hint = f"\n  (change this in {path} and give the command again)"
        if path.exists() and (design is not None or any(corrected.values())):
            hint = f"\n  (this command comes before {path}, which says the rest)"
        elif isinstance(made, Intake) and not path.exists():
            if given.until_settled:
                _refuse_design(made)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_description(path, made.description)
    if not given.quiet:
        write([f"{made}{hint}\n\n"])
    elif isinstance(made, Intake):
        of.tell_warnings("redelve assess", made.warnings)
    return made, path


def _refuse_design(table: Intake) -> None:
    """Where a race can't add training sets, before the design is written to a folder."""
    from redelve.settling import check_design

    for one in table.assignments:
        check_design(one)


def _design(given: AssessOptions) -> str | None:
    if given.cv is not None and given.design is not None:
        raise UsageError(f"--cv {given.cv} and --design {given.design} are two designs: give one")
    return given.design if given.cv is None else f"cv {given.cv}"


def _report_path(out: Path, names: Sequence[str], described: Sequence[Path | None]) -> Path:
    """Where the report goes: that on a second target of a table has a name of its own."""
    from pathlib import Path

    path = described[0]
    if len(names) > 1 or path is None:
        return out / "report.html"
    stem = Path(names[0]).name.partition(".")[0]
    return out / f"report{path.stem.removeprefix(stem)}.html"


def _methods(given: AssessOptions) -> dict[str, Method] | None:
    """The methods named, and programs; None leaves the choice to redelve."""
    import shlex

    from redelve.methods.contract import named_methods

    methods = of.methods_told(given.methods)
    for text in given.program:
        name, separator, command = text.partition("=")
        if not separator or not name or not command.strip():
            raise UsageError(
                f'"{text}" is no program: give a name and a command, as in mine="awk -f mine.awk"'
            )
        try:
            methods[name] = shlex.split(command)
        except ValueError as error:
            raise UsageError(f'"{text}" is no program: {str(error).lower()}') from None
    return named_methods(methods) if methods else None


def assess(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    try:
        return of.run_verb(ASSESS, AssessOptions, _assess, argv)
    finally:
        if (cells := sys.modules.get("redelve.run.cells")) is not None:
            cells.let_go()  # what was begun for jobs that did not come


class ReportOptions(of.VerbOptions):
    """What `redelve report` is told."""

    out = of.text("o", "the file or folder to write", "file")
    loss = of.text("l", "the loss or metric to judge by: S, Z, accuracy, roc_auc, f1_macro, rmse", "code")
    methods = of.names("m", "only these methods, separated by commas")
    tasks = of.names("t", "only these tasks, separated by commas", "addresses")
    margin = of.text("d", "the difference that does not matter: 2%, or 0.5 in units of the loss", "margin")
    compare = pairs("c", "planned comparisons, mine:theirs, separated by commas; no others are tested")


REPORT = Command(
    "redelve report",
    "Analyse what an archive holds and write it to a file: .html, .md or .tex by its name, or a folder with\n"
    "a page, tables and figures. Without -o the summary is printed.",
    "archive [ -o file ] [ -l code ] [ -m names ] [ -t tasks ] [ -d margin ] [ -c pairs ]",
    ReportOptions.declared(),
    least=1,
)


def _report(given: ReportOptions) -> str:
    """The summary; the file is written if one is wanted."""
    from pathlib import Path

    from redelve.assessment import Assessment
    from redelve.store import Archive

    path = Path(given.arguments[0])
    refuse_inputs(given.out, given.arguments)
    chosen = Archive.open(path).load(methods=given.methods or None, tasks=given.tasks or None)
    assessment = Assessment(chosen, given.loss, path, margin=given.margin, planned=given.compare or None)
    if given.out is None:
        return told_with_code(assessment, f"{assessment}\n")
    written = assessment.report(given.out, command=f"redelve report {path} -o {given.out}")
    return told_with_code(assessment, f"{assessment}\n\nReport: {written}\n")


def report(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(REPORT, ReportOptions, _report, argv)
