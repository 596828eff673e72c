"""The plugin of pytest in a real run of a sample project, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

PROJECT = Path(__file__).parent.parent
TESTS = """
import pandas as pd
import pytest

OLD = pd.read_csv("main.csv")


def test_the_same_model_passes(redelve_no_worse):
    assert redelve_no_worse("same.csv", "main.csv", margin=0.05).answer == "not worse"


def test_a_frame_passes(redelve_no_worse):
    redelve_no_worse(OLD.copy(), than=OLD, margin=0.05)


def test_a_worse_model_fails(redelve_no_worse):
    redelve_no_worse("worse.csv", than="main.csv", margin=0.05)


def test_few_cases_are_skipped(redelve_no_worse):
    redelve_no_worse(OLD.head(20), than=OLD.head(20), margin=0.05)


@pytest.mark.redelve_no_worse(than="main.csv", margin=0.05)
def test_the_marker_gives_options(redelve_no_worse):
    redelve_no_worse("same.csv")


@pytest.mark.redelve_no_worse("worse.csv", "main.csv", margin=0.05)
def test_the_marker_alone_fails():
    pass


@pytest.mark.redelve_no_worse("same.csv", "main.csv", margin=0.05)
class TestMarked:
    def test_the_marker_of_a_class_passes(self):
        pass


def test_a_missing_file_fails(redelve_no_worse):
    redelve_no_worse("none.csv", than="main.csv", margin=0.05)


def test_a_missing_margin_fails(redelve_no_worse):
    redelve_no_worse("same.csv", than="main.csv")


@pytest.mark.redelve_no_worse(than="main.csv", margin=0.05)
def test_a_marker_that_checks_nothing_fails():
    pass


@pytest.mark.redelve_no_worse(than="main.csv", margin=0.05)
def test_a_fixture_got_by_name_counts(request):
    request.getfixturevalue("redelve_no_worse")("same.csv")


@pytest.mark.redelve_no_worse(than="main.csv", margin=0.05)
class TestSomeOfThem:
    def test_one_that_checks_something_else_passes(self):
        pass


@pytest.mark.redelve_no_worse("same.csv", "main.csv", 0.05)
def test_the_third_place_is_the_margin():
    pass


def test_the_third_place_is_the_margin_in_the_fixture(redelve_no_worse):
    assert redelve_no_worse("same.csv", "main.csv", 0.05).margin == 0.05


@pytest.mark.redelve_no_worse("same.csv", "main.csv", 0.05, 0.1)
def test_a_fourth_place_fails():
    pass


@pytest.mark.redelve_no_worse("same.csv", "main.csv", 0.05, margin=0.01)
def test_a_margin_given_twice_fails():
    pass


@pytest.mark.redelve_no_worse("same.csv", "main.csv", margn=0.01)
def test_a_misspelt_margin_fails():
    pass


@pytest.mark.redelve_no_worse(nwe="same.csv", than="main.csv", margin=0.05)
def test_misspelt_scores_fail():
    pass


def test_a_misspelt_level_fails(redelve_no_worse):
    redelve_no_worse("same.csv", "main.csv", margin=0.05, lavel=0.1)
"""
WANTED = {
    "test_the_same_model_passes": "passed",
    "test_a_frame_passes": "passed",
    "test_a_worse_model_fails": "failure",
    "test_few_cases_are_skipped": "skipped",
    "test_the_marker_gives_options": "passed",
    "test_the_marker_alone_fails": "failure",
    "test_the_marker_of_a_class_passes": "passed",
    "test_a_missing_file_fails": "failure",
    "test_a_missing_margin_fails": "failure",
    "test_a_marker_that_checks_nothing_fails": "failure",
    "test_a_fixture_got_by_name_counts": "passed",
    "test_one_that_checks_something_else_passes": "passed",
    "test_the_third_place_is_the_margin": "passed",
    "test_the_third_place_is_the_margin_in_the_fixture": "passed",
    "test_a_fourth_place_fails": "failure",
    "test_a_margin_given_twice_fails": "failure",
    "test_a_misspelt_margin_fails": "failure",
    "test_misspelt_scores_fail": "failure",
    "test_a_misspelt_level_fails": "failure",
}
TOLD = (
    "worse: worse is worse than main (p < 0.0001).",
    "none.csv: no such file or folder",
    "redelve_no_worse needs a margin, as margin=0.01",
    "not enough evidence: neither a loss of 0.05",
    "names no new scores, and the test does not call the fixture redelve_no_worse, so nothing was checked",
    "redelve_no_worse takes three arguments without a name, new, than, margin; it was given 4",
    "redelve_no_worse was given margin twice",
    "redelve_no_worse has no option 'margn': did you mean 'margin'?",
    "redelve_no_worse has no option 'nwe': did you mean 'new'?",
    "redelve_no_worse has no option 'lavel': did you mean 'level'?",
)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with scores of three models and tests of them."""
    folder = tmp_path_factory.mktemp("sample")
    rng = np.random.default_rng(1)
    old = pd.DataFrame({"case": range(400), "correct": (rng.random(400) < 0.8).astype(int)})
    old.to_csv(folder / "main.csv", index=False)
    old.to_csv(folder / "same.csv", index=False)
    worse = old.assign(correct=np.where(rng.random(400) < 0.2, 0, old["correct"]))
    worse.to_csv(folder / "worse.csv", index=False)
    (folder / "test_models.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Pytest with this plugin and no other; its exit code and what it prints."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "redelve.cli.pytest_plugin",
        "-p",
        "no:cacheprovider",
        *words,
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_sample_project(sample: Path) -> None:
    found = run(sample, "-rs", "--junit-xml=report.xml")
    assert found.returncode == 1
    outcomes, verdicts = {}, {}
    for case in ElementTree.parse(sample / "report.xml").iter("testcase"):
        name, parts = str(case.get("name")), [one.tag for one in case if one.tag != "properties"]
        outcomes[name] = parts[0] if parts else "passed"
        verdicts[name] = [
            one.get("value") for one in case.iter("property") if one.get("name") == "redelve_verdict"
        ]
    assert outcomes == WANTED
    assert verdicts["test_a_worse_model_fails"] == ["worse"]
    assert verdicts["test_few_cases_are_skipped"] == ["not enough evidence"]
    assert [text for text in TOLD if text not in found.stdout] == []
    assert "another exception occurred" not in found.stdout
    assert "_settle" not in found.stdout  # no traceback into the plugin
    assert "registry.py" not in found.stdout


def test_too_little_evidence_may_fail(sample: Path) -> None:
    found = run(sample, "-k", "few_cases", "--redelve-undecided=fail")
    assert found.returncode == 1
    assert "fresh cases would settle it" in found.stdout


def test_the_entry_point_leads_to_the_plugin() -> None:
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    plugin = import_module(declared["redelve"])
    assert hasattr(plugin, "pytest_configure")
    code = "import sys, redelve.cli.pytest_plugin; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "pandas", "scipy", "redelve.findings"} & set(loaded.stdout.split())
