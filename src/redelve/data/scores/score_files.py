"""Reading scores: frames, plain tables long or wide, and the files of other tools by their readers."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from redelve.data.files import read_text
from redelve.data.scores.score_table import (
    COLUMNS,
    ScoreTable,
    checked,
    known_direction,
    no_such_column,
    with_direction,
    with_limits,
)
from redelve.data.tables.table_files import Table, read_table
from redelve.errors import FormatError, LocationError, SpecError
from redelve.registry import Registry

if TYPE_CHECKING:
    import pandas as pd

ScoresLike = Any
"""A path, several of them, a folder, a frame of pandas or polars, rows as dictionaries, a ScoreTable."""
SYNONYMS = {
    "model": ("model", "method", "model_name", "model_id", "system", "agent", "estimator", "classifier"),
    "case": ("case", "question", "question_id", "case_id", "item", "sample_id", "doc_id", "example_id", "id"),
    "task": ("task", "benchmark", "dataset", "data_set", "category", "subject"),
    "run": ("run", "epoch", "sample", "seed", "repeat", "trial"),
    "group": ("group", "cluster"),
    "fold": ("fold", "resample", "split"),
    "training_set": ("training_set",),
    "cost": ("cost",),
    "weight": ("weight",),
    "prompt": ("prompt", "prompt_hash"),
}
"""Other names by which columns are known, the usual ones first."""
LARGEST_JSON = 2**31


class ScoreReader(ABC):
    """Reads the files that one tool writes; known by `READERS` or an entry point of `redelve.readers`."""

    title: ClassVar[str]
    """The tool, for messages."""

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Whether a file or folder was written by the tool; a quick look that raises nothing."""

    @abstractmethod
    def read(self, paths: Sequence[Path]) -> ScoreTable:
        """The scores in these files or folders."""


READERS = Registry[type[ScoreReader]]("reader of scores", "redelve.readers")


@dataclass(frozen=True)
class ColumnNames:
    """How the columns of a table are called, by what they mean; None where nobody has said so."""

    named: Mapping[str, str]

    def of(self, role: str, there: Sequence[str], source: str) -> str | None:
        """The column for a role: the one that was named, or one of the usual names."""
        wanted = self.named.get(role)
        if wanted is not None:
            if wanted not in there:
                raise no_such_column(list(there), wanted, role, source)
            return wanted
        lower = {name.lower(): name for name in reversed(there)}
        return next((lower[name] for name in SYNONYMS.get(role, ()) if name in lower), None)


def read_scores(  # noqa: PLR0913  (options of a public function are explicit)
    scores: ScoresLike,
    *,
    columns: Mapping[str, str] | None = None,
    higher_is_better: bool | None = None,
    metric: str | None = None,
    limits: tuple[float, float] | None = None,
    ratio: float | None = None,
    reader: str | None = None,
) -> ScoreTable:
    """Scores from files, folders or frames, as the contract has them; `columns` says which column is what."""
    names = ColumnNames({role: name for role, name in (columns or {}).items() if name is not None})
    unknown = sorted(set(names.named) - set(COLUMNS))
    if unknown:
        raise SpecError(f'no column means "{unknown[0]}": known are {", ".join(COLUMNS)}')
    found = _table_of(scores, names, reader)
    found = replace(
        found,
        metric=metric or found.metric,
        limits=found.limits if limits is None else (float(limits[0]), float(limits[1])),
        ratio=found.ratio if ratio is None else ratio,
    )
    return with_limits(checked(with_direction(found, higher_is_better)))


def _table_of(scores: ScoresLike, names: ColumnNames, reader: str | None) -> ScoreTable:
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, str | os.PathLike):
        return _from_files([Path(scores)], names, reader)
    if hasattr(scores, "columns"):
        return long_table(_as_pandas(scores), names, "the frame")
    each = list(scores) if isinstance(scores, Iterable) else []
    if each and all(isinstance(one, str | os.PathLike) for one in each):
        return _from_files([Path(one) for one in each], names, reader)
    if each and all(isinstance(one, Mapping) for one in each):
        import pandas as pd

        return long_table(pd.DataFrame(each), names, "the rows")
    raise SpecError(
        f"{scores!r:.80} holds no scores: give a file or several, a frame of pandas or polars, or rows as "
        "dictionaries"
    )


