"""redelve proben1: PROBEN1's problems and files in its format: list, check, export, download."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli.options import FAILURE, Command, Given, Option, UsageError, run
from redelve.errors import LocationError, RedelveError, SpecError

if TYPE_CHECKING:
    from redelve.data.proben1 import Export, Rules
    from redelve.model import Assignment

COMMAND = Command(
    "redelve proben1",
    "names               list the fifteen problems, and which of their files are at hand\n"
    "check file …        tell everything that is wrong with files in PROBEN1's format (.dt), and what is\n"
    "                    unusual about them; the exit code is 1 if anything is wrong\n"
    "export data …       write tasks of the catalogue (demo/age), tables or other .dt files in that format,\n"
    "                    each in three random orders, with a text that tells what the coefficients are\n"
    "download name …     get PROBEN1's own files, such as glass1, from a mirror; their content is verified",
    "names | check | export | download  [ argument … ] [ options ]",
    (
        Option("o", "export: the folder to write to, or a name that ends in .dt", "folder", "out"),
        Option(
            "n", "export: numbers of the random orders; 0 keeps the order (1,2,3)", "list", "permutations"
        ),
        Option("i", "export: the training and test set of this instance instead", "number", "instance"),
        Option("t", "export: the column of a table to predict", "column", "target"),
        Option(
            "r",
            "export: a rule such as missing=fixed, ordinal=thermometer, nominal=binary, scaled_by=all",
            "rule",
            "rule",
        ),
        Option(
            "s", "download: address of PROBEN1's directory, or a pattern with {file}", "address", "server"
        ),
    ),
    least=1,
    most=None,
)
TABLES = (".csv", ".tsv", ".parquet", ".arff", ".csv.gz", ".tsv.gz", ".arff.gz")
USUAL = (1, 2, 3)


def names(given: Given) -> Iterator[str]:
    """The problems, a line for each."""
    from redelve.data.proben1 import DATASETS, locate

    if len(given.arguments) > 1:
        raise UsageError(f'too many arguments: "{given.arguments[1]}"')
    for name, facts in DATASETS.items():
        here = []
        for number in USUAL:
            try:
                locate(f"{name}{number}")
            except LocationError:
                continue
            here.append(str(number))
        counts = _counted(facts.inputs, "input"), _counted(facts.outputs, "output")
        size = f"{', '.join(counts)}, {facts.examples} examples"
        files = f"{name}{','.join(here)} at hand" if here else "not at hand"
        yield f"{name:9} {facts.kind:15} {size:40} {facts.title} ({files})\n"


def check(path: str) -> tuple[str, bool]:
    """What is wrong with a file, or what it holds and what is unusual about it; and whether it will do."""
    from redelve.data.files import read_text
    from redelve.data.proben1 import assignment
    from redelve.data.proben1.dt_files import DT_LIMIT, parse_dt
    from redelve.data.problems import Problems

    problems = Problems(path)
    file = parse_dt(read_text(path, limit=DT_LIMIT), problems)
    if file is None or len(problems):
        return "".join(f"{problem}\n" for problem in problems), False
    try:
        made = assignment(path)
    except RedelveError as error:
        return f"{path}: {error}\n", False
    sizes = " + ".join(map(str, file.header.sizes))
    targets = ", ".join(f"{one.name} ({one.range})" for one in made.data.targets)
    inputs = _counted(len(made.data.inputs), "input")
    lines = [f"{path}: {inputs}, {sizes} examples, target {targets}"]
    return "".join(f"{line}\n" for line in (*lines, *(f"  {note}" for note in made.notes))), True


def export(given: Given) -> Iterator[str]:
    """Write the files, telling their names."""
    from redelve.data.proben1 import export as exported

    rules = _rules(given)
    for data in _arguments(given, "what to export, such as demo/age"):
        task = _task(data, given)
        for number in _permutations(given):
            if given.has("i"):
                made = exported(task, instance=_whole(given, "i"), rules=rules)
            else:
                made = exported(task, permutation=number, rules=rules)
            path = _path(given, task, number)
            yield f"{_written(made, path)}\n"


def _arguments(given: Given, what: str) -> Sequence[str]:
    if len(given.arguments) < 2:
        raise UsageError(f"an argument is missing: {what}")
    return given.arguments[1:]


def _rules(given: Given) -> Rules:
    from redelve.data.proben1 import Rules

    chosen = {}
    for text in given.options.get("r", ()):
        name, separator, value = text.partition("=")
        if not separator or name not in Rules.__dataclass_fields__:
            known = ", ".join(Rules.__dataclass_fields__)
            raise UsageError(f'"{text}" is no rule: give name=value, the names being {known}')
        chosen[name] = value
    return Rules(**chosen)  # type: ignore[arg-type]


def _permutations(given: Given) -> Sequence[int]:
    text = given.value("n")
    if given.has("i"):
        if text is not None:
            raise UsageError("-n and -i contradict each other: an instance has its own order")
        return (_whole(given, "i"),)
    if text is None:
        return USUAL
    words = [word.strip() for word in text.split(",")]
    if not all(word.isascii() and word.isdigit() for word in words):
        raise UsageError(f'option "-n" needs whole numbers, as in 1,2,3: got "{text}"')
    return [int(word) for word in words]


def _whole(given: Given, letter: str) -> int:
    text = given.value(letter) or ""
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f'option "-{letter}" needs a whole number: got "{text}"')
    return int(text)


def _task(data: str, given: Given) -> Assignment:
    """The task meant; of several training-set sizes any will do, unless one of its instances is wanted."""
    from redelve.data.proben1 import assignment
    from redelve.data.tables import from_file
    from redelve.data.tasks import assignments_for

    if data.lower().endswith(TABLES):
        found = list(from_file(data, given.value("t")).assignments)
    elif data.lower().endswith((".dt", ".dt.gz")):
        found = [assignment(data)]
    else:
        found = list(assignments_for(data).values())
    if len({one.task.prototask.name for one in found}) > 1:
        raise SpecError(f"{data} has several prototasks: give one, as in {found[0].address}")
    if given.has("i") and len(found) > 1:
        raise SpecError(f"{data} has several training-set sizes: give one, as in {found[0].address}")
    return found[0]


def _path(given: Given, task: Assignment, number: int) -> Path:
    """Where to write: `demo-age1.dt` in the folder, or the file that was named."""
    out = given.value("o")
    if out is not None and out.endswith((".dt", ".dt.gz")):
        if len(given.arguments) > 2 or len(_permutations(given)) > 1:
            raise UsageError(f'"{out}" is one file, but several are to be written: give a folder, or -n 1')
        return Path(out)
    _, dataset, prototask, _ = task.address.split("/")
    kind = f"-instance{number}" if given.has("i") else str(number)
    return Path(out or ".") / f"{dataset}-{prototask}{kind}.dt"


def _written(made: Export, path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    made.write(path)
    beside = path.with_name(f"{path.name.partition('.')[0]}.txt")
    beside.write_text(made.readme(), encoding="utf-8")
    head = made.file.header
    sizes = " + ".join(map(str, head.sizes))
    counts = f"{_counted(head.inputs, 'input')}, {_counted(head.outputs, 'output')}, {sizes} examples"
    return f"{path} and {beside.name}: {counts}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def download(given: Given) -> Iterator[str]:
    """Get files from the server, telling where they are kept."""
    from redelve.data.proben1 import download as fetched

    server = given.value("s")
    if server is None:
        raise UsageError("PROBEN1's own servers are gone: give the address of a mirror with -s https://…")
    for name in _arguments(given, "which file, such as glass1"):
        yield f"{fetched(name, server=server)}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    unsound: list[bool] = []

    def checked(given: Given) -> Iterator[str]:
        for path in _arguments(given, "a .dt file"):
            text, will_do = check(path)
            unsound.append(not will_do)
            yield text

    actions: dict[str, Callable[[Given], Iterator[str]]] = {
        "names": names,
        "check": checked,
        "export": export,
        "download": download,
    }

    def perform(given: Given) -> Iterator[str]:
        if given.arguments[0] not in actions:
            raise UsageError(f'unknown action "{given.arguments[0]}": choose {", ".join(actions)}')
        return actions[given.arguments[0]](given)

    return run(COMMAND, perform, argv) or (FAILURE if any(unsound) else 0)
