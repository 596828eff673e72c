"""Everything a user needs is a name of `redelve.stats`, and importing it loads only what is always used."""

import subprocess
import sys

import pytest

from redelve import stats


def test_every_public_name_can_be_loaded() -> None:
    for name in stats.__all__:
        assert getattr(stats, name) is not None
    assert dir(stats) == stats.__all__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        stats.nonsense  # type: ignore[attr-defined]  # noqa: B018


def test_what_only_some_need_is_loaded_when_it_is_used() -> None:
    code = "import sys; from redelve import stats; print(*sys.modules); stats.friedman; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = (set(line.split()) for line in run.stdout.splitlines())
    later = {f"redelve.stats.{name}" for name in ("bayes", "multiple", "power", "ranks", "resampled")}
    assert not before & {*later, "scipy"}
    assert "redelve.stats.ranks" in after


def test_names_keep_to_their_order() -> None:
    assert stats.__all__ == sorted(stats.__all__, key=lambda name: (not name[0].isupper(), name))
