"""Logs of inspect_ai, `.eval` (a zip of entries compressed by zstd) and `.json`: samples, epochs, scorers."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any

from redelve.data.decompression import damage
from redelve.data.files import check_plain
from redelve.data.scores.json_texts import head, parsed, read_json
from redelve.data.scores.readers.reader_tools import (
    any_below,
    as_dict,
    as_list,
    chosen,
    expect,
    gathered,
    short_hash,
)
from redelve.data.scores.score_readers import ScoreReader, ScoreWish
from redelve.data.scores.score_table import ScoreTable, as_real
from redelve.errors import FormatError, SpecError

LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""What inspect_ai's own metrics make of words: correct, incorrect, partly, no answer."""
JSON_LOG = re.compile(r'^\s*\{\s*"version":\s*\d+,\s*"status":\s*"(started|success|cancelled|error)"')
LARGEST_ENTRY = 2**30
ZSTD = 93
PROMPT_START = 1000
"""How much of a text summaries surely keep."""


@dataclass(frozen=True)
class _Log:
    """What is needed of a log."""

    path: Path
    status: str
    about: Mapping[str, Any]
    plan: Mapping[str, Any]
    samples: Sequence[Mapping[str, Any]]

    @property
    def model(self) -> str:
        return str(self.about.get("model") or "")

    @property
    def task(self) -> str:
        return str(self.about.get("task_display_name") or self.about.get("task") or "")

    @property
    def asked(self) -> str:
        """How samples become prompts: the solvers and their parameters."""
        steps = [
            [one.get("solver"), one.get("params")] for one in map(as_dict, as_list(self.plan.get("steps")))
        ]
        return json.dumps([self.about.get("task_args"), steps], sort_keys=True, default=str)


class InspectLogs(ScoreReader):
    """`header.json` and `summaries.json` of `.eval` logs, or all of `.json` logs."""

    title = "inspect_ai logs"
    columns = ("group",)

    def recognises(self, path: Path) -> bool:
        """A log, or a folder with logs."""
        return any_below(path, _is_log) if path.is_dir() else _is_log(path)

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        """A row for every sample, epoch and log, of one scorer."""
        import pandas as pd

        logs = [_read_log(path) for path in gathered(paths, _is_log, self.title)]
        notes = tuple(note for log in logs for note in _check_end(log, wish))
        source = logs[0].path.name if len(logs) == 1 else f"{len(logs)} logs"
        name = chosen((one for log in logs for one in _score_names(log)), wish, source)
        group = wish.columns.get("group") or _cluster(logs)
        rows = [
            row
            for log, first in zip(logs, _first_runs(logs), strict=True)
            for row in _rows(log, name, group, first)
        ]
        frame = pd.DataFrame(rows)
        if not group:
            frame = frame.drop(columns="group")
        if frame["cost"].isna().any():
            frame = frame.drop(columns="cost")
        is_graded = all(_is_grade(log, name) for log in logs)
        return ScoreTable(
            source,
            frame,
            metric=name,
            higher_is_better=True if is_graded else None,
            limits=(0.0, 1.0) if is_graded else (-inf, inf),
            notes=notes,
        )


def _is_log(path: Path) -> bool:
    if path.suffix == ".eval":
        return True
    return path.suffix == ".json" and JSON_LOG.match(head(path, 400)) is not None


# Files


def _read_log(path: Path) -> _Log:
    expect(path.suffix in (".eval", ".json"), path, None, "logs of inspect_ai end in .eval or .json")
    whole = _from_zip(path) if path.suffix == ".eval" else read_json(path)
    expect(
        isinstance(whole, dict) and isinstance(whole.get("eval"), dict),
        path,
        None,
        "this is no log of inspect_ai: it has no eval",
    )
    samples = whole.get("samples") or []
    expect(
        isinstance(samples, list) and all(map(_is_sample, samples)),
        path,
        None,
        "the samples are not a list of objects with an id and an epoch",
    )
    status = str(whole.get("status") or "started")
    if whole.get("invalidated"):
        status = "invalidated"
    return _Log(path, status, whole["eval"], as_dict(whole.get("plan")), samples)


