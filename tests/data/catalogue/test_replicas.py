"""The comparison of replicas with originals, on small made-up originals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import replicas
from benchmarks.replicas import Figure, Original, linear, loss, neighbours, read, row, table


def test_files_of_both_kinds_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.arff").write_text("% word\n@relation a\n@attribute x numeric\n@data\n\n1,2,3,\n4,5,6,\n")
    for part, target in (("train", "0"), ("test", "0.5")):
        (tmp_path / f"b.{part}").write_text(f"1 2 1\n0.1 0.2\n{target}\n")
    arff, fann = Original(("a.arff",)), Original(("b.train", "b.test"), scaled=True, sound=0.0)
    found, halves = read(tmp_path, arff), read(tmp_path, fann)
    assert found is not None
    assert halves is not None
    assert found.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert halves.tolist() == [[0.1, 0.2, 0.5]]
    assert read(tmp_path, Original(("a.arff", "c.arff"))) is None


def test_what_differs_by_more_than_a_tenth_is_off() -> None:
    assert row("m", "mean", Figure(1.0), Figure(1.09)) == "| `m` | mean | 1 | 1.09 | +9 % |  |"
    assert row("m", "linear", Figure(0.5, 0.012), Figure(0.4)).endswith(
        "| 0.5 ± 0.01 | 0.4 | -20 % | **off** |"
    )
    assert row("m", "skewness", Figure(-0.1), Figure(-0.2)).endswith("| -0.10 | **off** |")


def test_losses_are_standardised_and_on_other_cases() -> None:
    generator = np.random.default_rng(3)
    inputs = generator.standard_normal((4096, 4))
    targets = inputs @ [1.0, 2.0, 0.0, 0.0] + generator.standard_normal(4096)  # noise is a sixth
    cases = np.column_stack([inputs, targets])
    fitted = loss(linear, cases)
    assert fitted.value == pytest.approx(1 / 6, rel=0.08)
    assert 0 < fitted.error < 0.01
    assert loss(neighbours, cases).value > 1.2 * fitted.value


def test_equal_data_have_no_difference_and_absent_originals_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = np.random.default_rng(1).gamma(1.0, size=(400, 3))
    text = "\n".join(",".join(map(repr, case)) for case in cases.tolist())
    (tmp_path / "bank8FM.arff").write_text(f"@data\n{text}\n")
    monkeypatch.setattr(replicas, "replica", lambda _name, _cases: cases)
    monkeypatch.setattr(replicas, "METHODS", {"linear": linear})
    shown = table(tmp_path)
    assert shown.count("+0 %") == 3
    assert "off" not in shown
    assert (
        "Not measured, because the files are absent: bank-32nh, bank-32fm, kin-32fm, pumadyn-32fm." in shown
    )
