"""The package's face: few names, options that are refused when misspelt, `python -m redelve`."""

import subprocess
import sys

import redelve


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "redelve", "--version"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    assert made.stdout == f"redelve {redelve.__version__}\n"


def test_as_a_module_it_fails_as_the_command_does() -> None:
    made = subprocess.run([sys.executable, "-m", "redelve", "nonsense"], capture_output=True, check=False)
    assert made.returncode == 2
