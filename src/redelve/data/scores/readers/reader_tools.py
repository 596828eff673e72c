"""What readers have in common: files below folders, choosing one of several scores, names of models."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from redelve.data.scores.score_readers import ScoreWish
from redelve.data.scores.score_table import plain_stem
from redelve.errors import FormatError, LocationError, SpecError, near_names

MOST_FILES = 100_000
SHOWN = 12


def files_below(folder: Path, is_one: Callable[[Path], bool]) -> Iterator[Path]:
    """The files in a folder and its folders that are meant, in the order of their names."""
    seen = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            seen += 1
            if seen > MOST_FILES:
                raise LocationError(
                    f"{folder}: more than {MOST_FILES:,} files: name the folder that has the results"
                )
            if is_one(path := Path(place, name)):
                yield path


def any_below(folder: Path, is_one: Callable[[Path], bool]) -> bool:
    """Whether a folder has such a file; False where it has too many to look through."""
    try:
        return next(files_below(folder, is_one), None) is not None
    except LocationError:
        return False


def gathered(paths: Sequence[Path], is_one: Callable[[Path], bool], title: str) -> list[Path]:
    """The files given, and those in the folders given."""
    found: list[Path] = []
    for path in paths:
        inside = list(files_below(path, is_one)) if path.is_dir() else [path]
        if not inside:
            raise LocationError(f"{path}: there are no {title} in this folder")
        found += inside
    return list(dict.fromkeys(found))


def chosen(names: Iterable[str], wish: ScoreWish, source: str) -> str:
    """The score that is wanted, or the only one; an error that lists them where there are several."""
    known = list(dict.fromkeys(names))
    if not known:
        raise SpecError(f"{source}: there are no scores that are numbers; score the answers first")
    if wish.score is None and len(known) == 1:
        return known[0]
    if wish.score in known:
        return wish.score
    shown = ", ".join(known[:SHOWN]) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")
    if wish.score is None:
        raise SpecError(
            f'{source}: there are several scores ({shown}); choose one, as in metric="{known[0]}" (on the '
            f"command line --metric {known[0]})"
        )
    near = near_names(wish.score, known, 1)
    meant = f'; did you mean "{near[0]}"?' if near else ""
    raise SpecError(f'{source}: there is no score "{wish.score}", only {shown}{meant}')


def model_by_place(path: Path, plain: Iterable[str] = ()) -> str:
    """A model's name by its file, or by its folder where the file has a name that tells nothing."""
    stem = plain_stem(path)
    return path.resolve().parent.name if stem in plain else stem


def short_hash(*parts: str) -> str:
    """A hash of texts, to tell whether two are the same."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def expect(condition: bool, path: Path, line: int | None, message: str) -> None:
    """Raise an error that names the file unless this holds."""
    if not condition:
        raise FormatError(path, line, message)


def as_dict(value: Any) -> dict[str, Any]:
    """A value that should be an object; an empty one where it is something else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """A value that should be a list; an empty one where it is something else."""
    return value if isinstance(value, list) else []
