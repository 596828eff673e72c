"""dls, mls, dmore and mmore; the examples are the manual's, with runs of blanks made one."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from redelve.cli import showing
from redelve.cli.options import Command, Given, Option, UsageError, parse, run
from redelve.cli.showing import in_columns
from redelve.errors import LocationError, SpecError
from tests.conftest import Result, RunCommand, make_root, write_tree

SPEC = "Origin: simulated\nUsage: ?\nOrder: ?\nAttributes:\n1 X u [0,1]\n"
REPLICA = " (redelve's replica of demo, not the original data)"


def collapsed(text: str) -> list[str]:
    """The lines, with single blanks: scanning has spoilt the manual's columns."""
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delve_home: Path) -> Path:
    """The manual's archive: besides demo two datasets, and two methods of which one has results."""
    files = {
        "data/kin-8nh/Dataset.spec": SPEC,
        "data/kin-8nm/Dataset.spec": SPEC,
        "methods/knn-cv-1/": "",
        "methods/lin-1/demo/age/": "",
        "methods/lin-1/demo/income/": "",
        "methods/lin-1/Source/lin-1.c": "/* lin-1.c: Robust linear method for regression.\n",
    }
    root = make_root(tmp_path / "usr" / "delve", files)
    monkeypatch.setenv("DELVE_PATH", os.pathsep.join([str(root), str(delve_home / "delve-2")]))
    return root


