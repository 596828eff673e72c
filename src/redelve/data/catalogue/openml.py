"""OpenML: a dataset by its number (`openml:61`), or a task with its splits (`openml:task/59`).

Two addresses of its API answer with JSON: /data/N and /data/features/N describe a dataset, /task/N a task.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from redelve.data.catalogue.depot import Depot
from redelve.data.catalogue.downloads import Download, DownloadSource
from redelve.data.delve.case_lists import CaseLists
from redelve.data.files import read_text
from redelve.errors import FormatError, LocationError, SpecError

NAME = re.compile(r"(?:(data|task)/)?([1-9][0-9]{0,8})", re.ASCII)
ATTRIBUTE = re.compile(r"@attribute\s+(?:'([^']*)'|\"([^\"]*)\"|(\S+))", re.IGNORECASE)
SPLIT_COLUMNS = ("type", "rowid", "repeat", "fold", "sample")
LARGEST_SPLITS = 1 << 30


def load(name: str, depot: Depot, checksum: str | None) -> Download:
    """A dataset, or the dataset of a task with the task's target and splits."""
    match = NAME.fullmatch(name)
    if match is None:
        raise SpecError(
            f'bad OpenML reference "{name}": expected openml:61, openml:data/61 or openml:task/59'
        )
    number = int(match[2])
    if match[1] == "task":
        return _load_task(number, depot, checksum)
    return _load_dataset(number, depot, checksum)


SOURCE = DownloadSource("https://www.openml.org/api/v1/json", load)


def _load_dataset(number: int, depot: Depot, checksum: str | None) -> Download:
    folder = f"openml/data-{number}"
    described = depot.description(
        f"{depot.server}/data/{number}", f"{folder}/description.json", "data_set_description"
    )
    listed = depot.description(
        f"{depot.server}/data/features/{number}", f"{folder}/features.json", "data_features"
    )
    url, ending = _table_url(described, number)
    md5 = described.get("md5_checksum") if ending == "arff" else None
    stored = depot.file(url, f"{folder}/data.{ending}", checksum=checksum, md5=md5)
    unused = _names(described.get("row_id_attribute")) + _names(described.get("ignore_attribute"))
    return Download(
        reference=f"openml:{number}",
        name=str(described.get("name", number)),
        kind="table",
        path=stored.path,
        url=stored.url,
        sha256=stored.sha256,
        targets=_names(described.get("default_target_attribute")),
        nominal=tuple(
            str(one["name"]) for one in _many(listed.get("feature")) if one.get("data_type") == "nominal"
        ),
        unused=tuple(dict.fromkeys(unused)),
        licence=described.get("licence"),
        citation=described.get("citation"),
    )


def _load_task(number: int, depot: Depot, checksum: str | None) -> Download:
    folder = f"openml/task-{number}"
    task = depot.description(f"{depot.server}/task/{number}", f"{folder}/task.json", "task")
    inputs = {one.get("name"): one for one in _many(task.get("input"))}
    try:
        data = inputs["source_data"]["data_set"]
        found = _load_dataset(int(data["data_set_id"]), depot, checksum)
        url = inputs["estimation_procedure"]["estimation_procedure"].get("data_splits_url")
    except (KeyError, TypeError, ValueError) as problem:
        raise LocationError(
            f"OpenML task {number} lacks {problem}: redelve needs a dataset and an estimation procedure"
        ) from problem
    splits = depot.file(url, f"{folder}/splits.arff").path if url else None
    targets = _names(data.get("target_feature")) or found.targets
    return replace(found, reference=f"openml:task/{number}", targets=targets, splits=splits)


def _table_url(described: Mapping[str, Any], number: int) -> tuple[str, str]:
    """Where the table is: preferably as ARFF, which tells the columns' types."""
    if "arff" in str(described.get("format", "arff")).lower() and described.get("url"):
        return str(described["url"]), "arff"
    for key in ("parquet_url", "url"):
        if str(described.get(key) or "").split("?")[0].endswith((".pq", ".parquet")):
            return str(described[key]), "parquet"
    raise LocationError(
        f"OpenML dataset {number} is neither ARFF nor Parquet (its format is {described.get('format')!r})"
    )


def _many(value: Any) -> list[dict[str, Any]]:
    """OpenML writes a list of one as its only member."""
    return value if isinstance(value, list) else [value] if isinstance(value, dict) else []


def _names(value: Any) -> tuple[str, ...]:
    """Names of columns: a list, or a text with commas in between.

    >>> _names("a, b"), _names(["a"]), _names(None)
    (('a', 'b'), ('a',), ())
    """
    found = value if isinstance(value, list) else str(value or "").split(",")
    return tuple(str(name).strip().strip("'\"") for name in found if str(name).strip())


# Splits


def read_splits(path: Path) -> CaseLists:
    """The training and test cases, counting from 1, of each repeat, fold and sample of an OpenML task.

    That is what `redelve.model.designs.explicit_instances` takes.
    """
    sets: dict[tuple[int, ...], dict[str, list[int]]] = defaultdict(lambda: {"TRAIN": [], "TEST": []})
    for line, values in _split_rows(path):
        kind = values["type"].strip("'\"").upper()
        if kind not in ("TRAIN", "TEST"):
            raise FormatError(path, line, f'expected TRAIN or TEST but got "{kind}"')
        try:
            numbers = [int(float(values.get(key, "0"))) for key in ("repeat", "fold", "sample")]
            sets[tuple(numbers)][kind].append(int(float(values["rowid"])) + 1)
        except (ValueError, OverflowError) as problem:
            raise FormatError(path, line, f"expected numbers of row, repeat and fold: {problem}") from problem
    if not sets:
        raise FormatError(path, None, "there are no splits")
    return tuple((tuple(sets[key]["TRAIN"]), tuple(sets[key]["TEST"])) for key in sorted(sets))


def _split_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    columns: list[str] = []
    is_data = False
    for line, raw in enumerate(read_text(path, LARGEST_SPLITS).splitlines(), 1):
        text = raw.strip()
        if match := ATTRIBUTE.match(text):
            columns.append((match[1] or match[2] or match[3]).lower())
        elif text.lower() == "@data":
            is_data = True
            _check_columns(path, line, columns)
        elif is_data and text and not text.startswith("%"):
            values = [value.strip() for value in text.split(",")]
            if len(values) != len(columns):
                raise FormatError(path, line, f'expected {len(columns)} values but got "{text[:60]}"')
            yield line, dict(zip(columns, values, strict=True))


def _check_columns(path: Path, line: int, columns: list[str]) -> None:
    for name in SPLIT_COLUMNS[:4]:
        if name not in columns:
            raise FormatError(path, line, f'splits need a column "{name}"; there are {", ".join(columns)}')
