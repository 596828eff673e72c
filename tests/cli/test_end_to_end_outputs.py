"""mstats for programs, and commands on many tasks at once."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import ClassVar

import pytest

from tests.cli.oracle import (
    TRAINING,
    figures,
    p_value,
    wind,
)
from tests.cli.workbench import Workbench, awk, instances


class TestOtherOutputs:
    @pytest.fixture
    def folder(self, bench: Workbench) -> Path:
        wind(bench)
        for name, program in (
            ("one", '{ print "0 0" }'),
            ("two", "{ print $1, 0.5 }"),
            ("three", "{ print 1, 1 }"),
        ):
            folder = bench.task(name, "wind/both/std.10")
            awk(program, folder, "cguess.{}", "test.{}")
            bench.do("mloss", "-q", cwd=folder)
        return bench.method("one") / "wind/both/std.10"

    LABELS: ClassVar = {
        "Standard error for estimate": "standard_error",
        TRAINING: "sd_training",
        "SD from test cases": "sd_test_cases",
        "SD from stoch. pred. & interactions": "sd_residual",
    }

    def test_json_has_the_figures_of_the_text(self, bench: Workbench, folder: Path) -> None:
        records = json.loads(bench.do("mstats", "--json", cwd=folder).out)
        blocks = bench.do("mstats", cwd=folder).out.split("/one/wind/both/std.10\n")[1:]
        assert [record["loss"] for record in records] == ["A", "S"]
        for record, block in zip(records, blocks, strict=True):
            found = figures(block)
            for label, name in ({"Estimated expected loss": "estimate"} | self.LABELS).items():
                assert record[name] == pytest.approx(found[label][0], rel=6e-9)
                assert record[f"standardized_{name}"] == pytest.approx(found[label][1], rel=2e-8)
            assert record["interval_low"] < record["estimate"] < record["interval_high"]
            assert record["cautious_interval_low"] <= record["interval_low"]
            assert (record["address"], record["method"]) == ("/one/wind/both/std.10", "one")
            assert (record["compared_with"], record["design"]) == (None, "common")
            sizes = [record[key] for key in ("training_sets", "training_set_size", "test_cases", "runs")]
            assert sizes == [6, 10, 40, 1]

    def test_json_of_comparisons(self, bench: Workbench, folder: Path) -> None:
        argv = ("-l", "S", "-c", "two three")
        records = json.loads(bench.do("mstats", "-j", *argv, cwd=folder).out)
        blocks = bench.do("mstats", *argv, cwd=folder).out.split("/one/wind/both/std.10\n")[1:]
        assert [record["compared_with"] for record in records] == ["two", "three"]
        for record, block in zip(records, blocks, strict=True):
            found = figures(block)
            labels = {
                f"Estimated expected loss for {record['method']}": "mean_first",
                f"Estimated expected loss for /{record['compared_with']}": "mean_second",
                "Estimated expected difference": "estimate",
                "Standard error for difference estimate": "standard_error",
                TRAINING: "sd_training",
            }
            for label, name in labels.items():
                assert record[name] == pytest.approx(found[label][0], rel=6e-9, abs=1e-12)
                assert record[f"standardized_{name}"] == pytest.approx(found[label][1], rel=2e-8, abs=1e-12)
            assert record["test"] == "F-test"
            assert record["p_value"] == pytest.approx(p_value(block), rel=1e-8)
            assert (record["p_value"] < 0.05) == (record["interval_low"] > 0 or record["interval_high"] < 0)
            assert record["cautious_p_value"] >= record["p_value"] * (1 - 1e-9)
            assert 0 < record["quasi_f_p_value"] < 1

    def test_csv_has_the_figures_of_json(self, bench: Workbench, folder: Path) -> None:
        for argv in ((), ("-c", "two,three"), ("-l", "A", "-c", "two")):
            records = json.loads(bench.do("mstats", "--json", *argv, cwd=folder).out)
            rows = list(csv.DictReader(io.StringIO(bench.do("mstats", "--csv", *argv, cwd=folder).out)))
            assert len(rows) == len(records)
            for row, record in zip(rows, records, strict=True):
                assert set(row) == set(record)
                for key, value in record.items():
                    shown = "; ".join(value) if key == "caveats" else "" if value is None else str(value)
                    assert row[key] == shown

    def test_one_form_at_a_time(self, bench: Workbench, folder: Path) -> None:
        assert bench.run("mstats", ["--json", "--csv"], folder).code == 2

    def test_caveats_are_in_all_forms(self, bench: Workbench, folder: Path) -> None:
        for number in range(3, 6):
            (folder / f"loss.S.{number}").unlink()
        (record,) = json.loads(bench.do("mstats", "-j", "-l", "S", cwd=folder).out)
        text = " ".join(bench.do("mstats", "-l", "S", cwd=folder).out.split())
        assert record["caveats"][0] == "the task has 6 instances: there are no losses of 3, 4, 5"
        assert "only 3 training sets" in record["caveats"][1]
        assert all(caveat in text for caveat in record["caveats"])


class TestManyTasks:
    """mgendata, mloss and mstats on all tasks below a path, not all of which need be finished."""

    @pytest.fixture
    def method(self, bench: Workbench) -> Path:
        wind(bench)
        method = bench.method("m")
        bench.do("mgendir", "-q", "wind", cwd=method)
        bench.do("mgendata", "-q", "wind", cwd=method)
        for task in ("both/std.10", "both/std.15", "classes/std.10"):
            program = '{ print "1 1" }' if task.startswith("both") else '{ print "1 rain" }'
            awk(program, method / "wind" / task, "guess.{}", "test.{}")
        return method

    def test_mgendata(self, bench: Workbench, method: Path) -> None:
        shown = bench.do("mgendata", "wind/both", cwd=method).err.splitlines()
        assert [line for line in shown if not line.startswith(" ")] == [
            "wind/both/std.10",
            "wind/both/std.15",
        ]
        assert len(instances(method / "wind/mixed/std.15")) == 4

    def test_mloss_leaves_out_what_has_no_predictions(self, bench: Workbench, method: Path) -> None:
        result = bench.do("mloss", "-q", "wind", cwd=method)
        warned = re.findall(
            r'mloss: warning: no losses for "/m/wind/(\S+)": it has no predictions', result.err
        )
        assert warned == ["classes/std.15", "from/std.10", "from/std.15", "mixed/std.10", "mixed/std.15"]
        assert len(list(method.rglob("loss.*"))) == 2 * 6 + 2 * 4 + 6

    def test_mloss_leaves_out_losses_that_do_not_apply(self, bench: Workbench, method: Path) -> None:
        result = bench.do("mloss", "-q", "-l", "S", cwd=method)
        assert 'loss S is for integer, real, angular targets, but target "SKY" is categorical' in result.err
        assert len(list(method.rglob("loss.*"))) == 6 + 4

    def test_mloss_needs_something_to_do(self, bench: Workbench, method: Path) -> None:
        assert 'no predictions were found under "wind/from"' in bench.run("mloss", ["wind/from"], method).err
        assert bench.run("mloss", ["wind/from"], method).code == 1

    def test_mstats(self, bench: Workbench, method: Path) -> None:
        bench.do("mloss", "-q", "wind", cwd=method)
        result = bench.do("mstats", "/m/wind")
        blocks = re.findall(r"^/m/wind/(\S+)\nLoss: (\S)", result.out, re.MULTILINE)
        assert blocks == [
            ("both/std.10", "A"),
            ("both/std.10", "S"),
            ("both/std.15", "A"),
            ("both/std.15", "S"),
            ("classes/std.10", "Z"),
        ]
        assert "no loss files loss.*.* under /m/wind/mixed/std.10" in result.err
        assert bench.do("mstats", "-l", "Z", "/m").out.startswith("/m/wind/classes/std.10\nLoss: Z")

    def test_mstats_compares_where_both_have_losses(self, bench: Workbench, method: Path) -> None:
        bench.do("mloss", "-q", "wind", cwd=method)
        other = bench.task("n", "wind/both/std.15")
        awk('{ print "2 2" }', other, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=other)
        result = bench.do("mstats", "-l", "A", "-c", "n", "/m/wind")
        assert re.findall(r"^/m/wind/(\S+)$", result.out, re.MULTILINE) == ["both/std.15"]
        assert "no loss files loss.A.* under /n/wind/both/std.10" in result.err

    def test_mstats_needs_names_in_its_lists(self, bench: Workbench, method: Path) -> None:
        for letter, wanted in (("-c", "a name"), ("-i", "a name"), ("-l", "codes of losses, as S or S,A")):
            result = bench.run("mstats", [letter, ",", "/m/wind"], method)
            assert (result.code, result.out) == (2, "")
            assert f'option "{letter}" needs {wanted}, not ","' in result.err

    def test_mstats_needs_losses(self, bench: Workbench, method: Path) -> None:
        assert 'no loss files were found under "/m/wind"' in bench.run("mstats", ["/m/wind"], method).err
        complaint = bench.fail("mstats", "/m/wind/both/std.10")
        assert 'no loss files "loss.*" under "/m/wind/both/std.10": run mloss first' in complaint
        complaint = bench.fail("mstats", "-l", "S", "/m/wind/both/std.10")
        assert 'no loss files "loss.S.*"' in complaint

    def test_mstats_warns_of_a_loss_that_was_not_computed(self, bench: Workbench, method: Path) -> None:
        bench.do("mloss", "-q", "-l", "S", "wind/both/std.10", cwd=method)
        result = bench.do("mstats", "-l", "SA", "/m/wind/both/std.10")
        assert result.err == "mstats: warning: no loss files loss.A.* under /m/wind/both/std.10\n"
        assert result.out.count("Loss: ") == 1