def _is_sample(one: Any) -> bool:
    return isinstance(one, dict) and "id" in one and isinstance(one.get("epoch", 1), int)


def _from_zip(path: Path) -> dict[str, Any]:
    """The parts of an `.eval` log; without a header it is one that is still written, or was never ended."""
    try:
        check_plain(path)
        with zipfile.ZipFile(path) as archive, path.open("rb") as stream:
            names = {one.filename: one for one in archive.infolist()}
            start = next((one for one in ("header.json", "_journal/start.json") if one in names), None)
            expect(start is not None, path, None, "this is no log of inspect_ai: the zip has no header.json")
            entries = [names[one] for one in (str(start), *_summaries(names))]
            whole, *lists = [parsed(path, None, _entry(path, archive, stream, one)) for one in entries]
    except damage() as error:
        raise FormatError(
            path, None, f"this is no whole zip file ({error}): the log is cut off; copy it anew"
        ) from None
    samples = [one for part in lists for one in as_list(part) if isinstance(one, dict)]
    kept = {(str(one.get("id")), str(one.get("epoch"))): one for one in samples}
    return {**as_dict(whole), "samples": list(kept.values())}


def _summaries(names: Mapping[str, zipfile.ZipInfo]) -> list[str]:
    """The entries with summaries: all together, or as they were written one after the other."""
    if "summaries.json" in names:
        return ["summaries.json"]
    parts = [one for one in names if re.fullmatch(r"_journal/summaries/\d+\.json", one)]
    return sorted(parts, key=lambda one: int(re.findall(r"\d+", one)[-1]))


def _entry(path: Path, archive: zipfile.ZipFile, stream: Any, entry: zipfile.ZipInfo) -> bytes:
    """An entry's bytes; never more than the archive says, and never more than a log has."""
    if entry.file_size > LARGEST_ENTRY:
        raise FormatError(
            path, None, f"its {entry.filename} has {entry.file_size:,} bytes, too many for a log"
        )
    opened = _zstd(path, stream, entry) if entry.compress_type == ZSTD else archive.open(entry)
    found = bytearray()
    try:
        while len(found) <= entry.file_size and (piece := opened.read(entry.file_size + 1 - len(found))):
            found += piece
    except (OSError, ValueError) as error:
        raise FormatError(
            path, None, f"its {entry.filename} is damaged ({error}): copy the log anew"
        ) from None
    if len(found) != entry.file_size:
        raise FormatError(path, None, f"its {entry.filename} is not as long as the zip file says")
    return bytes(found)


def _zstd(path: Path, stream: Any, entry: zipfile.ZipInfo) -> Any:
    """An entry compressed by zstd, which the standard library can read from Python 3.14 on."""
    import pyarrow

    stream.seek(entry.header_offset)
    start = stream.read(30)
    if len(start) < 30 or start[:4] != b"PK\x03\x04":
        raise FormatError(path, None, "this zip file is damaged: copy the log anew")
    stream.seek(int.from_bytes(start[26:28], "little") + int.from_bytes(start[28:30], "little"), 1)
    packed = stream.read(entry.compress_size)
    return pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd")


# What a log says


def _check_end(log: _Log, wish: ScoreWish) -> Iterator[str]:
    """Refuse a log that did not end well, or note it where it is wanted all the same."""
    if not log.model:
        raise FormatError(log.path, None, "the log does not say which model it is of")
    if not log.samples:
        raise FormatError(log.path, None, "the log has no samples: it was written without them, or cut off")
    if log.status == "success":
        return
    told = f'{log.path.name} has the status "{log.status}" and {len(log.samples)} samples'
    if not wish.unfinished:
        raise SpecError(
            f"{told}: an evaluation that did not end well may have scored the easy samples only; finish it "
            "(inspect eval-retry), or take it as it is by unfinished=True (on the command line --unfinished)"
        )
    yield f"{told}: it did not end well, and was taken all the same"


