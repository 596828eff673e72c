"""What a command is to write, checked before it begins to work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from redelve.cli.options import UsageError


def refuse_inputs(out: str | None, inputs: Iterable[str | None]) -> None:
    """Refuse a file that is one of the command's inputs, by whatever name, and any place in an archive.

    A folder may be both: what is written goes beside what is read.
    """
    if out is None:
        return
    from redelve.store.layout import refuse_in_archive

    refuse_in_archive(Path(out))
    if not Path(out).exists() or Path(out).is_dir():
        return
    for one in inputs:
        if one is not None and Path(one).exists() and Path(out).samefile(one):
            raise UsageError(
                f'can\'t write to "{out}": this command reads it, and it would be lost; choose another name'
            )


def refuse_one_file(first: str, out: str | None, second: str, other: str | None) -> None:
    """Refuse one name for two outputs, of which the second would take the place of the first."""
    if out is not None and other is not None and Path(out).resolve() == Path(other).resolve():
        raise UsageError(f"{first} {out} and {second} {other} are one file: give each a name of its own")


def check_file(out: str | None, what: str, ending: str) -> None:
    """Refuse a name with another ending or without a folder; /dev/stdout and the like will do."""
    from redelve.data.files import is_stream

    if out is None or (is_stream(Path(out)) and not Path(out).is_dir()):
        return
    if Path(out).suffix.lower() != ending:
        raise UsageError(f'can\'t write {what} to "{out}": give a name ending in {ending}')
    if not Path(out).parent.is_dir():
        raise UsageError(f'can\'t write {what} to "{out}": there is no folder "{Path(out).parent}"; make it')
    if Path(out).is_dir():
        raise UsageError(f'can\'t write {what} to "{out}": this is a folder; choose another name')
