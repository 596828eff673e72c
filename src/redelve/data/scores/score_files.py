"""Reading scores: frames, plain tables long or wide, and the files of other tools by their readers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.data.files import no_such
from redelve.data.scores.frame_files import frame_of_file
from redelve.data.scores.score_columns import ColumnNames, long_table
from redelve.data.scores.score_readers import READERS, ScoreReader, ScoreWish, check_columns
from redelve.data.scores.score_table import (
    COLUMNS,
    ScoreTable,
    apart,
    checked,
    joined,
    plain_stem,
    with_direction,
    with_limits,
    with_slices,
)
from redelve.errors import LocationError, SpecError, kind_told
from redelve.registry import value_told

if TYPE_CHECKING:
    import pandas as pd

ScoresLike = Any
"""A path, several of them, a folder, a frame of pandas or polars, rows as dictionaries, a ScoreTable."""


def read_scores(  # noqa: PLR0913  (options of a public function are explicit)
    scores: ScoresLike,
    *,
    columns: Mapping[str, str | None] | None = None,
    higher_is_better: bool | None = None,
    metric: str | None = None,
    limits: tuple[float, float] | None = None,
    ratio: float | None = None,
    reader: str | None = None,
    unfinished: bool = False,
    unnamed: str | None = None,
    slices: Sequence[str] = (),
    choosing: str = "",
) -> ScoreTable:
    """Scores from files, folders, frames or other tools' objects, as the contract has them.

    `columns` says which column is what, None where nothing is said. `metric` is what the score is called
    and, where a file has several, which one. `unfinished` takes evaluations that did not end well, and notes
    it. `unnamed` is what the only model is called in a table that has no column for models. `choosing` tells
    what to do where a column of a wide table is no model, instead of naming it as one for slices.
    """
    named = {role: name for role, name in (columns or {}).items() if name is not None}
    names = ColumnNames(named, tuple(slices), choosing, metric, is_alone=unnamed is None)
    unknown = sorted(set(names.named) - set(COLUMNS))
    if unknown:
        raise SpecError(f'no column means "{unknown[0]}": known are {", ".join(COLUMNS)}')
    wish = ScoreWish(metric or names.named.get("score"), names.named, unfinished)
    found = _table_of(scores, names, wish, reader)
    if unnamed is not None and "model" not in found.frame.columns:
        found = replace(found, frame=found.frame.assign(model=unnamed))
    found = replace(
        found,
        limits=found.limits if limits is None else two_numbers(limits),
        ratio=found.ratio if ratio is None else ratio,
    )
    if ratio is not None and "training_set" in found.frame.columns:
        raise SpecError(
            f"ratio={value_told(ratio)} is for folds of one table, whose training sets overlap, and those of "
            f"{found.source} are by themselves (its training_set): leave ratio out"
        )
    if ratio is not None and "fold" not in found.frame.columns:
        raise SpecError(
            f"ratio={value_told(ratio)} is for scores of folds, and {found.source} has none: leave it out, "
            'or name the column of folds, as in fold="split" (on the command line --fold split)'
        )
    return with_limits(checked(with_direction(with_slices(found, names.slices), higher_is_better)))


def two_numbers(limits: Any) -> tuple[float, float]:
    """The lowest and the highest score."""
    try:
        low, high = map(float, () if isinstance(limits, str) else limits)
    except (TypeError, ValueError):
        raise SpecError(
            f"limits={value_told(limits)}: limits are two numbers, the lowest and the highest score "
            "there can be, as (0, 1)"
        ) from None
    return low, high


def _table_of(scores: ScoresLike, names: ColumnNames, wish: ScoreWish, reader: str | None) -> ScoreTable:
    if isinstance(scores, ScoreTable):
        return _called(scores, wish.score)
    if isinstance(scores, str | os.PathLike):
        return _from_files([Path(scores)], names, wish, reader)
    each = list(scores) if np.iterable(scores) and not hasattr(scores, "columns") else []
    if each and all(isinstance(one, str | os.PathLike) for one in each) and not isinstance(scores, Mapping):
        return _from_files([Path(one) for one in each], names, wish, reader)
    if (taker := _taker(scores, reader)) is not None:
        check_columns(taker, wish)
        return taker.read_object(scores, wish)
    if hasattr(scores, "columns"):
        return _called(long_table(_as_pandas(scores), names, "the frame"), names.metric)
    if each and all(isinstance(one, Mapping) for one in each):
        import pandas as pd

        return _called(long_table(pd.DataFrame(each), names, "the rows"), names.metric)
    raise SpecError(
        f"{value_told(scores)} holds no scores: give a file or several, a frame of pandas or polars, or "
        "rows as dictionaries"
    )


def called(scores: ScoresLike) -> str:
    """What scores are called where nobody says so: as their file is."""
    if isinstance(scores, str | os.PathLike):
        return Path(scores).name.partition(".")[0] or "scores"
    return "scores"


def _called(table: ScoreTable, metric: str | None) -> ScoreTable:
    """A plain table with the name that you gave its score."""
    return table if metric is None else replace(table, metric=metric)


def _taker(scores: ScoresLike, reader: str | None) -> ScoreReader | None:
    """The reader that takes an object: the one named, or the one that knows it."""
    if reader is not None:
        return READERS[reader]()
    return next((one for _, kind in READERS.items() if (one := kind()).takes(scores)), None)


def _as_pandas(frame: Any) -> pd.DataFrame:
    """A frame of pandas: as it is, or made of one of polars or arrow."""
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame if frame.index.name is None else frame.reset_index()
    if hasattr(frame, "to_pandas"):
        return frame.to_pandas()  # type: ignore[no-any-return]
    raise SpecError(f"a frame of pandas, polars or arrow was expected, not {kind_told(frame, 'a ')}")


# Files


def _from_files(paths: Sequence[Path], names: ColumnNames, wish: ScoreWish, reader: str | None) -> ScoreTable:
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110  (a name may be too long for pathlib)
            raise LocationError(f"{path}: {no_such(path, 'file or folder')}")
    if reader is not None:
        return _read_by(reader, paths, wish)
    kinds = {path: _reader_for(path) for path in paths}
    readers = set(kinds.values())
    if len(readers) > 1:
        told = ", ".join(f"{path.name}: {_title(kind)}" for path, kind in kinds.items())
        raise SpecError(f"these files are of different kinds and cannot be read together ({told})")
    (name,) = readers
    if name is not None:
        return _read_by(name, paths, wish)
    names = replace(names, is_alone=names.is_alone and len(paths) == 1)
    tables = [_called(long_table(frame_of_file(path), names, path.name), names.metric) for path in paths]
    return joined(tables, apart([plain_stem(path) for path in paths], paths))


def _read_by(name: str, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
    reader = READERS[name]()
    check_columns(reader, wish)
    return reader.read(paths, wish)


def _title(name: str | None) -> str:
    return "a plain table" if name is None else READERS[name].title


def _reader_for(path: Path) -> str | None:
    """The reader that recognises a file; None for plain tables."""
    found = next((name for name, reader in READERS.items() if reader().recognises(path)), None)
    if found is None and path.is_dir():
        raise SpecError(
            f"{path} is a folder, and no reader knows what is in it: name the files, or the tool that wrote "
            f"them (known are {', '.join(READERS) or 'none'})"
        )
    return found