def _first_runs(logs: Sequence[_Log]) -> list[int]:
    """How many epochs earlier logs of the same model, task and settings have."""
    seen: dict[tuple[str, str], tuple[str, int]] = {}
    found = []
    for log in logs:
        settings = json.dumps(
            [log.about.get("model_args"), log.about.get("model_generate_config"), log.asked],
            sort_keys=True,
            default=str,
        )
        former, count = seen.get((log.model, log.task), (settings, 0))
        if former != settings:
            raise SpecError(
                f"{log.path.name} is another log of {log.model} on {log.task} with other settings: give only "
                "one of the two, since both have the same name"
            )
        found.append(count)
        epochs = max((one.get("epoch", 1) for one in log.samples), default=1)
        seen[log.model, log.task] = settings, count + epochs
    return found


def _rows(log: _Log, name: str, group: str | None, first: int) -> Iterator[dict[str, Any]]:
    asked = log.asked
    for sample in log.samples:
        yield {
            "model": log.model,
            "task": log.task,
            "case": str(sample["id"]),
            "run": first + sample.get("epoch", 1),
            "score": _number(log, sample, _values(sample).get(name)),
            "prompt": short_hash(_text(sample.get("input")), asked),
            "group": _metadata(log, sample, group) if group else None,
            "cost": _cost(sample),
        }


def _values(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a sample by scorer; those of a scorer with several as scorer/name."""
    found: dict[str, Any] = {}
    for scorer, score in as_dict(sample.get("scores")).items():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            found |= {f"{scorer}/{key}": each for key, each in value.items()}
        elif not isinstance(value, list):
            found[scorer] = value
    return found


def _score_names(log: _Log) -> list[str]:
    return list(dict.fromkeys(name for sample in log.samples for name in _values(sample)))


def _number(log: _Log, sample: Mapping[str, Any], value: Any) -> float:
    """A score as a number; NaN where the sample has none, as after an error."""
    if value is None:
        return float("nan")
    if isinstance(value, bool | int | float):
        return float(as_real(value))
    word = str(value)
    known = LETTERS.get(word, LETTERS.get(word.lower()))
    if known is not None:
        return known
    try:
        number = float(word)
    except ValueError:
        number = float("inf")
    if not isfinite(number):
        raise SpecError(
            f'{log.path.name}: the score of sample "{sample["id"]}" is {word[:40]!r}, which is neither a '
            "number nor one of C, I, P and N"
        )
    return number


def _is_grade(log: _Log, name: str) -> bool:
    """Whether all scores are letters or truths, of which everybody knows which is better."""
    values = [value for sample in log.samples if (value := _values(sample).get(name)) is not None]
    return all(
        isinstance(value, bool) or (isinstance(value, str) and (value in LETTERS or value.lower() in LETTERS))
        for value in values
    )


def _text(asked: Any) -> str:
    """The texts of an input, of which long ones are shortened in summaries."""
    if isinstance(asked, str):
        return asked[:PROMPT_START]
    if isinstance(asked, list):
        return "\0".join(_text(one) for one in asked)
    if isinstance(asked, dict):
        return _text(asked.get("content", asked.get("text", "")))
    return ""


def _cluster(logs: Sequence[_Log]) -> str | None:
    """The field of metadata by which inspect_ai's own standard errors are clustered."""
    scorers = [as_dict(one) for log in logs for one in as_list(log.about.get("scorers"))]
    metrics = [as_dict(one) for scorer in scorers for one in as_list(scorer.get("metrics"))]
    options = [as_dict(one.get("options")) for one in metrics]
    named = {str(one["cluster"]) for one in options if one.get("cluster")}
    return named.pop() if len(named) == 1 else None


def _metadata(log: _Log, sample: Mapping[str, Any], field: str) -> str:
    about = as_dict(sample.get("metadata"))
    if field not in about:
        raise SpecError(
            f'{log.path.name}: sample "{sample["id"]}" has no "{field}" in its metadata: it has '
            f"{', '.join(map(str, list(about)[:12])) or 'none'}"
        )
    return str(about[field])


def _cost(sample: Mapping[str, Any]) -> float | None:
    costs = [as_dict(one).get("total_cost") for one in as_dict(sample.get("model_usage")).values()]
    known = [float(as_real(one)) for one in costs if isinstance(one, int | float)]
    return sum(known) if known and len(known) == len(costs) else None