def called(scores: ScoresLike) -> str:
    """What scores are called where nobody says so: as their file is."""
    if isinstance(scores, str | os.PathLike):
        return Path(scores).name.partition(".")[0] or "scores"
    return "scores"


def _as_pandas(frame: Any) -> pd.DataFrame:
    """A frame of pandas: as it is, or made of one of polars or arrow."""
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame if frame.index.name is None else frame.reset_index()
    if hasattr(frame, "to_pandas"):
        return frame.to_pandas()  # type: ignore[no-any-return]
    raise SpecError(f"a frame of pandas, polars or arrow was expected, not a {type(frame).__name__}")


# Files


def _from_files(paths: Sequence[Path], names: ColumnNames, reader: str | None) -> ScoreTable:
    for path in paths:
        if not path.exists():
            raise LocationError(f"{path}: no such file or folder")
    if reader is not None:
        return READERS[reader]().read(paths)
    kinds = {path: _reader_for(path) for path in paths}
    readers = set(kinds.values())
    if len(readers) > 1:
        told = ", ".join(f"{path.name}: {_title(kind)}" for path, kind in kinds.items())
        raise SpecError(f"these files are of different kinds and cannot be read together ({told})")
    (name,) = readers
    if name is not None:
        return READERS[name]().read(paths)
    return _joined([_plain(path, names) for path in paths], paths)


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


def _joined(tables: Sequence[ScoreTable], paths: Sequence[Path]) -> ScoreTable:
    """Tables one below the other; a file without models holds the scores of one, named like the file."""
    import pandas as pd

    if len({one.metric for one in tables}) > 1:
        told = ", ".join(f"{one.source}: {one.metric}" for one in tables)
        raise SpecError(
            f"the files have scores of different names ({told}): say which column holds the score"
        )
    if len(tables) == 1:
        return tables[0]
    frames = [
        one.frame if "model" in one.frame.columns else one.frame.assign(model=path.stem)
        for one, path in zip(tables, paths, strict=True)
    ]
    notes = tuple(dict.fromkeys(note for one in tables for note in one.notes))
    frame = pd.concat([_plain_texts(one) for one in frames], ignore_index=True)
    return replace(tables[0], source=f"{len(paths)} files", frame=frame, notes=notes)


def _plain_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Categories as texts: those of different files differ."""
    coded = [name for name in frame.columns if str(frame[name].dtype) == "category"]
    return frame.astype(dict.fromkeys(coded, object))


def _plain(path: Path, names: ColumnNames) -> ScoreTable:
    """The table in a file of no tool in particular."""
    ending = path.suffix.lower()
    if ending in (".jsonl", ".ndjson"):
        return long_table(_json_lines(path), names, path.name)
    if ending == ".json":
        return long_table(_json_rows(path), names, path.name)
    return long_table(_frame_of(read_table(path)), names, path.name)


def _frame_of(table: Table) -> pd.DataFrame:
    """A table's columns as pandas has them: texts coded, whole numbers whole."""
    import pandas as pd

    found = {}
    for column in table.columns:
        if column.kind == "number":
            found[column.name] = _whole(column.values.to_numpy(zero_copy_only=False))
        else:
            codes, levels = column.coded
            found[column.name] = pd.Categorical.from_codes(codes, pd.Index(levels, dtype=object))
    return pd.DataFrame(found)


def _whole(numbers: Any) -> Any:
    """Numbers as integers where all are: a case 17 is not called 17.0."""
    with np.errstate(invalid="ignore"):
        is_whole = (
            len(numbers) > 0 and bool((numbers == np.floor(numbers)).all()) and np.abs(numbers).max() < 2**53
        )
    return numbers.astype(np.int64) if is_whole else numbers


def _json_lines(path: Path) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for number, line in enumerate(read_text(path, LARGEST_JSON).splitlines(), start=1):
        if line.strip():
            rows.append(_json_object(path, number, line))
    if not rows:
        raise FormatError(path, None, "there are no rows")
    return pd.DataFrame(rows)


