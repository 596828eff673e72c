"""What may follow `redelve`: every command behaves alike, and other packages' commands are found."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

import redelve.cli
from redelve.cli.command_check import check_command
from redelve.cli.main import CHALLENGE, COMMANDS, DELVE_COMMANDS, STUDIES, VERBS, Subcommand, main
from redelve.cli.options import Command, VerbOptions
from redelve.registry import Registry
from redelve.store import Archive
from tests.test_registry import install

TALLY = """
from redelve.cli.main import Subcommand

def main(words):
    print(len(words))
    return 0

TALLY = Subcommand("count words", main)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for packages, and a registry that has not looked at them yet."""
    fresh: Registry[Subcommand] = Registry("command", "redelve.commands", of=COMMANDS.of)
    for name in COMMANDS:
        fresh.add(name, COMMANDS[name])
    for module in ("main", "command_check"):
        monkeypatch.setattr(f"redelve.cli.{module}.COMMANDS", fresh)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", list(COMMANDS))
def test_commands_behave_alike(name: str) -> None:
    report = check_command(name)
    assert report.passed, report


def test_a_command_of_another_package(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "tallies", "[redelve.commands]\ntally = tallies:TALLY\n", TALLY)
    assert main(["tally", "one", "two"]) == 0
    assert capsys.readouterr().out == "2\n"
    assert main(["-h"]) == 0
    assert "commands of other packages:\n  tally          count words\n" in capsys.readouterr().out
    assert main(["taly"]) == 2
    assert 'unknown command "taly": redelve -h lists them (did you mean "tally"?)' in capsys.readouterr().err


def test_a_command_that_cannot_be_loaded_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "voids", "[redelve.commands]\nvoid = voids:NOTHING\n")
    assert main(["-h"]) == 0
    assert 'void           command "void" cannot be loaded from voids:NOTHING' in capsys.readouterr().out
    assert main(["void"]) == 1
    assert capsys.readouterr().err.startswith('redelve: command "void" cannot be loaded from voids:NOTHING')
    assert main(["methods", "-h"]) == 0


def test_what_is_no_command_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "threes", "[redelve.commands]\nthree = threes:THREE\n", "THREE = 3\n")
    told = 'command "three" is 3, not a Subcommand (threes:THREE); mend or uninstall the package threes\n'
    assert main(["-h"]) == 0
    assert f"  three          {told}" in capsys.readouterr().out
    assert main(["three"]) == 1
    assert capsys.readouterr().err == f"redelve: {told}"


def test_a_name_that_is_taken_does_not_keep_redelve_from_working(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(site, "rivals", "[redelve.commands]\nassess = rivals:ASSESS\n")
    with shown_warnings():
        assert main(["-h"]) == 0
    told = 'command "assess" of rivals:ASSESS is left out: the name is taken; mend or uninstall the package'
    shown = capsys.readouterr()
    assert "  assess         run methods on data" in shown.out
    assert shown.err == f"redelve: warning: {told} rivals\n"
    assert main(["methods", "-h"]) == 0
    assert capsys.readouterr().err == ""


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Warnings are no errors, as for a user."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        yield


def warning_help(command: Command) -> str:
    """What looks wrong here, twice, and in another package's code."""
    for _ in range(2):
        warnings.warn_explicit("this looks odd", UserWarning, redelve.__file__, 1)
    warnings.warn_explicit("so do\ntwo lines", FutureWarning, "/theirs/code.py", 2)
    return "explained\n"


DISPATCHING = {"study": STUDIES, "challenge": CHALLENGE}
WORDS = [name for name in COMMANDS if name not in DISPATCHING]
WORDS += [f"{name} {choice}" for name, choices in DISPATCHING.items() for choice in choices]


@pytest.mark.parametrize("words", WORDS)
def test_every_command_shows_a_warning_once_and_in_one_line(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Command, "help", property(warning_help))
    shows = warnings.showwarning
    with shown_warnings():
        assert main([*words.split(), "-h"]) == 0
    name = words if words in DELVE_COMMANDS else f"redelve {words}"
    shown = capsys.readouterr()
    assert shown.err.splitlines() == [
        f"{name}: warning: this looks odd",
        f"{name}: warning: /theirs/code.py, line 2: FutureWarning: so do two lines",
    ]
    assert shown.out == "explained\n"
    assert warnings.showwarning is shows


