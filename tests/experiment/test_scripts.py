"""Scripts and notebooks: methods defined on the spot, no `if __name__ == "__main__"`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent.parent
SCRIPT = """
import sys
sys.path.insert(0, {project!r})
from redelve.executors import workers_from
from redelve.experiment import plan, run
from redelve.isolation import Limits
from tests.experiment.bench import Toy, toy_experiment

class Mine(Toy):
    def learn(self, training, rng):
        return super().learn(training, rng)

experiment = toy_experiment({{"mine": Mine()}}, 3, limits=Limits(isolated={isolated}))
records = list(run(experiment, plan(experiment), workers_from({executor!r}, count={count})))
print(*(record.status for record in records))
"""


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize(("executor", "count"), [("serial", None), ("processes", 2), ("loky", 2)])
@pytest.mark.parametrize("way", ["file", "text"])
def test_methods_of_a_script_work_everywhere(
    tmp_path: Path, way: str, executor: str, count: int | None, isolated: bool
) -> None:
    text = SCRIPT.format(project=str(PROJECT), isolated=isolated, executor=executor, count=count)
    script = tmp_path / "script.py"
    script.write_text(text)
    command = [sys.executable, "-W", "error", *([str(script)] if way == "file" else ["-c", text])]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=120)
    is_trackers = executor == "loky" and "resource_tracker" in run.stderr  # loky's own, at its exit
    complaints = "" if is_trackers else run.stderr
    assert (run.stdout, complaints) == ("done done done\n", "")
