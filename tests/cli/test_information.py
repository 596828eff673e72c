"""dinfo and minfo beyond the manual's examples: levels, keys, options and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from redelve import __version__
from tests.cli.workbench import Workbench, dataset, prototask, under
from tests.conftest import RunCommand

PRIOR = "dependency MH range=3\n0 L integer\n1 NLMH real missing=impute\n2 MH angular unit=24\n"
KEYS = {"Inputs": "0 SPEED", "Targets": "HOUR", "Test_Set_Size": "10", "Training_Set_Sizes": "5 10"}


@pytest.fixture
def bench(tmp_path: Path, run_command: RunCommand) -> Workbench:
    """A delve directory with a dataset in sequence, and two methods of which one was run."""
    rows = [f"{n if n % 7 else '?'} {n % 24}" for n in range(1, 61)]
    files = dataset(
        ["SPEED u [0,Inf) ? # Wind speed", "HOUR c [0,24)"],
        rows,
        order="informative",
        extra="Title: Wind\nStation: Toronto\n",
    )
    sequence = prototask(PRIOR, Maximum_Dependency_Range="4", Weather="fair", **KEYS)
    other = {"brief.prior": PRIOR.replace("0 L", "0 H")}
    tree = under("data/wind", {**files, **under("hour", {**sequence, **other})})
    methods = {"methods/a/wind/hour/std.5/": "", "methods/a/demo/sex/": "", "methods/b/": ""}
    return Workbench.at(tmp_path, run_command, {**tree, **methods, "methods/a/Source/a.c": ""})


def asked(bench: Workbench, command: str, keys: str, path: str) -> str:
    return bench.do(command, "-t", "-k", keys, path).out.rstrip("\n")


class TestKeys:
    @pytest.mark.parametrize(
        ("path", "key", "value"),
        [
            ("/", "datasets", "demo wind"),
            ("/wind", "dataset", "/wind"),
            ("/wind", "title", "Wind"),
            ("/wind", "station", "Toronto"),
            ("/wind", "order", "informative"),
            ("/wind", "number-of-attributes", "2"),
            ("/wind", "attributes", "1 2"),
            ("/wind", "code,2", "HOUR"),
            ("/wind", "nature,2", "c"),
            ("/wind", "range,1", "[0,Inf) ?"),
            ("/wind", "comment,1", "Wind speed"),
            ("/wind/hour", "prototask", "/wind/hour"),
            ("/wind/hour", "inputs", "0 1"),
            ("/wind/hour", "targets", "2"),
            ("/wind/hour", "order", "retain"),
            ("/wind/hour", "priors", "brief std"),
            ("/wind/hour", "tasks", "brief.5 std.5 brief.10 std.10"),
            ("/wind/hour", "maximum-dependency-range", "4"),
            ("/wind/hour", "weather", "fair"),
            ("/wind/hour/std.5", "task", "/wind/hour/std.5"),
            ("/wind/hour/std.7", "training-set-size", "7"),
            ("/wind/hour/std.5", "dependency", "mh range=3"),
            ("/wind/hour/std.5", "prior,type,2", "angular"),
            ("/wind/hour/std.5", "prior,unit,2", "24"),
            ("/wind/hour/std.5", "prior,level,0", "L"),
            ("/wind/hour/brief.5", "prior,level,0", "H"),
            ("/wind/hour/std.5", "prior,missing,1", "impute"),
            ("/demo/age", "provenance", "redelve's replica of demo, not the original data"),
            ("/demo", "title", "no title"),
        ],
    )
    def test_a_fact_by_its_key(self, path: str, key: str, value: str, bench: Workbench) -> None:
        assert asked(bench, "dinfo", key, path) == value

    @pytest.mark.parametrize("key", ["usage", "title", "test-set-size", "weather", "datasets", "range,1"])
    def test_what_a_level_does_not_know_is_asked_of_those_above(self, key: str, bench: Workbench) -> None:
        levels = {"datasets": "/", "test-set-size": "/wind/hour", "weather": "/wind/hour"}
        at_home = asked(bench, "dinfo", key, levels.get(key, "/wind"))
        assert asked(bench, "dinfo", key, "/wind/hour/std.5") == at_home

    def test_several_keys_in_the_order_asked_for(self, bench: Workbench) -> None:
        assert asked(bench, "dinfo", "targets inputs", "/wind/hour") == "2\n0 1"
        assert bench.do("dinfo", "-q", "-k", "targets inputs", "/wind/hour").out == "targets inputs\n"

    def test_keys_in_any_case(self, bench: Workbench) -> None:
        assert asked(bench, "dinfo", "Test-Set-Size", "/wind/hour") == "10"

    def test_an_unknown_key_lists_the_known_ones(self, bench: Workbench) -> None:
        complaint = bench.fail("dinfo", "-k", "colour", "/wind")
        assert 'unknown key "colour": known here are dataset title origin' in complaint

    def test_every_key_of_the_list_can_be_asked_for(self, bench: Workbench) -> None:
        for path in ("/", "/wind", "/wind/hour", "/wind/hour/std.5", "/demo/colour/std.32"):
            keys = bench.do("dinfo", "-q", "-a", path).out.split()
            together = bench.do("dinfo", "-t", "-k", " ".join(keys), path).out
            assert together == bench.do("dinfo", "-t", "-a", path).out
            assert len(together.splitlines()) == len(keys)


class TestLevels:
    def test_a_path_that_is_given_wins_over_where_one_is(self, bench: Workbench) -> None:
        here = bench.root / "data/wind/hour"
        assert bench.do("dinfo", "-t", "-k", "prototask", cwd=here).out == "/wind/hour\n"
        assert bench.do("dinfo", "-t", "-k", "dataset", "..", cwd=here).out == "/wind\n"
        assert bench.do("dinfo", "-t", "-k", "dataset", "/demo", cwd=here).out == "/demo\n"

    def test_all_that_is_known_includes_what_is_shown(self, bench: Workbench) -> None:
        for path in ("/", "/wind", "/wind/hour", "/wind/hour/std.5"):
            shown = bench.do("dinfo", path).out.splitlines()
            everything = bench.do("dinfo", "-a", path).out.splitlines()
            assert set(shown) <= set(everything)

    def test_a_sequence(self, bench: Workbench) -> None:
        shown = bench.do("dinfo", "/wind/hour").out
        assert "Maximum dependency range: 4\n" in shown
        assert "\n  0 CASE      ?   1..Inf       Number of the case in the original order\n" in shown
        assert "Dependency between cases: mh range=3\n" in bench.do("dinfo", "/wind/hour/std.5").out

    def test_missing_values_have_a_column_where_the_coding_makes_one(self, bench: Workbench) -> None:
        shown = bench.do("dinfo", "/wind/hour/std.5").out
        assert "SPEED:?" not in shown
        bench.write({"data/wind/hour/std.prior": PRIOR.replace(" missing=impute", "")})
        assert "    3   1  SPEED:?                ...\n" in bench.do("dinfo", "/wind/hour/std.5").out


class TestMethods:
    def test_the_root(self, bench: Workbench) -> None:
        assert asked(bench, "minfo", "methods", "/") == "a b lin-1"
        assert bench.do("minfo", "-q", "/").out == "delve_path methods\n"

    def test_a_method(self, bench: Workbench) -> None:
        assert bench.do("minfo", "/a").out == "Method: /a\nDatasets:\n    demo\n    wind\n"
        assert bench.do("minfo", "/b").out == "Method: /b\nDatasets:\n"

    def test_levels_as_the_method_used_them(self, bench: Workbench) -> None:
        assert asked(bench, "minfo", "prototasks", "/a/wind") == "hour"
        assert asked(bench, "minfo", "prototasks", "/a/demo") == "sex"
        assert asked(bench, "minfo", "tasks", "/a/wind/hour") == "std.5"
        assert asked(bench, "minfo", "tasks", "/a/demo/sex") == ""
        assert asked(bench, "minfo", "method", "/a/wind/hour") == "/a"

    def test_a_task_needs_its_codings(self, bench: Workbench) -> None:
        assert "run mgendata" in bench.fail("minfo", "/a/wind/hour/std.5")
        bench.do("mgendata", "-q", cwd=bench.method("a") / "wind/hour/std.5")
        shown = bench.do("minfo", "/a/wind/hour/std.5").out
        assert "relevance  coding      options" in shown
        assert "noise-lev" not in shown

    def test_other_codings_are_shown_as_they_were_used(self, bench: Workbench) -> None:
        (bench.root / "codings").write_text("0 ignore\nSPEED nm-sqr missing=indicator\nHOUR copy\n")
        folder = bench.method("a") / "wind/hour/std.5"
        bench.do("mgendata", "-q", "-c", str(bench.root / "codings"), cwd=folder)
        lines = [line.split() for line in bench.do("minfo", cwd=folder).out.splitlines()]
        assert ["-", "0", "CASE", "integer", "l", "ignore", "-"] in lines
        assert ["1", "1", "SPEED", "real", "nlmh", "nm-sqr", "missing=indicator"] in lines
        assert ["2", "1", "SPEED:?", "..."] in lines
        assert ["1", "2", "HOUR", "angular", "mh", "copy", "-"] in lines


class TestRefusals:
    @pytest.mark.parametrize(
        ("command", "path", "complaint"),
        [
            ("dinfo", "/nothing", 'dataset "/nothing" not found'),
            ("dinfo", "/wind/nothing", "nothing"),
            ("dinfo", "/wind/hour/nothing.5", 'prior file "/wind/hour/nothing.prior" not found'),
            ("dinfo", "/wind/hour/std", "does not specify a task training set size"),
            ("dinfo", "/wind/hour/std.5/more", "path contains too many directory names"),
            ("minfo", "/a/b/c/d/e", "path contains too many directory names"),
            ("minfo", "/nothing/wind/hour/std.5", "nothing"),
            ("minfo", "data", "is not in a delve"),
        ],
    )
    def test_a_path_that_leads_nowhere(
        self, command: str, path: str, complaint: str, bench: Workbench
    ) -> None:
        assert complaint in bench.fail(command, path)

    def test_outside_the_hierarchy(self, bench: Workbench, tmp_path: Path) -> None:
        assert "is not in a delve" in bench.fail("dinfo", cwd=tmp_path)
        assert "is not in a delve" in bench.fail("minfo", cwd=tmp_path)

    @pytest.mark.parametrize("command", ["dinfo", "minfo"])
    def test_bad_options_are_usage_errors(self, command: str, bench: Workbench) -> None:
        for argv in (["-z"], ["-k"], ["/wind", "/demo"]):
            result = bench.run(command, argv, bench.root)
            assert result.code == 2
            assert f"usage: {command} " in result.err

    @pytest.mark.parametrize("command", ["dinfo", "minfo"])
    def test_version(self, command: str, bench: Workbench, tmp_path: Path) -> None:
        assert bench.do(command, "-v", cwd=tmp_path).out == f"redelve {__version__}\n"
