"""Every example in README.md and docs/ is run: console blocks as a shell session, python blocks as code."""

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.forks import Forks

PROJECT = Path(__file__).parent.parent
PAGES = sorted([PROJECT / "README.md", *(PROJECT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "=== end of command ==="
ISOLATED = {"README.md", "methods.md", "running.md"}
"""Pages whose methods always work in processes of their own; those of others do in `make test-all`."""
IN_PROCESS = "import redelve.run.cells.job_and_outcome as _jobs\n_jobs.ISOLATED_UNLESS_TOLD = False\n"


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text()) if kind == language]


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Commands (`$ `, continued by `> `) with the lines expected after each."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", [])
        else:
            found[-1][1].append(line)
    return found


def tidy(lines: list[str]) -> list[str]:
    collapsed = [" ".join(line.split()) for line in lines]
    return [line for line in collapsed if line]


def agrees(expected: list[str], got: list[str]) -> bool:
    """Line by line; a line `...` stands for any number of lines."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(agrees(expected[1:], got[start:]) for start in range(len(got) + 1))
    return bool(got) and expected[0] == got[0] and agrees(expected[1:], got[1:])


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "console")], ids=lambda page: page.name)
def test_console_examples_print_what_they_say(page: Path, tmp_path: Path, forks: Forks) -> None:
    session = [pair for text in blocks(page, "console") for pair in commands(text)]
    script = "".join(f"{command}\necho '{MARK}'\n" for command, _ in session)
    scripts = os.pathsep.join([str(forks.commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": scripts, "HOME": str(tmp_path)}
    environment |= {"REDELVE_HOME": str(tmp_path / "home"), "PWD": str(tmp_path)}
    environment.pop("DELVE_PATH", None)
    run = subprocess.run(
        ["sh"], input=script, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    outputs = run.stdout.split(f"{MARK}\n")
    assert len(outputs) == len(session) + 1, run.stderr
    for (command, expected), output in zip(session, outputs, strict=False):
        got = tidy(output.splitlines())
        assert agrees(tidy(expected), got), f"{command}\nprinted\n{output}\n{run.stderr}"


def run_examples(page: Path, folder: Path, forks: Forks, first: str = "") -> None:
    """Run the python examples of a page as one program, after a text of ours."""
    work, log = folder / "folder", folder / "log"
    work.mkdir()
    code = forks.run_text(first + "\n".join(blocks(page, "python")), work, log)
    assert code == 0, log.read_text()


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda page: page.name)
def test_python_examples_run(page: Path, tmp_path: Path, forks: Forks) -> None:
    run_examples(page, tmp_path, forks, "" if page.name in ISOLATED else IN_PROCESS)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p, "python") and p.name not in ISOLATED], ids=lambda page: page.name
)
def test_python_examples_run_with_isolated_methods(page: Path, tmp_path: Path, forks: Forks) -> None:
    run_examples(page, tmp_path, forks)


def test_examples_start_with_no_name_and_no_part_of_redelve(tmp_path: Path, forks: Forks) -> None:
    started = (
        "assert [n for n in dir() if n[0] != '_'] == []\nimport sys\nassert 'redelve' not in sys.modules"
    )
    assert forks.run_text(started, tmp_path, tmp_path / "log") == 0, (tmp_path / "log").read_text()
    assert forks.run_text("raise SystemExit(3)", tmp_path, tmp_path / "log") == 3
    assert forks.run_text("import warnings\nwarnings.warn('no')", tmp_path, tmp_path / "log") == 1
    assert "UserWarning: no" in (tmp_path / "log").read_text()


@cache
def anchors(page: Path) -> set[str]:
    """What links to a page's headings are called: in small letters, with hyphens; a second one has -1."""
    found: list[str] = []
    for heading in re.findall(r"^#+ +(.+?) *$", BLOCK.sub("", page.read_text()), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.append(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return {
        f"{name}-{count}" if (count := found[:place].count(name)) else name
        for place, name in enumerate(found)
    }


def test_links_lead_to_pages_and_headings_that_are_there() -> None:
    for page in [*PAGES, PROJECT / "CONTRIBUTING.md"]:
        for path, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
            target = page.parent / path if path else page
            assert target.exists(), f"{page.name}: {path}"
            assert not anchor or anchor in anchors(target), f"{page.name}: {path}#{anchor}"
