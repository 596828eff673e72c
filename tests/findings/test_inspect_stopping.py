"""Early stopping of evaluations by inspect_ai: its protocol by hand, and in a real evaluation."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from redelve.errors import SpecError
from redelve.findings.inspect_stopping import InspectRace, InspectStopper
from redelve.seeds import generator

RIGHT = {"mockllm/good": 0.9, "mockllm/fair": 0.6, "mockllm/poor": 0.2}
SAMPLES = [SimpleNamespace(id=i, metadata={"passage": i // 3}) for i in range(300)]


def is_right(model: str, sample: int | str) -> bool:
    return bool(generator("inspect", model, str(sample)).random() < RIGHT[model])


def done(step: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(step)


def score(value: Any, scorer: str = "match") -> dict[str, Any]:
    return {scorer: SimpleNamespace(score=SimpleNamespace(value=value))}


def begun(race: InspectRace, epochs: int = 1) -> dict[str, InspectStopper]:
    stoppers = {model: race.stopper(model) for model in race.models}
    for stopper in stoppers.values():
        assert done(stopper.start_task(SimpleNamespace(model="x"), SAMPLES, epochs)) == "redelve race"
    return stoppers


def test_models_shown_not_to_be_the_best_are_stopped() -> None:
    pytest.importorskip("inspect_ai")
    race = InspectRace(RIGHT)
    stoppers, answered = begun(race), dict.fromkeys(RIGHT, 0)
    for sample in SAMPLES:
        for model, stopper in stoppers.items():
            stop = done(stopper.schedule_sample(sample.id, 1))
            if stop is None:
                letter = "C" if is_right(model, sample.id) else "I"
                done(stopper.complete_sample(sample.id, 1, score(letter)))
                answered[model] += 1
            else:
                assert (stop.id, stop.epoch) == (sample.id, 1)
                assert "shown not to be the best" in stop.reason or "settled" in stop.reason
    found = race.result()
    assert (found.verdict, found.left) == ("best", ("mockllm/good",))
    assert answered["mockllm/poor"] == found.dropped_after["mockllm/poor"] < answered["mockllm/fair"] < 300
    kept = done(stoppers["mockllm/poor"].complete_task())
    assert kept["verdict"] == "best"
    assert kept["samples_stopped"] == 300 - answered["mockllm/poor"]


def test_a_model_that_answers_alone_is_not_stopped() -> None:
    """Models evaluated one after the other: the first has all samples, later ones are stopped early."""
    pytest.importorskip("inspect_ai")
    race = InspectRace(RIGHT)
    stoppers, answered = begun(race), dict.fromkeys(RIGHT, 0)
    for model, stopper in stoppers.items():
        for sample in SAMPLES:
            if done(stopper.schedule_sample(sample.id, 1)) is None:
                done(stopper.complete_sample(sample.id, 1, score(float(is_right(model, sample.id)))))
                answered[model] += 1
    assert answered["mockllm/good"] == answered["mockllm/fair"] == 300
    assert answered["mockllm/poor"] < 60


def test_epochs_are_averaged_and_groups_count_as_one() -> None:
    race = InspectRace(["a", "b"], group="passage", batch=1)
    stoppers = begun(race, epochs=2)
    for sample in SAMPLES[:3]:
        for epoch in (1, 2):
            assert race.result().units_seen == 0
            done(stoppers["a"].complete_sample(sample.id, epoch, score("C")))
            done(stoppers["b"].complete_sample(sample.id, epoch, score("C" if epoch == 1 else "I")))
    found = race.result()
    assert (found.units_seen, found.questions_seen) == (1, 3)
    assert (found.mean_score("a"), found.mean_score("b")) == (1.0, 0.5)
    assert not found.rules.has_last_look


def test_what_does_not_fit_is_refused() -> None:
    race = InspectRace(["a", "b"])
    with pytest.raises(SpecError, match='"c" does not take part'):
        race.stopper("c")
    with pytest.raises(SpecError, match='"x" does not take part'):
        done(race.stopper().start_task(SimpleNamespace(model="x"), SAMPLES, 1))
    with pytest.raises(SpecError, match="no task of the race has begun"):
        race.result()
    stoppers = begun(race)
    with pytest.raises(SpecError, match="one stopper serves one model"):
        done(stoppers["a"].start_task(SimpleNamespace(model="a"), SAMPLES, 1))
    with pytest.raises(SpecError, match="the same samples in the same order"):
        done(race.stopper("a").start_task(SimpleNamespace(model="a"), SAMPLES[::-1], 1))
    with pytest.raises(SpecError, match="say which one counts, scorer="):
        done(stoppers["a"].complete_sample(1, 1, {**score(1, "match"), **score(0, "judge")}))
    with pytest.raises(SpecError, match="one number, not 'maybe'"):
        done(stoppers["a"].complete_sample(1, 1, score("maybe")))
    with pytest.raises(SpecError, match="has score 7"):
        done(stoppers["a"].complete_sample(1, 1, score(7)))
    with pytest.raises(SpecError, match='no scorer "judge": it has match'):
        done(InspectRace(["a", "b"], scorer="judge").stopper("a").complete_sample(1, 1, score(1)))


EVALUATION = """
import json, sys
import inspect_ai
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver
from redelve.findings.inspect_stopping import InspectRace
from redelve.seeds import generator

RIGHT = json.loads(sys.argv[1])


@solver
def knowing():
    async def solve(state, generate):
        model = "mockllm/" + str(state.model).rpartition("/")[2]
        is_right = generator("inspect", model, str(state.sample_id)).random() < RIGHT[model]
        state.output = ModelOutput.from_content(model, "yes" if is_right else "no")
        return state

    return solve


race = InspectRace(RIGHT, batch=10)
samples = MemoryDataset([Sample(id=i + 1, input="?", target="yes") for i in range(150)])
tasks = [
    inspect_ai.Task(
        name=model.partition("/")[2], dataset=samples, solver=knowing(), scorer=match(), model=model,
        early_stopping=race.stopper(),
    )
    for model in RIGHT
]
logs = inspect_ai.eval(tasks, max_tasks=3, max_samples=2, display="none", log_dir=sys.argv[2])
found = race.result()
told = {
    "statuses": [log.status for log in logs],
    "verdict": found.verdict,
    "left": found.left,
    "answered": {log.eval.model: len(log.samples or ()) for log in logs},
    "stopped": {log.eval.model: len(log.results.early_stopping.early_stops) for log in logs},
    "managers": [log.results.early_stopping.manager for log in logs],
}
print(json.dumps(told))
"""


@pytest.mark.slow
def test_in_a_real_evaluation(tmp_path: Path) -> None:
    """In a process of its own: the evaluation leaves streams open, which is an error here."""
    pytest.importorskip("inspect_ai")
    command = [sys.executable, "-c", EVALUATION, json.dumps(RIGHT), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout.splitlines()[-1])
    assert told["statuses"] == ["success"] * 3
    assert (told["verdict"], told["left"]) == ("best", ["mockllm/good"])
    assert told["answered"]["mockllm/poor"] < 150
    for model, answered in told["answered"].items():
        assert answered + told["stopped"][model] == 150
    assert set(told["managers"]) == {"redelve race"}
