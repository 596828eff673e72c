"""Scripts and notebooks: methods defined on the spot, no `if __name__ == "__main__"`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parent.parent.parent
SCRIPT = """
import sys
sys.path.insert(0, {project!r})
from redelve.run.workers import workers_from
from redelve.run.experiment import plan, run
from redelve.run.cells import Limits
from tests.run.toys import Toy, toy_experiment

class Mine(Toy):
    def learn(self, training, rng):
        return super().learn(training, rng)

experiment = toy_experiment({{"mine": Mine()}}, 3, limits=Limits(isolated={isolated}))
records = list(run(experiment, plan(experiment), workers_from({executor!r}, count={count})))
print(*(record.status for record in records))
"""


def way(name: str, executor: str, isolated: bool, *, marks: Any = ()) -> Any:
    return pytest.param(name, executor, isolated, id=f"{name}-{executor}-{isolated}", marks=marks)


@pytest.mark.parametrize(  # any two of the three are together among the quick ones
    ("way", "executor", "isolated"),
    [
        way("file", "serial", True),
        way("file", "serial", False, marks=pytest.mark.slow),
        way("file", "processes", True, marks=pytest.mark.slow),
        way("file", "processes", False),
        way("file", "loky", True),
        way("file", "loky", False, marks=pytest.mark.slow),
        way("text", "serial", True, marks=pytest.mark.slow),
        way("text", "serial", False),
        way("text", "processes", True),
        way("text", "processes", False, marks=pytest.mark.slow),
        way("text", "loky", True, marks=pytest.mark.slow),
        way("text", "loky", False),
    ],
)
def test_methods_of_a_script_work_everywhere(tmp_path: Path, way: str, executor: str, isolated: bool) -> None:
    count = None if executor == "serial" else 2
    text = SCRIPT.format(project=str(PROJECT), isolated=isolated, executor=executor, count=count)
    script = tmp_path / "script.py"
    script.write_text(text)
    command = [sys.executable, "-W", "error", *([str(script)] if way == "file" else ["-c", text])]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120)
    is_trackers = executor == "loky" and "resource_tracker" in run.stderr  # loky's own, at its exit
    complaints = "" if is_trackers else run.stderr
    assert (run.stdout, complaints) == ("done done done\n", "")
