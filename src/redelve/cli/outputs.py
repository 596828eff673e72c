"""What a command is to write, checked before it begins to work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from redelve.cli.options import UsageError


def refuse_inputs(out: str | None, inputs: Iterable[str | None]) -> None:
    """Refuse an output that is one of the command's inputs, by whatever name."""
    if out is None or not Path(out).exists():
        return
    for one in inputs:
        if one is not None and Path(one).exists() and Path(out).samefile(one):
            raise UsageError(
                f'can\'t write to "{out}": this command reads it, and it would be lost; choose another name'
            )


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
