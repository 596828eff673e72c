"""Makes the logs in `files/inspect` by inspect_ai itself: python -m tests.data.scores.make_inspect_logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("files") / "inspect"
GRADES = {"one": "CIPNCCIC", "two": "CICNIIIC"}
"""The grades of two models: four questions, asked twice."""


def log(model: str, status: Any = "success", **about: Any) -> Any:
    """A log of two epochs of four samples by three scorers."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec
    from inspect_ai.scorer import Score

    grades = GRADES[model]
    samples = [
        EvalSample(
            id=f"q{i}",
            epoch=epoch,
            input=f"What is {i} + {i}?",
            target=str(i + i),
            metadata={"passage": f"p{i // 2}"},
            scores={
                "match": Score(value=grades[4 * (epoch - 1) + i], answer="x"),
                "length": Score(value=0.5 * i),
                "rubric": Score(value={"style": 1, "facts": 0}),
            },
        )
        for epoch in (1, 2)
        for i in range(4)
    ]
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="sums",
        model=f"mock/{model}",
        dataset=EvalDataset(name="sums", samples=4),
        config=EvalConfig(epochs=2),
        **about,
    )
    return EvalLog(status=status, eval=spec, samples=samples)


def write(folder: Path) -> None:
    """Two logs that ended well, one as a zip and one as JSON, and one that did not."""
    from inspect_ai.log import write_eval_log

    write_eval_log(log("one"), str(folder / "one.eval"))
    write_eval_log(log("two"), str(folder / "two.json"))
    write_eval_log(log("two", "cancelled"), str(folder / "cancelled.eval"))


if __name__ == "__main__":
    write(FOLDER)
