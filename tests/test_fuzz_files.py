"""Whatever is in a file, commands end with an exit code and a line of their own, never with a traceback."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tiny_tree import build, run_main, snapshot

EXAMPLES = int(os.environ.get("REDELVE_FUZZ_EXAMPLES", "20"))
Y_TASK, C_TASK, X_TASK = "methods/m/tiny/y/std.4", "methods/m/tiny/c/std.6", "methods/x/tiny/y/std.4"


@dataclass(frozen=True)
class Kind:
    """A kind of file, and the calls (directory, then words) that read it."""

    file: str
    calls: tuple[str, ...]

    @property
    def name(self) -> str:
        return Path(self.file).name


SPECIFICATION_CALLS = (
    "dcheck /tiny",
    "dinfo -a /tiny/y/std.4",
    f"@{Y_TASK} mgendata -q",
    f"@{Y_TASK} mstats -l S",
)
KINDS = (
    Kind("data/tiny/Dataset.spec", SPECIFICATION_CALLS),
    Kind("data/tiny/Dataset.data", ("dcheck /tiny", f"@{Y_TASK} mgendata -q", "@data/tiny dgenproto -q", "@data/tiny/y dgenorder -q")),
    Kind("data/tiny/y/Prototask.spec", SPECIFICATION_CALLS),
    Kind("data/tiny/c/Prototask.spec", ("dcheck /tiny/c", f"@{C_TASK} mgendata -q", f"@{C_TASK} mloss -q", "@methods/m mgendir -q tiny")),
    Kind("data/tiny/y/std.prior", SPECIFICATION_CALLS),
    Kind("data/tiny/c/std.prior", ("dcheck /tiny/c/std.prior", f"@{C_TASK} mgendata -q", f"@{C_TASK} mloss -q")),
    Kind("data/tiny/y/Random-order", ("dcheck /tiny/y", f"@{Y_TASK} mgendata -q")),
    Kind("data/tiny/c/Some-cases", ("dcheck /tiny/c", f"@{C_TASK} mgendata -q")),
    Kind("data/tiny/y/Prototask.data", ("dcheck /tiny/y",)),
    Kind("data/tiny/c/costs", (f"@{C_TASK} mloss -q -l Mcosts", f"@{C_TASK} mstats -l Mcosts")),
    Kind("methods/m/codings", (f"@{Y_TASK} mgendata -q -c ../../../codings",)),
    Kind("methods/x/instances", (f"@{X_TASK} mgendata -q -n ../../../instances",)),
    Kind(f"{X_TASK}/Instances-used", (f"@{X_TASK} mstats -l S", f"@{X_TASK} mloss -q", "mstats -l S -c x /m/tiny/y/std.4")),
    Kind(f"{Y_TASK}/Coding-used", (f"@{Y_TASK} mloss -q", "minfo /m/tiny/y/std.4")),
    Kind(f"{Y_TASK}/normalize.0", (f"@{Y_TASK} mloss -q",)),
    Kind(f"{Y_TASK}/targets.0", (f"@{Y_TASK} mloss -q", f"@{Y_TASK} redelve apply lin-1 -q")),
    Kind(f"{Y_TASK}/train.1", (f"@{Y_TASK} redelve apply lin-1 -q",)),
    Kind(f"{Y_TASK}/test.1", (f"@{Y_TASK} redelve apply lin-1 -q",)),
    Kind(f"{Y_TASK}/cguess.S.0", (f"@{Y_TASK} mloss -q",)),
    Kind(f"{Y_TASK}/clptarg.L.1", (f"@{Y_TASK} mloss -q",)),
    Kind(f"{C_TASK}/targets.1", (f"@{C_TASK} mloss -q",)),
    Kind(f"{C_TASK}/guess.1", (f"@{C_TASK} mloss -q", f"@{C_TASK} mloss -q -l Z0.5N")),
    Kind(f"{C_TASK}/prob.1", (f"@{C_TASK} mloss -q",)),
    Kind(f"{Y_TASK}/Test-set-stats", (f"@{Y_TASK} mstats", f"@{Y_TASK} mstats -c n --json")),
    Kind(f"{Y_TASK}/loss.S.0", (f"@{Y_TASK} mstats -l S", f"@{Y_TASK} mstats -l S -c n --csv")),
    Kind(f"{C_TASK}/loss.Z.0", (f"@{C_TASK} mstats -l Z --json", f"@{C_TASK} mstats -l Z -c n")),
)  # fmt: skip

WORDS = (
    "", "0", "1", "-1", "7", "0.5", "1e308", "-1e308", "1e-320", "1e999", "nan", "Inf", "-Inf", "9" * 30, "9" * 5000, "²", "٣", "00",
    "?", "?lost", "12:", ":3", "[0,1)", "(2,1]", "[1,1]", "0..3", "5..1", "-Inf..Inf", "1..99999999", "red", "male", "AGE", "#", "@3",
    "@", "=", "passive=red", "unit=0", "unit=360", "center=1e308", "order=red,green", "scale=none", "missing=impute", "missing=error",
    "\\", "\t", ":", "all", "no missing", "retain", "common", "stratified", "informative", "Commonality indexes are present", "real",
    "integer", "nominal", "ordinal", "binary", "angular", "copy", "ignore", "therm", "rectan", "nm-sqr", "undefined", "é", "\ufeff", "\r",
    "train 0: 1", "Training-Set-Selection: stratified", "Maximum-Dependency-Range: 1", "dependency L range=2",
)  # fmt: skip


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
            lines = [line[:column] + [word] + line[column + 1 :] for line in lines]
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


def call(root: Path, words: Sequence[str]) -> None:
    """Run a command and look at how it ends."""
    place = words[0].removeprefix("@") if words[0].startswith("@") else "."
    name, *argv = words[1:] if place != "." else words
    result = run_main(name, argv, root / place, {"DELVE_PATH": str(root)})
    assert result.code in (0, 1, 2), result
    assert "Traceback" not in result.err
    title = "redelve apply" if name == "redelve" else name
    complaints = [line for line in result.err.splitlines() if not line.startswith(f"{title}: warning: ")]
    told_elsewhere = name == "dcheck" and result.out != ""
    assert len(complaints) == (result.code == 1 and not told_elsewhere), result
    assert all(line.startswith(f"{title}: ") for line in complaints), result


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.file.replace("/", "-"))
def test_any_content_is_dealt_with(kind: Kind, tree: tuple[Path, dict[str, bytes | None]]) -> None:
    root, good = tree
    original = good[kind.file]
    assert original is not None

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(mutations(original) | mutations(original) | mutations(original) | st.binary(max_size=300))
    def check(content: bytes) -> None:
        (root / kind.file).write_bytes(content)
        try:
            for words in kind.calls:
                call(root, words.split())
        finally:
            restore(root, good)

    check()
