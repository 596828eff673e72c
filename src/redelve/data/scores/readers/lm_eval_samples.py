"""Samples of lm-evaluation-harness, `samples_*.jsonl`: documents by their hash, metrics by their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redelve.data.scores.json_texts import head, json_objects, read_json
from redelve.data.scores.readers.reader_tools import any_below, as_dict, as_list, chosen, expect, gathered
from redelve.data.scores.score_readers import ScoreReader, ScoreWish
from redelve.data.scores.score_table import ScoreTable, as_real
from redelve.errors import RedelveError, SpecError

NAME = re.compile(r"samples_(?P<task>.+?)(_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+))?\.jsonl(\.\w+)?")
NO_METRICS = {"doc_id", "idx"}


@dataclass(frozen=True)
class _Sample:
    """What is needed of a sample: its document, what was asked, and its scores by metric and filter."""

    document: str
    number: int
    prompt: str
    filtered_by: str
    scores: Mapping[str, float]


@dataclass(frozen=True)
class _SampleFile:
    """The samples of a model on a task, with what the file of results beside it says."""

    path: Path
    task: str
    model: str
    samples: Sequence[_Sample]
    directions: Mapping[str, Any]
    documents: int | None


class LmEvalSamples(ScoreReader):
    """Files `samples_TASK_DATE.jsonl`, with `results_DATE.json` beside them where it is there."""

    title = "samples of lm-evaluation-harness"

    def recognises(self, path: Path) -> bool:
        """A file of samples, or a folder with such files."""
        return any_below(path, _is_samples) if path.is_dir() else _is_samples(path)

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        """A row for every document, of one metric and filter."""
        import pandas as pd

        files = [_read_samples(path) for path in gathered(paths, _is_samples, self.title)]
        _refuse_twice(files)
        notes = tuple(note for one in files for note in _check_end(one, wish))
        source = files[0].path.name if len(files) == 1 else f"{len(files)} files of samples"
        filters = {sample.filtered_by for one in files for sample in one.samples}
        name = chosen(_names(files, filters), _without_filter(wish, filters), source)
        rows = [row for one in files for row in _rows(one, name, filters)]
        metric = name.split(",")[0]
        return ScoreTable(
            source, pd.DataFrame(rows), metric=name, higher_is_better=_direction(files, metric), notes=notes
        )


def _is_samples(path: Path) -> bool:
    if NAME.fullmatch(path.name) is None:
        return False
    start = head(path)
    return '"doc_id"' in start and ('"doc_hash"' in start or '"filtered_resps"' in start)


# Files


def _read_samples(path: Path) -> _SampleFile:
    named = NAME.fullmatch(path.name)
    task = named["task"] if named else path.name.split(".")[0]
    about = _results(path, named["date"] if named else None)
    samples = [_sample(path, line, row) for line, row in json_objects(path)]
    counts = as_dict(as_dict(about.get("n-samples")).get(task))
    effective = counts.get("effective")
    return _SampleFile(
        path,
        task,
        _model(about) or path.resolve().parent.name.replace("__", "/"),
        samples,
        as_dict(as_dict(about.get("higher_is_better")).get(task)),
        effective if isinstance(effective, int) else None,
    )


def _results(path: Path, date: str | None) -> dict[str, Any]:
    """The file of results that was written with the samples; nothing where there is none that can be read."""
    beside = [path.with_name(f"results_{date}.json")] if date else []
    beside += sorted(path.parent.glob("results*.json")) if not date else []
    for one in beside:
        if one.is_file():
            try:
                return as_dict(read_json(one))
            except RedelveError:
                return {}
    return {}


def _model(about: Mapping[str, Any]) -> str:
    if name := about.get("model_name"):
        return str(name)
    arguments = as_dict(about.get("config")).get("model_args")
    if isinstance(arguments, dict):
        return str(arguments.get("pretrained") or arguments.get("model") or "")
    found = re.search(r"(?:peft|delta|pretrained|model|path|engine)=([^,]+)", str(arguments or ""))
    return found[1] if found else ""


def _sample(path: Path, line: int, row: dict[str, Any]) -> _Sample:
    expect("doc_id" in row or "doc_hash" in row, path, line, "this sample has neither doc_hash nor doc_id")
    number = row.get("doc_id")
    metrics = as_list(row.get("metrics")) or [name for name in row if name not in NO_METRICS]
    scores = {
        str(name): float(as_real(row[name]))
        for name in metrics
        if isinstance(name, str) and isinstance(row.get(name), int | float)
    }
    document = row.get("doc_hash", number)
    return _Sample(
        str(document),
        number if isinstance(number, int) else 0,
        str(row.get("prompt_hash") or ""),
        str(row.get("filter") or "none"),
        scores,
    )


def _refuse_twice(files: Sequence[_SampleFile]) -> None:
    seen: dict[tuple[str, str], Path] = {}
    for one in files:
        former = seen.setdefault((one.model, one.task), one.path)
        if former is not one.path:
            raise SpecError(
                f"{one.path.name} and {former.name} are both of {one.model} on {one.task}: give only one of "
                "them"
            )


def _check_end(one: _SampleFile, wish: ScoreWish) -> Iterator[str]:
    """Refuse files with fewer documents than were evaluated, or note it where that is wanted."""
    there = len({(sample.document, sample.number) for sample in one.samples})
    if one.documents is None or there >= one.documents:
        return
    told = f"{one.path.name} has {there} of the {one.documents} documents that were evaluated"
    if not wish.unfinished:
        raise SpecError(
            f"{told}: the file is cut off; copy it anew, or take it as it is by unfinished=True (on the "
            "command line --unfinished)"
        )
    yield f"{told}, and was taken all the same"


# Metrics


def _names(files: Sequence[_SampleFile], filters: set[str]) -> list[str]:
    """The metrics that all files have; with the filter in their names where there are several."""
    each = [
        {_full(metric, sample, filters) for sample in one.samples for metric in sample.scores}
        for one in files
    ]
    everywhere = set.intersection(*each)
    if not everywhere and all(each):
        told = "; ".join(
            f"{one.path.name}: {', '.join(sorted(had))}" for one, had in zip(files[:3], each, strict=False)
        )
        raise SpecError(
            f"the files have no metric in common ({told}): compare tasks with one metric at a time"
        )
    order = [_full(metric, sample, filters) for sample in files[0].samples for metric in sample.scores]
    return [name for name in dict.fromkeys(order) if name in everywhere]


def _full(metric: str, sample: _Sample, filters: set[str]) -> str:
    return metric if len(filters) == 1 else f"{metric},{sample.filtered_by}"


def _without_filter(wish: ScoreWish, filters: set[str]) -> ScoreWish:
    """A wish such as acc,none as plain acc where there is one filter only."""
    if wish.score is None or len(filters) > 1:
        return wish
    return ScoreWish(wish.score.removesuffix(f",{next(iter(filters))}"), wish.columns, wish.unfinished)


def _direction(files: Sequence[_SampleFile], metric: str) -> bool | None:
    said = {one.task: way for one in files if isinstance(way := one.directions.get(metric), bool)}
    known = set(said.values())
    if len(known) > 1:
        raise SpecError(
            f"a higher {metric} is better on {next(task for task, way in said.items() if way)}, a lower one "
            f"on {next(task for task, way in said.items() if not way)}: compare these tasks apart"
        )
    return known.pop() if known else None


def _rows(one: _SampleFile, name: str, filters: set[str]) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for sample in sorted(one.samples, key=lambda each: each.number):
        score = {_full(metric, sample, filters): value for metric, value in sample.scores.items()}
        if len(filters) > 1 and name.split(",", 1)[1] != sample.filtered_by:
            continue
        seen[sample.document] += 1
        again = seen[sample.document]
        yield {
            "model": one.model,
            "task": one.task,
            "case": sample.document if again == 1 else f"{sample.document}#{again}",
            "score": score.get(name, float("nan")),
            "prompt": sample.prompt,
        }