def _json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise FormatError(path, number, f"this is no JSON ({error}): the file may be cut off") from None
    if not isinstance(found, dict):
        raise FormatError(path, number, f"expected an object with names and values, not {line[:40]}")
    return found


def _json_rows(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        found = json.loads(read_text(path, LARGEST_JSON))
    except (json.JSONDecodeError, RecursionError) as error:
        raise FormatError(path, None, f"this is no JSON ({error}): the file may be cut off") from None
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        raise FormatError(path, None, "expected a list of objects, one for every score")
    return pd.DataFrame(found)


# Long and wide tables


def long_table(frame: pd.DataFrame, names: ColumnNames, source: str) -> ScoreTable:
    """A plain table by its columns: long, or wide with a column for every model."""
    there = [str(name) for name in frame.columns]
    if len(set(there)) < len(there):
        again = next(name for name in there if there.count(name) > 1)
        raise SpecError(f'{source} has two columns "{again}": rename one of them')
    frame = frame.set_axis(there, axis=1)
    roles = {role: names.of(role, there, source) for role in SYNONYMS}
    taken = {role: name for role, name in roles.items() if name is not None}
    score = _score_column(frame, names, taken, source)
    if score is None and "model" not in taken:
        return _from_wide(frame, taken, source)
    if score is None:
        left = [name for name in there if name not in taken.values()]
        raise SpecError(
            f"{source}: which column holds the score? left are {', '.join(left) or 'none'}: name it, as in "
            "score=… (on the command line --score)"
        )
    kept = frame[[*taken.values(), score]].set_axis([*taken, "score"], axis=1)
    return ScoreTable(source, kept.reset_index(drop=True), metric=score)


def _score_column(
    frame: pd.DataFrame, names: ColumnNames, taken: Mapping[str, str], source: str
) -> str | None:
    """The column of scores: the one named, one called so, or the only one left with a name that tells."""
    there = list(frame.columns)
    if (wanted := names.named.get("score")) is not None:
        if wanted not in there:
            raise no_such_column(there, wanted, "score", source)
        return wanted
    if "score" in there:
        return "score"
    left = [name for name in there if name not in taken.values() and _is_numeric(frame[name])]
    telling = [name for name in left if known_direction(name) is not None]
    if "model" in taken and len(left) == 1:
        return left[0]
    return telling[0] if len(telling) == 1 and (len(left) == 1 or "model" in taken) else None


def _is_numeric(column: Any) -> bool:
    return bool(column.dtype.kind in "fiub")


def _from_wide(frame: pd.DataFrame, taken: Mapping[str, str], source: str) -> ScoreTable:
    """A table with a row for every case and a column for every model, made long."""
    import pandas as pd

    about = {
        role: name
        for role, name in taken.items()
        if role in ("case", "task", "group", "weight", "run", "fold")
    }
    models = [name for name in frame.columns if name not in about.values() and _is_numeric(frame[name])]
    texts = [name for name in frame.columns if name not in about.values() and name not in models]
    if len(models) < 2:
        raise SpecError(
            f'{source} has no column "model", and no two columns of numbers that could be models: a long '
            "table has the columns model, case and score, a wide one a column of scores for every model; it "
            f"has {', '.join(map(str, frame.columns[:12]))}"
        )
    if "case" not in about and len(texts) == 1:
        about["case"] = texts[0]
    parts = {role: np.tile(frame[name].to_numpy(), len(models)) for role, name in about.items()}
    if not {"case", "fold"} & set(about):
        parts["case"] = np.tile(np.arange(1, len(frame) + 1), len(models))
    whose = np.repeat(np.arange(len(models)), len(frame))
    made = pd.DataFrame(
        {
            "model": pd.Categorical.from_codes(whose, pd.Index(models, dtype=object)),
            **parts,
            "score": np.concatenate([frame[name].to_numpy(np.float64) for name in models]),
        }
    )
    note = (
        f"{source} is read as a wide table: {len(models)} models are its columns, {len(frame)} cases its rows"
    )
    return ScoreTable(source, made, metric="", notes=(note,))
