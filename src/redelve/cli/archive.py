"""redelve archive: look after archives of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from redelve.cli import FAILURE
from redelve.cli import options as of
from redelve.cli.options import Command, UsageError
from redelve.errors import hint

if TYPE_CHECKING:
    from redelve.store import Archive


class ArchiveOptions(of.VerbOptions):
    """What `redelve archive` is told."""

    delve = of.text("d", "a delve directory (its name starts with delve)", "folder")
    losses = of.text("l", "the losses to compute, such as C or Z0.2N", "losses", "")


ARCHIVE = Command(
    "redelve archive",
    "verify archive            check every file and every loss; the exit code is 1 if anything is wrong\n"
    "compact archive           gather the files of single jobs into one for each method and task\n"
    "merge archive other ...   take over the records of other archives (folders or zip files)\n"
    "rescore archive -l codes  compute more losses from the predictions that are kept\n"
    "export archive -d folder  write DELVE's method directories, for mstats and others\n"
    "import archive -d folder  take over the losses and guesses of DELVE's method directories",
    "verify | compact | merge | rescore | export | import  archive [ other ... ] [ -d folder ] [ -l losses ]",
    ArchiveOptions.declared(),
    least=1,
    most=None,
)


Action = Callable[["Archive", ArchiveOptions], str | Iterable[str]]


def perform(actions: Mapping[str, Action], given: ArchiveOptions) -> str | Iterable[str]:
    """Do what the first argument says."""
    from redelve.store import Archive

    verb, *paths = given.arguments
    if verb not in actions:
        raise UsageError(f'unknown action "{verb}": choose {", ".join(actions)}{hint(verb, actions)}')
    if not paths:
        raise UsageError("an argument is missing: the archive")
    path, *others = paths
    if others and verb != "merge":
        raise UsageError(f'too many arguments: "{others[0]}"')
    return actions[verb](Archive.open(path, create=verb in ("merge", "import")), given)


def _compact(held: Archive, _: ArchiveOptions) -> str:
    held.compact()
    return f"{len(held.done())} records\n"


def _merge(held: Archive, given: ArchiveOptions) -> Iterator[str]:
    """What came of each, as soon as it is merged: what is wrong with the next undoes nothing."""
    from redelve.store import Archive

    others = given.arguments[2:]
    if not others:
        raise UsageError("merge needs the archives to take records from")
    for path in others:
        yield f"{path}: {held.merge(Archive.open(path))}\n"


def _rescore(held: Archive, given: ArchiveOptions) -> str:
    from redelve.cli.loss_commands import split_codes

    codes = split_codes(given.losses)
    if not codes:
        raise UsageError("rescore needs the losses to compute: -l C")
    results = held.rescore(codes)
    scored = sum(all(code in record.losses for code in codes) for record in results.records)
    return f"{scored} of {len(results.records)} records have {' '.join(codes)} now\n"


def _export(held: Archive, given: ArchiveOptions) -> str:
    return f"{held.export_delve(_folder(given))}\n"


def _import(held: Archive, given: ArchiveOptions) -> str:
    from redelve.cli.loss_commands import warn
    from redelve.data.delve.reading import Library
    from redelve.data.delve.roots import active
    from redelve.store.delve import facts_from

    count = held.import_delve(_folder(given), facts_from(Library(active())), warn=partial(warn, "archive"))
    held.compact()
    return f"{count} records imported\n"


def _folder(given: ArchiveOptions) -> str:
    if given.delve is None:
        raise UsageError("export and import need a delve directory: -d folder")
    return given.delve


def archive(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    unsound: list[bool] = []

    def verify(held: Archive, _: ArchiveOptions) -> str:
        report = held.verify()
        unsound.append(not report.ok)
        return f"{report}\n"

    actions: dict[str, Action] = {
        "verify": verify,
        "compact": _compact,
        "merge": _merge,
        "rescore": _rescore,
        "export": _export,
        "import": _import,
    }
    code = of.run_verb(ARCHIVE, ArchiveOptions, lambda given: perform(actions, given), argv)
    return code or (FAILURE if any(unsound) else 0)