class TestManual:
    """Every example of the four commands in section 1.3 and appendix C."""

    def test_dls_lists_datasets(self, archive: Path, run_command: RunCommand) -> None:
        assert collapsed(run_command("dls", ["/"]).out) == ["demo kin-8nh kin-8nm"]

    def test_dls_lists_a_dataset(self, run_command: RunCommand) -> None:
        assert collapsed(run_command("dls", ["/demo"]).out) == [
            "Dataset.data Source age income siblings",
            "Dataset.spec Summary colour sex",
        ]

    def test_mls_lists_methods_and_where_they_are(
        self, archive: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DELVE_PATH", str(archive))
        assert collapsed(run_command("mls", ["-l", "/"]).out) == [f"{archive}/methods/:", "knn-cv-1 lin-1"]

    def test_dls_lists_a_prototask(self, run_command: RunCommand) -> None:
        expected = ["Prototask.data Prototask.spec std.prior"]
        assert collapsed(run_command("dls", ["/demo/age"]).out) == expected
        assert collapsed(run_command("dls", ["/lin-1/demo/age"]).out) == expected

    def test_dmore_shows_a_prior(self, run_command: RunCommand) -> None:
        assert run_command("dmore", ["/demo/age/std.prior"]).out == (
            "1 NLMH binary\n3 NLMH integer\n4 NLMH real\n5 NLMH nominal\n2 NLMH real\n"
        )

    def test_dmore_shows_a_summary(self, run_command: RunCommand) -> None:
        out = run_command("dmore", ["/demo/Summary"]).out
        for word in ("sex", "age", "siblings", "income", "favourite colour", "prototask"):
            assert word in out

    def test_mls_lists_the_prototasks_a_method_was_applied_to(
        self, archive: Path, run_command: RunCommand
    ) -> None:
        assert collapsed(run_command("mls", ["/lin-1/demo"]).out) == ["age income"]

    def test_mmore_shows_a_source(self, archive: Path, run_command: RunCommand) -> None:
        out = run_command("mmore", ["/lin-1/Source/lin-1.c"]).out
        assert out == "/* lin-1.c: Robust linear method for regression.\n"


class TestColumns:
    def test_columns_are_filled_from_the_top(self) -> None:
        names = [
            "Dataset.data",
            "Dataset.spec",
            "Source",
            "Summary",
            "age",
            "colour",
            "income",
            "sex",
            "siblings",
        ]
        assert in_columns(names) == (
            "Dataset.data Source       age          income       siblings\n"
            "Dataset.spec Summary      colour       sex"
        )

    def test_a_full_last_row_starts_another(self) -> None:
        names = [f"name{number:03}" for number in range(10)]
        assert in_columns(names) == (
            "name000 name002 name004 name006 name008\nname001 name003 name005 name007 name009"
        )

    def test_names_too_long_for_a_line_stand_alone(self) -> None:
        assert in_columns(["a" * 90, "b"]) == "a" * 90 + "\nb"
        assert in_columns(["a" * 39, "b" * 39, "c"]) == "a" * 39 + " " + "c\n" + "b" * 39
        assert in_columns([]) == ""


class TestListing:
    def test_exact_layout(self, run_command: RunCommand) -> None:
        assert run_command("dls", ["/"]) == Result("demo\n", "", 0)
        assert run_command("mls", ["/"]) == Result("lin-1\n", "", 0)
        assert run_command("dls", ["/demo"]) == Result(
            "Dataset.data Source       age          income       siblings\n"
            "Dataset.spec Summary      colour       sex\n",
            "",
            0,
        )

    def test_long_listings_are_grouped_by_directory(
        self, archive: Path, delve_home: Path, run_command: RunCommand
    ) -> None:
        home = delve_home / "delve-2"
        assert run_command("mls", ["/", "--long"]).out == (
            f"{archive}/methods/:\nknn-cv-1  lin-1\n\n{home}/methods/:\nlin-1\n"
        )
        assert run_command("dls", ["-l", "/demo/age"]).out == (
            f"{home}/data/demo/age:{REPLICA}\nPrototask.data  Prototask.spec  std.prior\n"
        )

    def test_an_empty_directory_lists_nothing(self, archive: Path, run_command: RunCommand) -> None:
        assert run_command("mls", ["/knn-cv-1"]) == Result("", "", 0)
        assert run_command("mls", ["-l", "/knn-cv-1"]).out == f"{archive}/methods/knn-cv-1:\n"

    def test_a_files_name_is_repeated(self, archive: Path, delve_home: Path, run_command: RunCommand) -> None:
        assert run_command("dls", ["/demo/Summary"]).out == "/demo/Summary\n"
        place = f"{delve_home}/delve-2/data/demo:{REPLICA}"
        assert run_command("dls", ["-l", "/demo/Summary"]).out == f"{place}\nSummary\n"
        assert run_command("mls", ["lin-1.c"], archive / "methods/lin-1/Source").out == "lin-1.c\n"

    def test_the_current_directory_is_the_default(self, archive: Path, run_command: RunCommand) -> None:
        inside = archive / "methods" / "lin-1" / "demo"
        assert run_command("mls", [], inside).out == "age    income\n"
        assert run_command("dls", ["age"], inside).out == "Prototask.data  Prototask.spec  std.prior\n"

    def test_a_containing_root_is_active_too(
        self, tmp_path: Path, delve_home: Path, run_command: RunCommand
    ) -> None:
        own = make_root(tmp_path / "delve-own", {"data/mine/Dataset.spec": SPEC})
        assert run_command("dls", ["/"]).out == "demo\n"
        assert run_command("dls", ["/"], own / "methods").out == "demo mine\n"

    def test_compressed_files_look_plain(self, archive: Path, run_command: RunCommand) -> None:
        (archive / "data/kin-8nm/Dataset.data.gz").write_bytes(gzip.compress(b"0.5\n"))
        assert collapsed(run_command("dls", ["/kin-8nm"]).out) == ["Dataset.data Dataset.spec"]
        assert run_command("dls", ["/kin-8nm/Dataset.data"]).out == "/kin-8nm/Dataset.data\n"
        assert run_command("dmore", ["/kin-8nm/Dataset.data"]).out == "0.5\n"

    @pytest.mark.parametrize("command", ["dls", "mls", "dmore", "mmore"])
    def test_what_is_not_there_is_an_error(self, command: str, run_command: RunCommand) -> None:
        assert run_command(command, ["/foo/bar"]) == Result(
            "", f'{command}: file "/foo/bar" not found in delve path\n', 1
        )

    def test_elsewhere_relative_paths_are_an_error(self, tmp_path: Path, run_command: RunCommand) -> None:
        for command, part in (("dls", "data"), ("mls", "methods")):
            message = f'{command}: "{tmp_path}" is not in a delve "{part}" hierarchy\n'
            assert run_command(command, [], tmp_path) == Result("", message, 1)

    def test_a_bad_delve_path_is_an_error(
        self, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DELVE_PATH", "/nowhere/delve")
        result = run_command("dls", ["/"])
        assert result.code == 1
        assert result.err.startswith('dls: "/nowhere/delve" in DELVE_PATH is not a delve directory: ')

    def test_a_long_listing_tells_replicas(self, delve_home: Path, run_command: RunCommand) -> None:
        shown = run_command("dls", ["-l", "/"]).out
        assert (
            f"{delve_home}/delve-2/data/: (redelve's own; bank, kin, pumadyn and demo are replicas" in shown
        )
        assert "not the original" not in run_command("mls", ["-l", "/"]).out

    def test_a_dataset_of_ones_own_hides_that_of_redelve(
        self, archive: Path, delve_home: Path, run_command: RunCommand
    ) -> None:
        write_tree(archive / "data", {"demo/Dataset.spec": SPEC})
        said = "a dataset of your own, in place of the demo that comes with redelve"
        listed = f"{archive}/data/demo: ({said})\nDataset.spec\n"
        assert run_command("dls", ["-l", "/demo"]) == Result(listed, "", 0)
        assert not (delve_home / "delve-2/data/demo").exists()

    def test_a_clash_is_an_error(self, archive: Path, delve_home: Path, run_command: RunCommand) -> None:
        write_tree(archive / "data", {"demo/age/Prototask.spec": ""})
        places = f'"{archive}/data/demo/age" and "{delve_home}/delve-2/data/demo/age"'
        message = (
            f'dls: prototask "/demo/age" is defined in {places}: rename yours, or put the whole dataset '
        )
        assert run_command("dls", ["/demo/age"]).err.startswith(message)
        assert run_command("dls", ["/"]).code == 0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class TestMore:
    def test_several_files_follow_one_another(self, run_command: RunCommand) -> None:
        one = run_command("dmore", ["/demo/age/std.prior"]).out
        other = run_command("dmore", ["/demo/sex/std.prior"]).out
        assert run_command("dmore", ["/demo/age/std.prior", "/demo/sex/std.prior"]).out == one + other

    def test_a_method_path_is_converted(self, archive: Path, run_command: RunCommand) -> None:
        inside = archive / "methods" / "lin-1" / "demo" / "age"
        expected = run_command("dmore", ["/demo/age/std.prior"])
        assert expected.code == 0
        assert run_command("dmore", ["/lin-1/demo/age/std.prior"]) == expected
        assert run_command("dmore", ["std.prior"], inside) == expected

    def test_a_directory_is_an_error(self, archive: Path, run_command: RunCommand) -> None:
        assert run_command("dmore", ["/demo"]).err == 'dmore: "/demo" is a directory, not a file\n'
        assert run_command("mmore", ["/lin-1"]).err == 'mmore: "/lin-1" is a directory, not a file\n'

    def test_several_copies_are_an_error(
        self, archive: Path, tmp_path: Path, run_command: RunCommand
    ) -> None:
        own = make_root(tmp_path / "delve", {"methods/lin-1/Source/lin-1.c": ""})
        places = f"{own}/methods/lin-1/Source/lin-1.c {archive}/methods/lin-1/Source/lin-1.c"
        result = run_command("mmore", ["/lin-1/Source/lin-1.c"], own)
        assert result == Result("", f"mmore: multiple copies of file found in delve path: {places}\n", 1)

    def test_an_address_cannot_leave_the_hierarchy(self, run_command: RunCommand) -> None:
        result = run_command("dmore", ["/demo/../../../../../etc/passwd"])
        assert (result.out, result.code) == ("", 1)

    def test_no_file_is_a_usage_error(self, run_command: RunCommand) -> None:
        assert run_command("dmore", []).code == run_command("mmore", []).code == 2

    def test_bytes_are_kept_as_they_are(self, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        data = b"caf\xe9 \xe2\x82\xac\r\nend"
        (archive / "data/kin-8nm/Notes").write_bytes(data)
        code = "import sys; from redelve.cli.showing import dmore; sys.exit(dmore(sys.argv[1:]))"
        done = subprocess.run(
            [sys.executable, "-c", code, "/kin-8nm/Notes"],
            capture_output=True,
            check=True,
            env={**os.environ, "DELVE_PATH": str(archive)},
        )
        assert done.stdout == data

    def test_a_terminal_gets_the_pager(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        seen = tmp_path / "seen"
        program = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
        monkeypatch.setenv("PAGER", f'{sys.executable} -c "{program}" {seen}')
        monkeypatch.setattr(sys, "stdout", Terminal())
        showing.page(["one\n", "two\n"])
        assert seen.read_text() == "one\ntwo\n"

    def test_the_pager_is_not_given_to_a_shell(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PAGER", f"true; touch {tmp_path}/harm")
        monkeypatch.setattr(sys, "stdout", Terminal())
        with pytest.raises(LocationError, match='can\'t run the pager "true;": No such file'):
            showing.page(["text"])
        assert not (tmp_path / "harm").exists()

    def test_a_pager_may_be_left_early(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PAGER", f"{sys.executable} -c pass")
        monkeypatch.setattr(sys, "stdout", Terminal())
        showing.page(["line\n"] * 100_000)

    def test_more_is_the_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PAGER", "")
        monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
        assert showing.pager_words() == ["more"]
        monkeypatch.setattr("shutil.which", lambda _: None)
        assert showing.pager_words() == []
        terminal = Terminal()
        monkeypatch.setattr(sys, "stdout", terminal)
        showing.page(["text"])
        assert terminal.getvalue() == "text"

    def test_a_pager_that_makes_no_sense_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PAGER", "less '")
        with pytest.raises(LocationError, match="can't understand PAGER=less '"):
            showing.pager_words()


EXAMPLE = Command(
    "mtry",
    "Try things.",
    "[ -q ] [ -c file ] [ path ]",
    (Option("q", "say nothing", long="quiet"), Option("c", "a file", "file", long="coding")),
)


class TestOptions:
    @pytest.mark.parametrize(
        ("argv", "given"),
        [
            ([], Given((), {})),
            (["x", "-q"], Given(("x",), {"q": ("",)})),
            (["-qq", "-"], Given(("-",), {"q": ("", "")})),
            (["-c", "a", "-cb", "--coding=", "--coding", "-q"], Given((), {"c": ("a", "b", "", "-q")})),
            (["-qcfile", "x"], Given(("x",), {"q": ("",), "c": ("file",)})),
            (["--quiet", "--", "-q"], Given(("-q",), {"q": ("",)})),
            (["-h", "a", "b"], Given(("a", "b"), {"h": ("",)})),
        ],
    )
    def test_words_are_options_or_arguments(self, argv: list[str], given: Given) -> None:
        assert parse(EXAMPLE, argv) == given

    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            (["-x"], 'unknown option "-x"'),
            (["-qx"], 'unknown option "-x"'),
            (["--long"], 'unknown option "--long"'),
            (["--quiet=yes"], 'option "--quiet" takes no argument'),
            (["-c"], 'option "-c" needs an argument: -c, --coding file'),
            (["a", "b"], 'too many arguments: "b"'),
        ],
    )
    def test_mistakes_are_named(self, argv: list[str], message: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse(EXAMPLE, argv)
        assert str(caught.value) == message

    def test_values_are_easy_to_get(self) -> None:
        given = parse(EXAMPLE, ["-c", "a", "-c", "b", "here"])
        assert given.value("c") == "b"
        assert given.value("q") is None
        assert given.path() == "here"
        assert not given.has("q")
        assert parse(EXAMPLE, []).path() == "."

    def test_help_tells_all_options(self, run_command: RunCommand) -> None:
        assert run_command("dls", ["-h"]) == run_command("dls", ["--help", "too", "many"])
        assert run_command("dls", ["-h"]).out == (
            "usage: dls [ -l ] [ dpath | mpath ]\n"
            "\n"
            "List what is in all data directories that a dpath names; a method's name in front is ignored.\n"
            "\n"
            "  -l, --long  group by directory, and print the true path of each\n"
            "  -h, --help  print this help\n"
            "  --          end of the options: all that follows are arguments\n"
        )

    @pytest.mark.parametrize("name", ["dls", "mls", "dmore", "mmore", "mgendir"])
    def test_every_command_has_help_and_refuses_unknown_options(
        self, name: str, run_command: RunCommand
    ) -> None:
        shown = run_command(name, ["-h"])
        assert shown.code == 0
        assert shown.out.startswith(f"usage: {name} ")
        refused = run_command(name, ["-z"])
        assert refused.code == 2
        assert refused.out == ""
        assert refused.err.startswith(f'{name}: unknown option "-z"\nusage: {name} ')

    def test_usage_errors_exit_with_two(self, run_command: RunCommand) -> None:
        assert run_command("dls", ["/", "/demo"]) == Result(
            "", 'dls: too many arguments: "/demo"\nusage: dls [ -l ] [ dpath | mpath ] (-h explains)\n', 2
        )

    def test_an_interrupt_exits_with_130(self) -> None:
        def interrupt(given: Given) -> Iterable[str]:
            raise KeyboardInterrupt

        assert run(EXAMPLE, interrupt, []) == 130

    def test_troubles_of_the_machine_are_told_in_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        def fail(given: Given) -> str:
            raise PermissionError(13, "Permission denied", "some\nfile")

        assert run(EXAMPLE, fail, []) == 1
        assert capsys.readouterr().err == (
            "mtry: some file: permission denied: ask whom it belongs to, or choose another place\n"
        )

    @pytest.mark.parametrize("name", ["dls", "dmore", "mls", "mmore"])
    def test_commands_that_show_something_are_started_as_redelve_starts_them(self, name: str) -> None:
        """Those that are installed go another way, on which nobody looks for garbage or tidies up."""
        code = f"import sys; from redelve.cli import {name}; sys.argv = ['{name}', '-h']; sys.exit({name}())"
        starts = ([sys.executable, "-c", code], [sys.executable, "-m", "redelve", name, "-h"])
        told = [subprocess.run(words, capture_output=True, text=True, check=True).stdout for words in starts]
        assert told[0] == told[1]
        assert told[0].startswith(f"usage: {name} ")

    def test_an_installed_command_ends_with_its_code_and_all_its_words(self) -> None:
        """It ends without taking Python apart, so nothing may be left in store."""
        code = "import sys; from redelve.cli import dls; sys.argv = ['dls', *sys.argv[1:]]; sys.exit(dls())"
        done = [
            subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
            for words in (["/demo"], ["/nowhere"], ["-x"])
        ]
        assert [one.returncode for one in done] == [0, 1, 2]
        assert "Dataset.data" in done[0].stdout
        assert done[1].stderr == 'dls: file "/nowhere" not found in delve path\n'
        assert done[2].stderr.endswith("(-h explains)\n")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
    @pytest.mark.parametrize("place", ["redelve.cli", "redelve.cli.showing"])
    def test_a_full_disk_is_an_error(self, place: str) -> None:
        code = f"import sys; from {place} import dls; sys.argv = ['dls', '/']; sys.exit(dls())"
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr == "dls: the disk is full: make room, and give the command again\n"

    def test_odd_names_are_printed_whatever_the_terminal_knows(self, archive: Path, tmp_path: Path) -> None:
        (archive / "data" / os.fsdecode(b"caf\xe9")).mkdir()
        (archive / "data" / "naïf").mkdir()
        code = "import sys; from redelve.cli.showing import dls; sys.exit(dls(['/']))"
        shown = {
            encoding: subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                check=True,
                env={**os.environ, "DELVE_PATH": str(archive), "PYTHONIOENCODING": encoding},
            ).stdout.split()
            for encoding in ("utf-8", "ascii")
        }
        assert shown["utf-8"] == [b"caf\xe9", b"kin-8nh", b"kin-8nm", "naïf".encode()]
        assert shown["ascii"] == [rb"caf\udce9", b"kin-8nh", b"kin-8nm", rb"na\xeff"]

    def test_a_complaint_is_one_line_that_a_terminal_can_show(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def complain(_: Given) -> str:
            raise SpecError(f"a\nb \x1b[31m\u202e \0 caf\udce9 {'x' * 200_000} é")

        assert run(EXAMPLE, complain, []) == 1
        told = capsys.readouterr().err
        assert told.startswith(r"mtry: a b \x1b[31m\u202e \x00 caf\udce9 xxx")
        assert told.endswith("xxx é\n")
        assert len(told) < 5000

    def test_a_word_with_a_nul_character_is_refused(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(EXAMPLE, lambda given: given.path(), ["a\0b"]) == 2
        assert capsys.readouterr().err.startswith(r"mtry: 'a\x00b' holds a NUL character")

    def test_our_own_bugs_are_not_hidden(self) -> None:
        with pytest.raises(ZeroDivisionError):
            run(EXAMPLE, lambda _: str(1 // 0), [])

    def test_the_command_line_is_read_when_nothing_is_given(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "argv", ["mtry", "here"])
        assert run(EXAMPLE, lambda given: given.path(), None) == 0
        assert capsys.readouterr().out == "here"

    def test_a_reader_that_goes_away_is_no_accident(self) -> None:
        code = (
            "import sys; from redelve.cli.options import Command, run; "
            "sys.exit(run(Command('mtry', '', ''), lambda given: ['line\\n'] * 1_000_000, []))"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stderr is not None
        with process, process.stdout as stdout:
            stdout.readline()
            stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 141

    def test_starting_imports_nothing_heavy(self) -> None:
        code = (
            "import sys; from redelve.cli.showing import dls; dls(['/']); "
            "heavy = {'numpy', 'pyarrow', 'pathlib', 'argparse', 'dataclasses', 'platformdirs'}; "
            "print(sorted(heavy & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert "demo" in done.stdout
        assert done.stdout.endswith("\n[]\n")
