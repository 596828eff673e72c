"""redelve race and redelve gate: verdicts about evaluations under way, and about a new model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from redelve.cli import FAILURE, NO_RESULT, USAGE
from redelve.cli import options as of
from redelve.cli.options import Command, ToldWithCode, UsageError
from redelve.cli.outputs import check_file, refuse_inputs, refuse_one_file
from redelve.cli.score_options import ScoreTableOptions

if TYPE_CHECKING:
    from redelve.findings.elimination import QuestionRace

OPEN = 2
"""How `redelve race` exits where it is open who is the best."""
Options = TypeVar("Options", bound=of.VerbOptions)
COLUMNS = ("case", "score", "task", "run", "group", "weight")
POSITIVE_SHARE = of.Wanted("a number between 0 and 0.5", of.SMALLEST, 0.5)


def _limits(texts: Sequence[str]) -> tuple[float, float] | str:
    if texts[-1] == "none":
        return "none"
    low, high = texts[-1].split(",")
    return float(low), float(high)


def _limits_option(meaning: str, wanted: str) -> of.TypedOption[Any]:
    return of.TypedOption(of.Option("l", meaning, "limits"), _limits, None, wanted)


class RaceOptions(ScoreTableOptions):
    """What `redelve race` is told."""

    questions = of.text("Q", "a file with all questions that may be asked, where scores are growing", "file")
    models = of.names("m", "the models that take part, separated by commas; else all that have scores")
    margin = of.number(
        "d", "the difference that does not matter, in units of the score", "margin", of.POSITIVE
    )
    next = of.text("n", "write the answers to get next to this .csv file", "file")
    batch = of.whole("b", "how many questions are answered between two looks (25)", default=25)
    no_last_look = of.flag("N", "no test after the last question: all looks share the whole level")
    level = of.number("a", "the chance that anything false is said (0.05)", "level", POSITIVE_SHARE)
    seed = of.whole("S", "which random order the questions are asked in (0)", wanted=of.FROM_0, default=0)
    model = of.text("M", "the column of models", "column")
    limits = _limits_option("the lowest and the highest score there can be, as 0,1", "two numbers, as 0,1")


RACE = Command(
    "redelve race",
    "Which model is the best? Reads scores as far as they go, drops models that are shown not to be the\n"
    "best, and tells the verdict and which answers to get next. Exits with 0 if it is settled, 2 if it is\n"
    "open, 3 if something is wrong with files or options. Give it as often as you like while the file\n"
    "grows; anything false is said in at most 5 % of races. docs/gate-and-race.md tells more.",
    "scores [ scores … ] [ -Q questions.csv ] [ -d margin ] [ -n next.csv ] [ options ]",
    RaceOptions.declared(),
    least=1,
    most=None,
)


def _race(given: RaceOptions) -> str:
    """The verdict; the answers to get next are written if that is wanted."""
    from redelve.findings.question_race import race as found_by

    files = given.arguments
    refuse_inputs(given.next, [*files, given.questions])
    check_file(given.next, "the answers to get next", ".csv")
    found = found_by(
        files[0] if len(files) == 1 else files,
        models=given.models or None,
        margin=given.margin,
        level=given.level or 0.05,
        batch=given.batch,
        last_look=not given.no_last_look,
        seed=given.seed,
        columns=_columns(given, "model"),
        higher_is_better=_direction(given.higher, given.lower),
        limits=_bounded(given.limits),
        **given.some("questions", "reader"),
    )
    text = f"{found}\n{_to_do(found, given.next)}"
    return text if found.verdict != "open" else ToldWithCode(text, OPEN)


def _bounded(limits: Any) -> tuple[float, float] | None:
    if limits == "none":
        raise UsageError('option "--limits" needs two numbers, as 0,1: a race needs scores with limits')
    return limits if limits is None else (limits[0], limits[1])


def _to_do(race: QuestionRace, path: str | None) -> str:
    """Which answers to get next, in words, and in the file if one is wanted."""
    if path is not None:
        _write_calls(race, path)
    if not race.missing:
        return ""
    where = f": they are in {path}" if path is not None else " (-n next.csv writes them to a file)"
    models = len({model for model, _ in race.missing})
    whose = "one model" if models == 1 else f"{models} models"
    return f"Next: {len(race.missing):,} answers of {whose}{where}.\n"


def _write_calls(race: QuestionRace, path: str) -> None:
    """A table of the answers to get next; one without rows where there are none."""
    import csv
    import io

    from redelve.data.files import write_atomic

    has_tasks = any(isinstance(case, tuple) for unit in race.rules.pool.units for case in unit)
    made = io.StringIO(newline="")
    writer = csv.writer(made)
    writer.writerow(["model", "task", "case"] if has_tasks else ["model", "case"])
    for model, case in race.missing:
        writer.writerow([model, *(case if isinstance(case, tuple) else (case,))])
    write_atomic(path, made.getvalue())


class GateOptions(ScoreTableOptions):
    """What `redelve gate` is told."""

    than = of.text("T", "the scores of the old model; else they are in the same file", "file")
    margin = of.number("d", "the loss that would matter, in units of the score", "margin", of.POSITIVE)
    model = of.text("m", "the new model, where the file has several", "name")
    than_model = of.text("o", "the old model, where its file has several", "name")
    level = of.number("a", "the chance of a false verdict (0.05)", "level", POSITIVE_SHARE)
    looks = of.whole("k", "how often you will ask while cases are added (1)", default=1)
    missing = of.text("x", "cases that one lacks: common leaves them out, worst counts", "which", "common")
    junit = of.text("j", "write a JUnit report to this file", "file")
    markdown = of.text("w", "write a summary for a pull request to this file", "file")
    limits = _limits_option(
        "the lowest and the highest score there can be, as 0,1, or none", "two numbers, as 0,1, or none"
    )


GATE = Command(
    "redelve gate",
    "Is a new model worse than the old one? Exits with 0 if it is not worse by the margin, 1 if it is\n"
    "worse, 2 if there is not enough evidence, and tells how many cases would settle it; 3 if something is\n"
    "wrong with files or options. A model that has not changed is blocked in at most 5 % of builds.\n"
    "docs/gate-and-race.md tells more.",
    "new.csv --than main.csv --margin 0.01 [ --junit file.xml ] [ --markdown file.md ] [ options ]",
    GateOptions.declared(),
    least=1,
)


def _gate(given: GateOptions) -> str:
    """The verdict; summaries are written if they are wanted."""
    from redelve.data.files import write_atomic
    from redelve.findings.gate import gate as found_by
    from redelve.report.gate_summaries import gate_junit, gate_markdown

    if given.margin is None:
        raise UsageError("a margin is missing: give the loss that would matter, as --margin 0.01")
    for out in (given.junit, given.markdown):
        refuse_inputs(out, [*given.arguments, given.than])
    refuse_one_file("--junit", given.junit, "--markdown", given.markdown)
    found = found_by(
        given.arguments[0],
        margin=given.margin,
        level=given.level or 0.05,
        looks=given.looks,
        columns=_columns(given),
        higher_is_better=_direction(given.higher, given.lower),
        **given.some("than", "model", "than_model", "missing", "limits", "reader"),
    )
    for path, made in ((given.junit, gate_junit), (given.markdown, gate_markdown)):
        if path is not None:
            write_atomic(path, made(found))
    return ToldWithCode(f"{found}\n", found.exit_code)


def _columns(given: of.VerbOptions, *more: str) -> dict[str, str]:
    """Which column is what, where that was said."""
    found = {name: getattr(given, name) for name in (*COLUMNS, *more)}
    return {name: column for name, column in found.items() if column is not None}


def _direction(higher: bool, lower: bool) -> bool | None:
    """Whether more is better, where that was said."""
    if higher and lower:
        raise UsageError("--higher and --lower contradict each other: give one")
    return True if higher else False if lower else None


def _run(
    command: Command, options: type[Options], action: Callable[[Options], str], argv: Sequence[str] | None
) -> int:
    """The exit code: that of the verdict, or `NO_RESULT` where there is none."""
    verdicts: list[str] = []

    def noted(given: Options) -> str:
        verdicts.append(action(given))
        return verdicts[-1]

    code = of.run_verb(command, options, noted, argv)
    return NO_RESULT if not verdicts and code in (FAILURE, USAGE) else code


def race(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return _run(RACE, RaceOptions, _race, argv)


def gate(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return _run(GATE, GateOptions, _gate, argv)
