"""mgendir; the examples are the manual's (1.3, 7.2 and appendix C)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Result, RunCommand, make_root, write_tree

SIZES = (32, 64, 128, 256, 512)
PROTOTASKS = ("age", "colour", "income", "sex", "siblings")


def with_tasks(prototask: str) -> list[str]:
    return [prototask, *(f"{prototask}/std.{size}" for size in SIZES)]


def whole_dataset(dataset: str) -> list[str]:
    return [dataset, *(name for prototask in PROTOTASKS for name in with_tasks(f"{dataset}/{prototask}"))]


@pytest.fixture
def method(tmp_path: Path) -> Path:
    """The empty directory of a method in a delve directory of one's own."""
    return make_root(tmp_path / "delve", {"methods/mymethod/": ""}) / "methods" / "mymethod"


def made(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class TestManual:
    def test_tutorial(self, method: Path, run_command: RunCommand) -> None:
        result = run_command("mgendir", ["demo/age"], method)
        assert result.out.split("\n") == [
            "demo",
            "demo/age",
            "demo/age/std.32",
            "demo/age/std.64",
            "demo/age/std.128",
            "demo/age/std.256",
            "demo/age/std.512",
            "",
        ]
        assert (result.err, result.code) == ("", 0)
        assert made(method) == sorted(result.out.split())

    def test_section_7_2(self, method: Path, run_command: RunCommand) -> None:
        (method / "demo").mkdir()  # the manual does not print it, so it was there
        assert (
            run_command("mgendir", ["demo/income/std.32"], method).out == "demo/income\ndemo/income/std.32\n"
        )
        assert run_command("mgendir", ["/demo/income"], method).out == (
            "demo/income/std.64\ndemo/income/std.128\ndemo/income/std.256\ndemo/income/std.512\n"
        )

    def test_appendix_for_a_dataset(self, method: Path, run_command: RunCommand) -> None:
        out = run_command("mgendir", ["./demo"], method).out
        assert out.split() == [f"./{name}" for name in whole_dataset("demo")]
        assert out.startswith("./demo\n./demo/age\n./demo/age/std.32\n")
        assert out.endswith("./demo/siblings/std.512\n")

    def test_appendix_for_a_prototask(self, method: Path, run_command: RunCommand) -> None:
        out = run_command("mgendir", ["./demo/age"], method).out
        assert out.split() == ["./demo", *(f"./{name}" for name in with_tasks("demo/age"))]

    def test_results_for_an_old_method_in_ones_own_directory(
        self, method: Path, run_command: RunCommand
    ) -> None:
        own = method.parent / "lin-1"
        own.mkdir()
        assert run_command("mgendir", ["demo/age"], own).out.split() == ["demo", *with_tasks("demo/age")]
        assert run_command("mls", ["/lin-1"], own).out == "Summary demo\n"


class TestWhere:
    def test_it_works_from_every_level(self, method: Path, run_command: RunCommand) -> None:
        assert run_command("mgendir", ["mymethod/demo/age/std.32"], method.parent).out.split() == [
            "mymethod/demo",
            "mymethod/demo/age",
            "mymethod/demo/age/std.32",
        ]
        assert run_command("mgendir", ["age/std.64"], method / "demo").out == "age/std.64\n"
        assert run_command("mgendir", ["std.128"], method / "demo" / "age").out == "std.128\n"
        assert run_command("mgendir", [], method / "demo" / "age").out == "./std.256\n./std.512\n"
        assert run_command("mgendir", ["."], method / "demo" / "age" / "std.32").out == ""
        assert (
            run_command("mgendir", ["../sex/std.32"], method / "demo" / "age").out
            == "../sex\n../sex/std.32\n"
        )

    def test_a_dpath_belongs_to_the_method_one_is_in(self, method: Path, run_command: RunCommand) -> None:
        run_command("mgendir", ["-q", "demo/age"], method)
        assert run_command("mgendir", ["/demo/sex/std.32"], method / "demo").out == "sex\nsex/std.32\n"
        inside = method / "demo" / "age" / "std.32"
        assert run_command("mgendir", ["/demo/sex/std.64"], inside).out == "../../sex/std.64\n"
        assert made(method)[-1] == "demo/sex/std.64"

    def test_an_absolute_true_path_is_taken_as_it_is(
        self, method: Path, tmp_path: Path, run_command: RunCommand
    ) -> None:
        out = run_command("mgendir", [f"{method}/demo/age/std.32/"], tmp_path).out
        assert out.split() == [f"{method}/demo", f"{method}/demo/age", f"{method}/demo/age/std.32"]

    def test_a_method_gets_all_datasets(self, method: Path, run_command: RunCommand) -> None:
        write_tree(method.parents[1], {"data/mine/Dataset.spec": "", "data/mine/notes/": ""})
        out = run_command("mgendir", ["../new"], method).out
        assert out.split() == ["../new", *(f"../new/{name}" for name in [*whole_dataset("demo"), "mine"])]

    def test_a_method_of_the_builtin_root_is_fine(self, delve_home: Path, run_command: RunCommand) -> None:
        run_command("mmore", ["/lin-1/Summary"])
        inside = delve_home / "delve-2" / "methods" / "lin-1"
        assert run_command("mgendir", ["-l", "demo/age"], inside).out == "demo\ndemo/age\n"


class TestOptions:
    def test_local_makes_nothing_inside(self, method: Path, run_command: RunCommand) -> None:
        assert run_command("mgendir", ["-l", "demo/age"], method).out == "demo\ndemo/age\n"
        assert run_command("mgendir", ["-l", "demo"], method).out == ""
        assert run_command("mgendir", ["-l", "../new"], method).out == "../new\n"
        assert run_command("mgendir", ["-l"], method).out == ""
        assert made(method) == ["demo", "demo/age"]

    def test_quiet_prints_nothing(self, method: Path, run_command: RunCommand) -> None:
        assert run_command("mgendir", ["-q", "-l", "demo"], method) == Result("", "", 0)
        assert made(method) == ["demo"]

    def test_what_exists_is_no_complaint(self, method: Path, run_command: RunCommand) -> None:
        run_command("mgendir", ["demo"], method)
        assert run_command("mgendir", ["demo"], method) == Result("", "", 0)


class TestTasks:
    def test_sizes_need_not_be_standard(self, method: Path, run_command: RunCommand) -> None:
        assert run_command("mgendir", ["demo/age/std.7"], method).out.split()[-1] == "demo/age/std.7"

    def test_new_priors_come_from_ones_own_directory(self, method: Path, run_command: RunCommand) -> None:
        write_tree(method.parents[1], {"data/demo/age/easy.prior": "1 NLMH binary\n"})
        out = run_command("mgendir", ["demo/age"], method).out.split()
        assert out[2:6] == ["demo/age/easy.32", "demo/age/std.32", "demo/age/easy.64", "demo/age/std.64"]


class TestErrors:
    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("foo", 'dataset "/foo" not found: `dls /` lists those there are'),
            ("/foo", 'dataset "/foo" not found: `dls /` lists those there are'),
            ("demo/foo", 'prototask "/demo/foo" not found: `dls /demo` lists those there are'),
            ("demo/Source", "/demo/Source is not a DELVE prototask"),
            ("demo/age/std", "/demo/age/std does not specify a task training set size"),
            ("demo/age/std.0", "/demo/age/std.0 does not specify a task training set size"),
            ("demo/age/foo.32", 'prior file "/demo/age/foo.prior" not found'),
            ("demo/age/std.32/x", 'path contains too many directory names: "/mymethod/demo/age/std.32/x"'),
            ("/demo/age/std.32/x", 'path contains too many directory names: "/demo/age/std.32/x"'),
            ("..", '".." names no method: give a directory inside "methods"'),
            ("", 'bad path: it may neither be empty (write ".") nor hold a NUL'),
        ],
    )
    def test_what_has_no_counterpart_is_refused(
        self, path: str, message: str, method: Path, run_command: RunCommand
    ) -> None:
        assert run_command("mgendir", [path], method) == Result("", f"mgendir: {message}\n", 1)
        assert made(method) == []

    def test_levels_are_not_mixed(self, method: Path, run_command: RunCommand) -> None:
        run_command("mgendir", ["-q", "demo/age"], method)
        result = run_command("mgendir", ["demo"], method / "demo" / "age")
        assert result.err == "mgendir: /demo/age/demo does not specify a task training set size\n"

    def test_other_places_are_refused(self, method: Path, tmp_path: Path, run_command: RunCommand) -> None:
        for path, place in (("demo", f"{tmp_path}/demo"), ("/demo", str(tmp_path)), (".", str(tmp_path))):
            message = f'mgendir: "{place}" is not in a delve "methods" hierarchy\n'
            assert run_command("mgendir", [path], tmp_path) == Result("", message, 1)
        data = method.parents[1] / "data"
        assert run_command("mgendir", ["demo"], data).code == 1
        assert run_command("mgendir", [f"{data}/demo"], method).err == (
            f'mgendir: "{data}/demo" is not in a delve "methods" hierarchy\n'
        )

    def test_a_dpath_needs_a_method(self, method: Path, run_command: RunCommand) -> None:
        message = f'"{method.parent}" is no method\'s directory: make one with mkdir and change to it'
        assert run_command("mgendir", ["/demo"], method.parent) == Result("", f"mgendir: {message}\n", 1)

    def test_a_file_in_the_way_is_named(self, method: Path, run_command: RunCommand) -> None:
        (method / "demo").write_text("")
        result = run_command("mgendir", ["demo/age"], method)
        assert result.err == 'mgendir: can\'t create directory "demo": File exists\n'
        assert result.code == 1

    def test_somebody_quicker_is_no_complaint(
        self, method: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run_command("dls", ["/demo"])
        real = os.mkdir

        def late(path: str) -> None:
            real(path)
            real(path)

        monkeypatch.setattr(os, "mkdir", late)
        assert run_command("mgendir", ["-l", "demo"], method) == Result("", "", 0)
