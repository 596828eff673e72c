"""Whatever is in a file, commands end with an exit code and a line of their own, never with a traceback."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tiny_tree import build, run_main, snapshot

EXAMPLES = int(os.environ.get("REDELVE_FUZZ_EXAMPLES", "0"))
"""How many contents to try for each kind of file; without it a few, the same ones every time."""
Y_TASK, C_TASK, X_TASK = "methods/m/tiny/y/std.4", "methods/m/tiny/c/std.6", "methods/x/tiny/y/std.4"


@dataclass(frozen=True)
class Kind:
    """A kind of file, and the calls that read it, each with the directory it is made in."""

    file: str
    calls: tuple[str, ...]


GENERATE, SCORE, SUMMARISE, APPLY = "mgendata -q", "mloss -q", "mstats -l S", "redelve apply lin-1 -q"


def kind(file: str, *calls: str, cwd: str = ".") -> Kind:
    return Kind(file, tuple(f"{cwd} {call}" for call in calls))


KINDS = (
    kind("data/tiny/Dataset.spec", "dcheck /tiny", "dinfo -a /tiny/y/std.4", GENERATE, SUMMARISE, cwd=Y_TASK),
    kind("data/tiny/Dataset.data", "dcheck /tiny", GENERATE, cwd=Y_TASK),
    kind("data/tiny/Dataset.data", "dgenproto -q", "dgenorder -q", cwd="data/tiny/y"),
    kind("data/tiny/y/Prototask.spec", "dcheck /tiny", "dinfo -a /tiny/y", GENERATE, SUMMARISE, cwd=Y_TASK),
    kind("data/tiny/c/Prototask.spec", "dcheck /tiny/c", GENERATE, SCORE, cwd=C_TASK),
    kind("data/tiny/c/Prototask.spec", "mgendir -q tiny", "mls /m/tiny", cwd="methods/m"),
    kind("data/tiny/y/std.prior", "dcheck /tiny/y", "dinfo /tiny/y/std.4", GENERATE, SCORE, cwd=Y_TASK),
    kind("data/tiny/c/std.prior", "dcheck /tiny/c/std.prior", GENERATE, SCORE, cwd=C_TASK),
    kind("data/tiny/y/Random-order", "dcheck /tiny/y", GENERATE, cwd=Y_TASK),
    kind("data/tiny/c/Some-cases", "dcheck /tiny/c", GENERATE, cwd=C_TASK),
    kind("data/tiny/y/Prototask.data", "dcheck /tiny/y"),
    kind("data/tiny/c/costs", "mloss -q -l Mcosts", "mstats -l Mcosts", cwd=C_TASK),
    kind("methods/m/codings", "mgendata -q -c ../../../codings", cwd=Y_TASK),
    kind("methods/x/instances", "mgendata -q -n ../../../instances", cwd=X_TASK),
    kind(f"{X_TASK}/Instances-used", SUMMARISE, SCORE, "mstats -l S -c m", cwd=X_TASK),
    kind(f"{Y_TASK}/Coding-used", SCORE, "minfo", cwd=Y_TASK),
    kind(f"{Y_TASK}/normalize.0", SCORE, cwd=Y_TASK),
    kind(f"{Y_TASK}/targets.0", SCORE, APPLY, cwd=Y_TASK),
    kind(f"{Y_TASK}/train.1", APPLY, cwd=Y_TASK),
    kind(f"{Y_TASK}/test.1", APPLY, cwd=Y_TASK),
    kind(f"{Y_TASK}/cguess.S.0", SCORE, cwd=Y_TASK),
    kind(f"{Y_TASK}/clptarg.L.1", SCORE, cwd=Y_TASK),
    kind(f"{C_TASK}/targets.1", SCORE, cwd=C_TASK),
    kind(f"{C_TASK}/guess.1", SCORE, "mloss -q -l Z0.5N", cwd=C_TASK),
    kind(f"{C_TASK}/prob.1", SCORE, cwd=C_TASK),
    kind(f"{Y_TASK}/Test-set-stats", "mstats", "mstats -c n --json", cwd=Y_TASK),
    kind(f"{Y_TASK}/loss.S.0", SUMMARISE, "mstats -l S -c n --csv", cwd=Y_TASK),
    kind(f"{C_TASK}/loss.Z.0", "mstats -l Z --json", "mstats -l Z -c n", cwd=C_TASK),
)
NUMBERS = "0 1 -1 7 00 0.5 -0 1e308 -1e308 1e-320 1e999 nan Inf -Inf ? ?lost 12: :3 ² ٣"
SYNTAX = "[0,1) (2,1] [1,1] 0..3 5..1 -Inf..Inf 1..99999999 # @3 @ = \\ : é \ufeff"
OPTIONS = "passive=red unit=0 unit=360 center=1e308 order=red,green scale=none missing=impute missing=error"
NAMES = "red male AGE all retain common stratified informative undefined copy ignore therm rectan nm-sqr"
TYPES = "real integer nominal ordinal binary angular"
PHRASES = (
    "",
    "\t",
    "\r",
    "9" * 30,
    "9" * 5000,
    "no missing",
    "Commonality indexes are present",
    "train 0: 1",
    "Training-Set-Selection: stratified",
    "Maximum-Dependency-Range: 1",
    "dependency L range=2",
)
WORDS = (*f"{NUMBERS} {SYNTAX} {OPTIONS} {NAMES} {TYPES}".split(" "), *PHRASES)


@st.composite
def mutations(draw: st.DrawFn, good: bytes) -> bytes:
    """The good content with a few words or lines put elsewhere, lost, doubled or replaced; or its bytes."""
    lines = [line.split(" ") for line in good.decode().split("\n")]
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.integers(0, len(lines) - 1))
        column = draw(st.integers(0, len(lines[row]) - 1))
        action = draw(
            st.sampled_from(["replace", "insert", "delete", "delete line", "double", "swap", "all"])
        )
        if action == "replace":
            lines[row][column] = draw(st.sampled_from(WORDS))
        elif action == "insert":
            lines[row].insert(column, draw(st.sampled_from(WORDS)))
        elif action == "delete":
            lines[row][column] = ""
        elif action == "delete line" and len(lines) > 1:
            del lines[row]
        elif action == "double":
            lines.insert(row, list(lines[row]))
        elif action == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[row], lines[other] = lines[other], lines[row]
        elif action == "all":
            word = draw(st.sampled_from(WORDS))
            lines = [[*line[:column], word, *line[column + 1 :]] for line in lines]
    data = "\n".join(" ".join(line) for line in lines).encode()
    cut = draw(st.none() | st.integers(0, len(data)))
    return data if cut is None else data[:cut] + draw(st.binary(max_size=3)) + data[cut + 1 :]


def restore(root: Path, good: dict[str, bytes | None]) -> None:
    """Undo whatever the commands have done."""
    now = snapshot(root)
    for name in sorted(now.keys() - good.keys(), reverse=True):
        path = root / name
        path.rmdir() if path.is_dir() else path.unlink()
    for name, data in good.items():
        if data is not None and now.get(name) != data:
            (root / name).write_bytes(data)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes | None]]:
    root = build(tmp_path_factory.mktemp("fuzz"))
    return root, snapshot(root)


def call(root: Path, words: str) -> None:
    """Run a command and look at how it ends."""
    place, name, *argv = words.split()
    result = run_main(name, argv, root / place, {"DELVE_PATH": str(root)})
    assert result.code in (0, 1, 2), result
    assert "Traceback" not in result.err
    title = "redelve apply" if name == "redelve" else name
    complaints = [line for line in result.err.splitlines() if not line.startswith(f"{title}: warning: ")]
    told_elsewhere = name == "dcheck" and result.out != ""
    assert len(complaints) == (result.code == 1 and not told_elsewhere), result
    assert all(line.startswith(f"{title}: ") for line in complaints), result


@pytest.mark.parametrize("case", KINDS, ids=lambda case: f"{case.file} {case.calls[0].split()[1]}")
def test_any_content_is_dealt_with(case: Kind, tree: tuple[Path, dict[str, bytes | None]]) -> None:
    root, good = tree
    original = good[case.file]
    assert original is not None

    @settings(
        max_examples=EXAMPLES or settings().max_examples // 4,
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(mutations(original) | mutations(original) | mutations(original) | st.binary(max_size=300))
    def check(content: bytes) -> None:
        (root / case.file).write_bytes(content)
        try:
            for words in case.calls:
                call(root, words)
        finally:
            restore(root, good)

    check()
