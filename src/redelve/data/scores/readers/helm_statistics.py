"""Statistics of HELM by instance: `per_instance_stats.json` of a run, with `run_spec.json` beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redelve.data.scores.json_texts import read_json
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
from redelve.errors import SpecError

NAMES = ("per_instance_stats.json", "per_instance_stats.json.gz")
BOOKKEEPING = re.compile(
    r"num_.*|training_.*|inference_.*|batch_size|finish_reason_.*|prompt_truncated|max_prob|logprob|"
    r"estimated_.*|.*_cost|.*_runtime|bits_per_byte|logprob_per_byte|perplexity"
)
"""What HELM counts for every instance and nobody compares models by, unless told so."""


@dataclass(frozen=True)
class _HelmRun:
    """What is needed of a run: who was asked what, and the statistics."""

    path: Path
    model: str
    task: str
    asked: str
    measured: tuple[str, ...]
    entries: Sequence[Mapping[str, Any]]


class HelmStatistics(ScoreReader):
    """`per_instance_stats.json` files, or folders with runs."""

    title = "statistics of HELM"

    def recognises(self, path: Path) -> bool:
        """A file of statistics, or a folder with such files."""
        return any_below(path, _is_statistics) if path.is_dir() else _is_statistics(path)

    def read(self, paths: Sequence[Path], wish: ScoreWish) -> ScoreTable:
        """A row for every instance, trial and run, of one metric; perturbed instances are left out."""
        import pandas as pd

        runs = [_read_run(path) for path in gathered(paths, _is_statistics, self.title)]
        _refuse_twice(runs)
        source = runs[0].path.parent.name if len(runs) == 1 else f"{len(runs)} runs of HELM"
        name = chosen(_names(runs, wish), wish, source)
        splits = {split for run in runs for one in run.entries for split in _splits(one)}
        kept = {"test"} if "test" in splits else splits
        rows = [row for run in runs for row in _rows(run, name, kept)]
        if not rows:
            raise SpecError(f"{source} has no instance with {name} that is not perturbed")
        notes = [
            f"instances of the split test are compared, not those of {other}"
            for other in sorted(splits - kept)
        ]
        if any(one.get("perturbation") for run in runs for one in run.entries):
            notes.append("perturbed instances are left out")
        return ScoreTable(source, pd.DataFrame(rows), metric=name, notes=tuple(notes))


def _is_statistics(path: Path) -> bool:
    return path.name in NAMES


def _read_run(path: Path) -> _HelmRun:
    entries = read_json(path)
    expect(
        isinstance(entries, list) and all(isinstance(one, dict) and "instance_id" in one for one in entries),
        path,
        None,
        "expected a list of objects with an instance_id and its stats",
    )
    beside = path.with_name("run_spec.json")
    spec = as_dict(read_json(beside)) if beside.is_file() else {}
    name = str(spec.get("name") or path.resolve().parent.name)
    adapter = as_dict(spec.get("adapter_spec"))
    named = re.search(r"[:,]model=([^,]+)", name)
    model = str(adapter.get("model") or (named[1] if named else ""))
    expect(bool(model), path, None, "nothing says which model this is: run_spec.json is not beside it")
    asked = {key: value for key, value in adapter.items() if not key.startswith("model")}
    measured = [
        str(one)
        for metric in as_list(spec.get("metric_specs"))
        for one in as_list(as_dict(as_dict(metric).get("args")).get("names"))
    ]
    return _HelmRun(
        path, model, _task(name), short_hash(repr(sorted(asked.items()))), tuple(measured), entries
    )


def _task(name: str) -> str:
    """The name of a run without its model."""
    scenario, _, options = name.partition(":")
    kept = [one for one in options.split(",") if one and not re.match(r"model(_deployment)?=", one)]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _refuse_twice(runs: Sequence[_HelmRun]) -> None:
    seen: dict[tuple[str, str], Path] = {}
    for one in runs:
        former = seen.setdefault((one.model, one.task), one.path)
        if former is not one.path:
            raise SpecError(
                f"{one.path.parent} and {former.parent} are both of {one.model} on {one.task}: give only one"
            )


def _stats(entry: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The metric, the split and the statistic of each measurement of an instance."""
    for one in map(as_dict, as_list(entry.get("stats"))):
        about = as_dict(one.get("name"))
        if not about.get("perturbation"):
            yield str(about.get("name") or ""), str(about.get("split") or ""), one


def _splits(entry: Mapping[str, Any]) -> set[str]:
    return {split for _, split, _ in _stats(entry)}


def _names(runs: Sequence[_HelmRun], wish: ScoreWish) -> list[str]:
    """What instances are scored by: what the run was told to measure, else all but bookkeeping."""
    there = list(dict.fromkeys(name for run in runs for one in run.entries for name, _, _ in _stats(one)))
    if wish.score in there:
        return [str(wish.score)]
    measured = [name for name in dict.fromkeys(one for run in runs for one in run.measured) if name in there]
    return measured or [name for name in there if BOOKKEEPING.fullmatch(name) is None]


def _rows(run: _HelmRun, name: str, splits: set[str]) -> Iterator[dict[str, Any]]:
    for entry in run.entries:
        for metric, split, one in _stats(entry):
            if metric == name and split in splits and not entry.get("perturbation"):
                yield {
                    "model": run.model,
                    "task": run.task,
                    "case": str(entry["instance_id"]),
                    "run": str(entry.get("train_trial_index", 0)),
                    "score": _mean(run, entry, one),
                    "prompt": run.asked,
                }


def _mean(run: _HelmRun, entry: Mapping[str, Any], one: Mapping[str, Any]) -> float:
    """The mean of a measurement; NaN where nothing was counted."""
    if not one.get("count", 1):
        return float("nan")
    mean = one.get("mean")
    expect(
        isinstance(mean, int | float),
        run.path,
        None,
        f'the mean of instance "{entry["instance_id"]}" is {mean!r:.40}, which is no number',
    )
    return float(as_real(mean))
