"""redelve proben1: PROBEN1's problems and files in its format: list, check, export, download."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from redelve.cli import verb_options as of
from redelve.cli.options import FAILURE, Command, UsageError

if TYPE_CHECKING:
    from redelve.data.proben1 import Rules


class Proben1Options(of.VerbOptions):
    """What `redelve proben1` is told."""

    complaint = 'option "-{letter}" needs {wanted}: got "{text}"'

    out = of.text("o", "export: the folder to write to, or a name that ends in .dt", "folder", ".")
    permutations = of.wholes(
        "n",
        "export: numbers of the random orders; 0 keeps the order (1,2,3)",
        "list",
        of.Wanted("whole numbers, as in 1,2,3", 0),
    )
    instance = of.whole("i", "export: the training and test set of this instance instead", wanted=of.FROM_0)
    target = of.text("t", "export: the column of a table to predict", "column")
    rule = of.texts(
        "r",
        "export: a rule such as missing=fixed, ordinal=thermometer, nominal=binary, scaled_by=all",
        "rule",
    )
    server = of.text("s", "download: address of PROBEN1's directory, or a pattern with {file}", "address")


COMMAND = Command(
    "redelve proben1",
    "names               list the fifteen problems, and which of their files are at hand\n"
    "check file …        tell everything that is wrong with files in PROBEN1's format (.dt), and what is\n"
    "                    unusual about them; the exit code is 1 if anything is wrong\n"
    "export data …       write tasks of the catalogue (demo/age), tables or other .dt files in that format,\n"
    "                    each in three random orders, with a text that tells what the coefficients are\n"
    "download name …     get PROBEN1's own files, such as glass1, from a mirror; their content is verified",
    "names | check | export | download  [ argument … ] [ options ]",
    Proben1Options.declared(),
    least=1,
    most=None,
)


def names(given: Proben1Options) -> Iterator[str]:
    """The problems, a line for each."""
    from redelve.data.proben1 import DATASETS
    from redelve.data.proben1.file_sources import at_hand
    from redelve.data.proben1.own_files import counted

    if len(given.arguments) > 1:
        raise UsageError(f'too many arguments: "{given.arguments[1]}"')
    for name, facts in DATASETS.items():
        here = ",".join(map(str, at_hand(name)))
        size = (
            f"{counted(facts.inputs, 'input')}, {counted(facts.outputs, 'output')}, {facts.examples} examples"
        )
        files = f"{name}{here} at hand" if here else "not at hand"
        yield f"{name:9} {facts.kind:15} {size:40} {facts.title} ({files})\n"


def export(given: Proben1Options) -> Iterator[str]:
    """Write the files, telling their names."""
    from redelve.data.proben1.own_files import ORDERS_WRITTEN, export_files, is_dt

    tasks = _arguments(given, "what to export, such as demo/age")
    if given.instance is not None and given.permutations:
        raise UsageError("-n and -i contradict each other: an instance has its own order")
    orders, rules = given.permutations or ORDERS_WRITTEN, _rules(given)
    if is_dt(given.out) and (len(tasks) > 1 or (given.instance is None and len(orders) > 1)):
        raise UsageError(f'"{given.out}" is one file, but several are to be written: give a folder, or -n 1')
    for data in tasks:
        for made in export_files(
            data, given.out, target=given.target, orders=orders, instance=given.instance, rules=rules
        ):
            yield f"{made}\n"


def _arguments(given: Proben1Options, what: str) -> Sequence[str]:
    if len(given.arguments) < 2:
        raise UsageError(f"an argument is missing: {what}")
    return given.arguments[1:]


def _rules(given: Proben1Options) -> Rules:
    from redelve.data.proben1 import Rules

    chosen = {}
    for text in given.rule:
        name, separator, value = text.partition("=")
        if not separator or name not in Rules.__dataclass_fields__:
            known = ", ".join(Rules.__dataclass_fields__)
            raise UsageError(f'"{text}" is no rule: give name=value, the names being {known}')
        chosen[name] = value
    return Rules(**chosen)  # type: ignore[arg-type]


def download(given: Proben1Options) -> Iterator[str]:
    """Get files from the server, telling where they are kept."""
    from redelve.data.proben1 import download as fetched

    if given.server is None:
        raise UsageError("PROBEN1's own servers are gone: give the address of a mirror with -s https://…")
    for name in _arguments(given, "which file, such as glass1"):
        yield f"{fetched(name, server=given.server)}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 1 if a file will not do."""
    unsound: list[str] = []

    def check(given: Proben1Options) -> Iterator[str]:
        from redelve.data.proben1.own_files import check_file

        for path in _arguments(given, "a .dt file"):
            found = check_file(path)
            unsound.extend([] if found.will_do else [path])
            yield "".join(f"{line}\n" for line in found.lines)

    actions: dict[str, Callable[[Proben1Options], Iterator[str]]] = {
        "names": names,
        "check": check,
        "export": export,
        "download": download,
    }

    def perform(given: Proben1Options) -> Iterator[str]:
        if given.arguments[0] not in actions:
            raise UsageError(f'unknown action "{given.arguments[0]}": choose {", ".join(actions)}')
        return actions[given.arguments[0]](given)

    return of.run_verb(COMMAND, Proben1Options, perform, argv) or (FAILURE if unsound else 0)