def test_a_command_of_delve_that_is_started_alone_shows_a_warning_in_one_line(tmp_path: Path) -> None:
    install(tmp_path, "rivals", "[redelve.datasets]\ndemo = rivals:DEMO\n")
    words = [sys.executable, "-c", "from redelve.cli import dls; dls()", "/"]
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = os.environ | {"PYTHONPATH": path, "REDELVE_HOME": str(tmp_path / "home")}
    run = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    told = 'dataset "demo" of rivals:DEMO is left out: the name is taken; mend or uninstall the package'
    assert run.stderr == f"dls: warning: {told} rivals\n"


def loud(words: Sequence[str]) -> int:
    if words == ["-h"]:
        print("I am loud")
        return 0
    raise FileNotFoundError(words[0])


def test_a_command_that_does_not_behave_is_found_out() -> None:
    report = check_command("loud", Subcommand("be\nloud", loud))
    assert [(one.number, one.message) for one in report.findings] == [
        ("K001", "it is 'be\\nloud'"),
        ("K002", 'it begins with "I am loud\n"'),
        ("K003", "given --no-such-option it ends with 'FileNotFoundError: --no-such-option'"),
        ("K004", "given /no/such/place it ends with FileNotFoundError: /no/such/place"),
    ]


@pytest.mark.parametrize("name", list(VERBS))
def test_help_loads_nothing_that_only_work_needs(name: str) -> None:
    code = f"from redelve.cli.main import main; main([{name!r}, '-h'])"
    words = [sys.executable, "-X", "importtime", "-c", code]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    loaded = {line.rpartition("|")[2].strip() for line in shown.splitlines()}
    assert "redelve.cli" in loaded
    assert not loaded & {"numpy", "inspect", "concurrent.futures"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("assess data.csv --sise 64", 'unknown option "--sise" (did you mean "--sizes"?)'),
        ("assess data.csv --method lin-1", 'unknown option "--method" (did you mean "--methods"?)'),
        ("mgendata --quite", 'unknown option "--quite" (did you mean "--quiet"?)'),
        ("assess data.csv -z", 'unknown option "-z"\n'),
        ("assess data.csv --zzz", 'unknown option "--zzz"\n'),
        ("study hammy", 'unknown name "hammy": redelve study -h lists them (did you mean "hamey"?)'),
        ("challenge scor", 'unknown name "scor": redelve challenge -h lists them (did you mean "score"?)'),
        ("archive verfy", 'export, import (did you mean "verify"?)'),
        ("archive verify", "an argument is missing: the archive"),
        ("proben1 exprt", 'export, download (did you mean "export"?)'),
        (
            "assess data.csv -f basline",
            'unknown policy "basline": choose leave-out or baseline (did you mean',
        ),
    ],
)
def test_what_may_be_meant_is_told(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("assess d.csv --sizes 64,x", 'option "--sizes" needs whole numbers above 0, not "64,x"'),
        ("assess d.csv --sizes=64,x", 'option "--sizes" needs whole numbers above 0, not "64,x"'),
        ("assess d.csv -s 64,x", 'option "-s" needs whole numbers above 0, not "64,x"'),
        ("assess d.csv -s64,x", 'option "-s" needs whole numbers above 0, not "64,x"'),
        ("study proben1 --runs 0", "--runs takes a whole number from 1 on"),
        ("study hamey --trials x", "--trials must be a whole number"),
    ],
)
def test_a_wrong_value_is_told_with_the_option_as_it_was_written(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    assert told in capsys.readouterr().err


NAMES = 'needs names separated by commas, none empty, not "{}"'
EMPTY = [
    (["assess", "d.csv", "-m", ""], f'option "-m" {NAMES.format("")}'),
    (["assess", "d.csv", "--methods", ","], f'option "--methods" {NAMES.format(",")}'),
    (["assess", "d.csv", "-m", "ridge,,svm"], f'option "-m" {NAMES.format("ridge,,svm")}'),
    (["assess", "d.csv", "-m", " ", "-m", "svm"], f'option "-m" {NAMES.format(" ")}'),
    (["assess", "d.csv", "-s", "64,,128"], 'option "-s" needs whole numbers above 0, not "64,,128"'),
    (["assess", "d.csv", "-s", ""], 'option "-s" needs whole numbers above 0, not ""'),
    (["assess", "d.csv", "-c", "a:b,"], 'option "-c" needs pairs of names, as mine:theirs, not "a:b,"'),
    (["report", "folder", "-t", ","], 'option "-t" needs addresses separated by commas, none empty, not ","'),
    (["predict", "d.csv", "-m", ""], f'option "-m" {NAMES.format("")}'),
    (
        ["predict", "d.csv", "-w", "632,"],
        'option "-w" needs ways separated by commas, none empty, not "632,"',
    ),
    (["study", "wcci", "-d", ""], f'option "-d" {NAMES.format("")}'),
    (["mloss", "-l", ""], 'option "-l" needs codes of losses, as S or S,A, not ""'),
    (["mloss", "-i", ","], 'no instance is named in ","'),
    *(
        ([*words.split(), ""], f'option "{words.split()[-1]}" needs a text that is not empty, not ""')
        for words in (
            "assess d.csv -l",
            "assess d.csv --target",
            "assess d.csv -x",
            "compare d.csv -o",
            "training-time d.csv -o",
            "challenge pack c -m naive -o",
        )
    ),
]


@pytest.mark.parametrize(("words", "told"), EMPTY)
def test_an_empty_name_in_a_list_is_refused_and_not_passed_over(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert told in capsys.readouterr().err


def test_no_verb_has_a_letter_twice() -> None:
    """Options are told apart by their letters."""
    for module in pkgutil.iter_modules(redelve.cli.__path__, "redelve.cli."):
        import_module(module.name)
    ours = [one for one in VerbOptions.__subclasses__() if one.__module__.startswith("redelve.cli.")]
    assert len(ours) > 15
    for verb in ours:
        letters = [option.letter for option in verb.declared()]
        assert len(set(letters)) == len(letters), f"{verb.__name__}: {letters}"


TALKATIVE = (
    *("", "-h", "-v", "help", "help assess", "study", "study -h", "challenge", "challenge -h"),
    *(
        "methods",
        "root",
        "dls /",
        "dmore /demo/Dataset.spec",
        "dinfo /demo",
        "dcheck /demo",
        "mls /",
        "csv demo",
    ),
    *("minfo /lin-1", "proben1 names", "predict -W", "assess -h", "mloss -h", "check-method constant"),
)


@pytest.mark.parametrize("words", TALKATIVE)
def test_a_reader_that_goes_away_is_not_spoken_of(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `redelve methods | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        assert main(words.split()) == 141
    assert capsys.readouterr().err == ""


def run_without(streams: Sequence[int], words: Sequence[str], folder: Path) -> int:
    """The exit code of a program that is started with these standard streams closed, as by 2>&-."""
    closed = " ".join(f"{number}>&-" for number in streams)
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *words], cwd=folder, check=False
    ).returncode


BUT_ONE = [pytest.param((number,), marks=pytest.mark.slow) for number in (0, 1)]


@pytest.mark.parametrize("streams", [*BUT_ONE, (2,), (0, 1, 2)])
def test_standard_streams_may_be_closed(streams: tuple[int, ...], tmp_path: Path) -> None:
    table = "".join(f"{k % 7},{k % 5}\n" for k in range(40))
    (tmp_path / "d.csv").write_text(f"a,y\n{table}")
    command = (sys.executable, "-m", "redelve")
    assess = (*command, "assess", "d.csv", "-t", "y", "-m", "constant", "-o", "out")
    assert run_without(streams, assess, tmp_path) == 0
    assert Archive.open(tmp_path / "out").verify().ok
    assert {one.status for one in Archive.open(tmp_path / "out").load().records} == {"done"}
    assert run_without(streams, (*command, "dls", "/"), tmp_path) == 0
    assert run_without(streams, (*command, "assess", "no.csv", "-t", "y"), tmp_path) == 1
    assert run_without(streams, (*command, "nothing"), tmp_path) == 2


def test_a_program_without_standard_streams_can_assess(tmp_path: Path) -> None:
    code = (
        "import pandas; from redelve import assess\n"
        "frame = pandas.DataFrame({'a': range(40), 'y': [k % 5 + 0.5 for k in range(40)]})\n"
        "found = assess(['constant'], frame, 'y')\n"
        "raise SystemExit({one.status for one in found.results.records} != {'done'})\n"
    )
    assert run_without((0, 1, 2), (sys.executable, "-c", code), tmp_path) == 0
