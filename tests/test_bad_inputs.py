"""Bad input gives one line that names the culprit, and leaves every file as it was."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow
import pytest

from redelve.data.lzw import MAGIC
from tests.conftest import make_root
from tests.tiny_tree import build, run_main, snapshot

Damage = Callable[[Path], None]
DATA, SPEC = "data/tiny/Dataset.data", "data/tiny/Dataset.spec"
Y, C = "data/tiny/y/Prototask.spec", "data/tiny/c/Prototask.spec"
Y_PRIOR, C_PRIOR = "data/tiny/y/std.prior", "data/tiny/c/std.prior"
ORDER, CASES = "data/tiny/y/Random-order", "data/tiny/c/Some-cases"
APPLY = "redelve apply lin-1 -q"
Y_TASK, C_TASK, X_TASK = "methods/m/tiny/y/std.4", "methods/m/tiny/c/std.6", "methods/x/tiny/y/std.4"


# Ways to damage a delve directory


def put(name: str, text: str | bytes) -> Damage:
    """Another content, or a new file."""

    def damage(root: Path) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # a hard link: the good tree must not change
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    return damage


def change(name: str, old: str, new: str) -> Damage:
    """Other words in a file, once."""

    def damage(root: Path) -> None:
        text = (root / name).read_text()
        assert old in text, f'"{old}" is not in {name}'
        put(name, text.replace(old, new, 1))(root)

    return damage


def line(name: str, number: int, text: str | None) -> Damage:
    """Another line, or one line less."""

    def damage(root: Path) -> None:
        lines = (root / name).read_text().splitlines()
        lines[number - 1 : number] = [] if text is None else [text]
        put(name, "".join(f"{each}\n" for each in lines))(root)

    return damage


def add(name: str, text: str) -> Damage:
    """More at the end of a file."""
    return lambda root: put(name, (root / name).read_text() + text)(root)


def remove(*names: str) -> Damage:
    """No such files."""

    def damage(root: Path) -> None:
        for name in names:
            (root / name).unlink()

    return damage


def renamed(old: str, new: str) -> Damage:
    """Another name."""

    def damage(root: Path) -> None:
        (root / old).rename(root / new)

    return damage


def both(*damages: Damage) -> Damage:
    """One after the other."""

    def damage(root: Path) -> None:
        for each in damages:
            each(root)

    return damage


def copied(name: str) -> Damage:
    """The same file in a second delve directory."""

    def damage(root: Path) -> None:
        second = make_root(root.parent / "delve-2")
        (second / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, second / name)

    return damage


def compressed(name: str, suffix: str, compress: Callable[[bytes], bytes]) -> Damage:
    """The file only in compressed form, of which the second half is lost."""

    def damage(root: Path) -> None:
        whole = compress((root / name).read_bytes())
        (root / name).unlink()
        (root / (name + suffix)).write_bytes(whole[: len(whole) // 2])

    return damage


def zstd(data: bytes) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


def two_in_a_zip(root: Path) -> None:
    with zipfile.ZipFile(root / f"{DATA}.zip", "w") as archive:
        archive.write(root / DATA, "one")
        archive.write(root / DATA, "two")
    (root / DATA).unlink()


def directory(name: str) -> Damage:
    """A directory where a file should be."""

    def damage(root: Path) -> None:
        (root / name).unlink(missing_ok=True)
        (root / name).mkdir(parents=True)

    return damage


def ignored_target(root: Path) -> None:
    """Data files in which the target is not encoded at all."""
    put("methods/m/other", "AGE ignore\n")(root)
    call = ["-q", "-c", f"{root}/methods/m/other"]
    assert run_main("mgendata", call, root / Y_TASK, environment(root)).code == 0


def nothing(root: Path) -> None:
    """The directory is good: it is the call that is bad."""


# The table


@dataclass(frozen=True)
class Bad:
    """A call that must fail, where and after what damage, and what the complaint must hold."""

    name: str
    call: str
    culprits: tuple[str, ...]
    damage: Damage = nothing
    cwd: str = "."
    code: int = 1
    env: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        return [word.replace("EMPTY", "") for word in self.call.split()]


def bad(name: str, call: str, *culprits: str, damage: Damage = nothing, cwd: str = ".", **env: str) -> Bad:
    return Bad(name, call, culprits, damage, cwd, env=env)


def spec(name: str, old: str, new: str, *culprits: str) -> Bad:
    return bad(f"Dataset.spec: {name}", "dinfo /tiny", *culprits, damage=change(SPEC, old, new))


SPECIFICATION = [
    spec("no origin", "Origin: artificial\n", "", "Dataset.spec", '"origin" is not specified'),
    spec("unknown origin", "artificial", "dreamt", "line 2", '"dreamt"', "natural"),
    spec("unknown usage", "development", "play", "line 3", '"play"'),
    spec("unknown order", "uninformative", "alphabetical", "line 4", '"alphabetical"'),
    spec("a key twice", "Title", "Usage", "line 5", '"usage" is specified twice', "line 3"),
    spec("no colon", "Title: A few people", "A few people", "line 5", '"A few people"'),
    spec("no attributes", "Attributes:\n", "", "Dataset.spec"),
    spec("interval without end", "[0,150]", "[0,150", "line 8", "AGE", '"[0,150"'),
    spec("interval of words", "[0,150]", "[zero,150]", "line 8", '"zero"'),
    spec("integers to nowhere", "0..20", "0..many", "line 9", '"0..many"'),
    spec("no range", "red green blue", "", "line 11", "5 COLOUR u"),
    spec("wrong index", " 3 KIDS", " 7 KIDS", "line 9", "expected index 3", '"7"'),
    spec("name like a number", "KIDS", "1993", "line 9", '"1993"'),
    spec("name twice", "KIDS", "AGE", "line 9", '"AGE" is used twice'),
    spec("unknown control", "KIDS   u", "KIDS   z", "line 9", '"z"'),
    bad("Dataset.spec: binary", "dinfo /tiny", "line 1", "NUL", damage=put(SPEC, b"\x7fELF\0\1\2")),
    bad(
        "Dataset.spec: Latin-1",
        "dinfo /tiny",
        "line 2",
        "0xe9",
        damage=put(SPEC, "Origin: artificial\nTitle: café\n".encode("latin-1")),
    ),
    bad("Dataset.spec: empty", "dinfo /tiny", "Dataset.spec", damage=put(SPEC, "")),
    bad("Dataset.spec: a directory", "dinfo /tiny", "Dataset.spec", damage=directory(SPEC)),
]


def absent(kind: str, call: str, *culprits: str, damage: Damage, cwd: str = ".") -> Bad:
    return bad(f"missing {kind}", call, *culprits, damage=damage, cwd=cwd)


MISSING = [
    absent("Dataset.spec", "dinfo /tiny", '"/tiny" is not a dataset', damage=remove(SPEC)),
    absent("Prototask.spec", "dinfo /tiny/y", "/tiny/y is not a DELVE prototask", damage=remove(Y)),
    absent("prior", "dinfo /tiny/y/std.4", '"/tiny/y/std.prior"', damage=remove(Y_PRIOR)),
    absent(
        "data",
        "mgendata -q",
        '"/tiny/y/Prototask.data" not found',
        damage=remove(DATA, "data/tiny/y/Prototask.data"),
        cwd=Y_TASK,
    ),
    absent(
        "order file", "mgendata -q", 'order file "/tiny/y/Random-order"', damage=remove(ORDER), cwd=Y_TASK
    ),
    absent("case file", "mgendata -q", 'case file "/tiny/c/Some-cases"', damage=remove(CASES), cwd=C_TASK),
    absent("encodings", "mgendata -q -c nowhere", "nowhere", damage=nothing, cwd=Y_TASK),
    absent("instances", "mgendata -q -n nowhere", "nowhere", damage=nothing, cwd=Y_TASK),
    absent("Coding-used", "mloss -q", "Coding-used", damage=remove(f"{Y_TASK}/Coding-used"), cwd=Y_TASK),
    absent("normalize", "mloss -q", "AGE", "normalize", damage=remove(f"{Y_TASK}/normalize.0"), cwd=Y_TASK),
    absent("guess", "mloss -q", "cguess.S.2", damage=remove(f"{Y_TASK}/cguess.S.2"), cwd=Y_TASK),
    absent("loss file", "mstats -l S", "loss.S.1", damage=remove(f"{Y_TASK}/loss.S.1"), cwd=Y_TASK),
    absent("loss files", "mstats -l A", "loss.A", damage=nothing, cwd=Y_TASK),
    absent("loss matrix", "mloss -q -l Mprices", '"/tiny/c/prices"', damage=nothing, cwd=C_TASK),
    absent(
        "training data", "redelve apply lin-1 -q", "train.0", damage=nothing, cwd="methods/k/tiny/y/std.4"
    ),
    absent("file to show", "dmore /tiny/Summary", '"/tiny/Summary" not found', damage=nothing),
    absent("method file to show", "mmore /m/Summary", '"/m/Summary" not found', damage=nothing),
    absent("file to list", "dls /tiny/z", '"/tiny/z" not found', damage=nothing),
    absent("dataset", "dinfo /huge", '"/huge" not found', damage=nothing),
    absent("prototask", "dinfo /tiny/z", '"/tiny/z" not found', damage=nothing),
    absent("method", "mstats /zz/tiny/y/std.4", '"/zz/tiny/y/std.4" not found', damage=nothing),
]


def twice(name: str, call: str, *culprits: str, cwd: str = ".") -> Bad:
    return bad(f"two copies of {name}", call, "delve-2", *culprits, damage=copied(name), cwd=cwd)


COPIES = [
    twice(SPEC, "dinfo /tiny", '"/tiny" is defined in'),
    twice(Y, "dinfo /tiny/y", '"/tiny/y" is defined in'),
    twice(Y_PRIOR, "dinfo /tiny/y/std.4", "multiple copies of prior file"),
    twice(DATA, "mgendata -q", "multiple copies of data file", cwd=Y_TASK),
    twice(ORDER, "mgendata -q", "multiple copies of order file", cwd=Y_TASK),
    twice("data/tiny/c/costs", "mloss -q -l Mcosts", "multiple copies of loss matrix", cwd=C_TASK),
]


def cut(suffix: str, compress: Callable[[bytes], bytes]) -> Bad:
    damage = compressed(DATA, suffix, compress)
    return bad(f"truncated {suffix}", "mgendata -q", f"Dataset.data{suffix}", damage=damage, cwd=Y_TASK)


COMPRESSED = [
    cut(".gz", gzip.compress),
    cut(".xz", lzma.compress),
    cut(".bz2", bz2.compress),
    cut(".zst", zstd),
    cut(".Z", lambda _: MAGIC + b"\x90\xff\xff\xff" * 2),
    bad("two files in a zip", "mgendata -q", "one, two", "Dataset.data", damage=two_in_a_zip, cwd=Y_TASK),
    bad(
        "truncated specification",
        "dinfo /tiny",
        "Dataset.spec.gz",
        damage=compressed(SPEC, ".gz", gzip.compress),
    ),
    bad(
        "truncated guesses",
        "mloss -q",
        "cguess.S.1.gz",
        damage=compressed(f"{Y_TASK}/cguess.S.1", ".gz", gzip.compress),
        cwd=Y_TASK,
    ),
]


def data(name: str, damage: Damage, *culprits: str) -> Bad:
    return bad(f"Dataset.data: {name}", "mgendata -q", *culprits, damage=damage, cwd=Y_TASK)


VALUES = [
    data("too few values", line(DATA, 7, "male 3 4 5"), "line 7", "expected 5 values but got 4"),
    data("too many values", line(DATA, 40, "male 3 4 5 red 6"), "line 40", "expected 5 values but got 6"),
    data("word for a number", line(DATA, 3, "male old 3 8 red"), "AGE", '"old"'),
    data("fraction for an integer", line(DATA, 3, "male 30 1.5 8 red"), "KIDS", '"1.5"'),
    data("unknown category", line(DATA, 3, "male 30 1 8 pink"), "COLOUR", '"pink"'),
    data("missing target", line(DATA, 3, "male ? 1 8 red"), "target of case 3 is missing"),
    data("missing value that is not allowed", line(DATA, 3, "male 3 ? 8 red"), "KIDS", '"?"'),
    data("infinite number", line(DATA, 3, "male 3 1 Inf red"), "HOURS", '"Inf"'),
    data("enormous number", line(DATA, 3, "male 1e308 1 3 red"), "AGE", "1e+308", "too large"),
    data("bad commonality index", line(DATA, 3, "male 30 1 8 red @x"), "line 3", '"@x"'),
    data("binary", put(DATA, b"male 3\0 4 5 red\n"), "line 1", "NUL"),
    data("Latin-1", put(DATA, b"male 3 4 5 red\nmale 3 4 5 d\xe9j\xe0\n"), "line 2", "0xe9"),
    data("empty", put(DATA, ""), "0"),
    data("only one case", put(DATA, "male 3 4 5 red\n"), "1"),
]


def lists(name: str, damage: Damage, *culprits: str, cwd: str = Y_TASK) -> Bad:
    return bad(f"list: {name}", "mgendata -q", *culprits, damage=damage, cwd=cwd)


LISTS = [
    lists(
        "order repeats a case", lambda root: line(ORDER, 3, _line(root, ORDER, 2))(root), "line 3", "twice"
    ),
    lists("order has an unknown case", line(ORDER, 3, "41"), "Random-order", "41"),
    lists("order is too short", line(ORDER, 3, None), "Random-order", "39", "40", "dgenorder"),
    lists("order has a word", line(ORDER, 3, "first"), "line 3", '"first"'),
    lists("order has case 0", line(ORDER, 3, "0"), "line 3", '"0"'),
    lists("cases repeat", line(CASES, 3, "2"), "Some-cases, line 3", "twice", cwd=C_TASK),
    lists("unknown case", line(CASES, 38, "41"), "Some-cases", "41", cwd=C_TASK),
    lists("word for a case", line(CASES, 3, "all"), "line 3", '"all"', cwd=C_TASK),
    lists("negative case", line(CASES, 3, "-3"), "line 3", '"-3"', cwd=C_TASK),
    lists("no cases", put(CASES, ""), "0 cases", cwd=C_TASK),
]


def _line(root: Path, name: str, number: int) -> str:
    return (root / name).read_text().splitlines()[number - 1]


def guess(name: str, damage: Damage, *culprits: str, call: str = "mloss -q", cwd: str = Y_TASK) -> Bad:
    return bad(f"predictions: {name}", call, *culprits, damage=damage, cwd=cwd)


S0, G0, P0, L0 = f"{Y_TASK}/cguess.S.0", f"{C_TASK}/guess.0", f"{C_TASK}/prob.0", f"{Y_TASK}/clptarg.L.0"
PREDICTIONS = [
    guess("too few", line(S0, 4, None), "cguess.S.0", "4 test cases", "3"),
    guess("too many", add(S0, " 0.5\n"), "cguess.S.0", "4 test cases", "5"),
    guess("none", put(S0, ""), "cguess.S.0", "0"),
    guess("too wide", line(S0, 2, " 0.5 0.5"), "cguess.S.0, line 2", "got 2"),
    guess("NaN", line(S0, 2, " nan"), "cguess.S.0", "case 2", '"nan"'),
    guess("infinite", line(S0, 2, " inf"), "cguess.S.0", "case 2", '"inf"'),
    guess("far too large", line(S0, 2, " 1e999"), "cguess.S.0", "case 2", '"1e999"'),
    guess("a word", line(S0, 2, " old"), "cguess.S.0", "case 2", '"old"'),
    guess("binary", put(S0, b"\0\1\2\3"), "cguess.S.0", "NUL"),
    guess("unknown category", line(G0, 5, "pink"), "guess.0", "case 5", '"pink"', cwd=C_TASK),
    guess("no guess", line(G0, 5, "?"), "guess.0", "case 5", "?", "Z0.2N", cwd=C_TASK),
    guess("negative probability", line(P0, 3, "1 -1 1"), "prob.0", "case 3", "-1", "green", cwd=C_TASK),
    guess("probabilities all zero", line(P0, 3, "0 0 0"), "prob.0", "case 3", "zero", cwd=C_TASK),
    guess("probability NaN", line(P0, 3, "1 nan 1"), "prob.0, line 3", '"nan"', cwd=C_TASK),
    guess("probability infinite", line(P0, 3, "1 Inf 1"), "prob.0", "case 3", "inf", cwd=C_TASK),
    guess("too few probabilities", line(P0, 3, "0.5 0.5"), "prob.0, line 3", "got 2", cwd=C_TASK),
    guess(
        "negative target probability",
        both(
            *(remove(f"{Y_TASK}/clptarg.L.{n}", f"{Y_TASK}/lptarg.L.{n}") for n in range(4)),
            *(put(f"{Y_TASK}/ptarg.{n}", "0.1\n0.2\n-0.3\n0.4\n") for n in range(4)),
        ),
        "ptarg.0",
        "case 3",
        "-0.3",
    ),
    guess("log density Inf", line(L0, 3, "Inf"), "clptarg.L.0", "case 3", "inf"),
    guess("log density a word", line(L0, 3, "low"), "clptarg.L.0, line 3", '"low"'),
    guess("damaged targets", line(f"{Y_TASK}/targets.0", 2, " x"), "targets.0", '"x"'),
    guess("no such instance", nothing, "instance 7", call="mloss -q -i 7"),
    guess(
        "of nothing", remove(*(f"{C_TASK}/{n}.{i}" for n in ("guess", "prob") for i in range(3))), cwd=C_TASK
    ),
]


def loss(code: str, *culprits: str, call: str = "mloss -q -l", cwd: str = C_TASK) -> Bad:
    return bad(f"loss {code}: {call}", f"{call} {code}", *culprits, cwd=cwd)


def matrix(name: str, text: str | bytes, *culprits: str) -> Bad:
    damage = put("data/tiny/c/costs", text)
    return bad(f"loss matrix: {name}", "mloss -q -l Mcosts", *culprits, damage=damage, cwd=C_TASK)


LOSSES = [
    loss("Z-1N", '"Z-1N"', '"-1"'),
    loss("X", '"X"', "A, S, L, Q, Z"),
    loss("Zebra", '"Zebra"'),
    loss("L0.5N", '"L0.5N"'),
    loss("M../x", '"M../x"'),
    loss("M", '"M"'),
    loss("S", "COLOUR", "categorical"),
    loss("Z", "AGE", "real", cwd=Y_TASK),
    loss("Mcosts", '"/tiny/y/costs"', cwd=Y_TASK),
    loss("X", '"X"', call="mstats -l"),
    matrix("negative", "0 1 2\n1 0 -1\n4 4 0\n", "row 2, column 3", "-1"),
    matrix("diagonal", "0 1 2\n1 7 1\n4 4 0\n", "row 2, column 2", "7"),
    matrix("too few rows", "0 1 2\n1 0 1\n", "expected 3 rows", "2"),
    matrix("too many rows", "0 1 2\n1 0 1\n4 4 0\n1 1 1\n1 1 1\n", "expected 3 rows", "5"),
    matrix("too few columns", "0 1 2\n1 0\n4 4 0\n", "row 2", "got 2"),
    matrix("words", "0 1 2\n1 0 much\n4 4 0\n", "row 2, column 3", '"much"'),
    matrix("binary", b"0 1\0 2\n", "costs", "NUL"),
    matrix("empty", "", "expected 3 rows", "0"),
]


def coding(name: str, text: str, *culprits: str) -> Bad:
    damage = put("methods/m/other", text)
    call = "mgendata -q -c ../../../other"
    return bad(f"encoding: {name}", call, *culprits, damage=damage, cwd=Y_TASK)


CODINGS = [
    coding("unknown attribute", "WEIGHT nm-abs\n", "other, line 1", '"WEIGHT"'),
    coding("unknown method", "\nCOLOUR rainbow\n", "COLOUR", '"rainbow"', "1-of-n"),
    coding("method of another type", "COLOUR nm-abs\n", "COLOUR", '"nm-abs"', '"nominal"'),
    coding("no method", "COLOUR\n", "line 1", '"COLOUR"'),
    coding("no option", "COLOUR 1-of-n passive\n", "line 1", '"passive"'),
    coding("unknown option", "COLOUR 1-of-n colour=red\n", "line 1", '"colour"'),
    coding("passive not in range", "COLOUR 1-of-n passive=pink\n", "COLOUR", '"pink"'),
    coding("0/1 without passive", "SEX 0/1\n", "SEX", "passive"),
    coding("scale", "COLOUR therm scale=log\n", "COLOUR", '"log"'),
    coding("centre", "AGE nm-abs centre=middle\n", "line 1", '"middle"'),
    coding("missing", "HOURS nm-abs missing=forget\n", "HOURS", '"forget"'),
    coding("attribute twice", "AGE copy\n2 copy\n", "line 2", '"2"'),
    bad(
        "encoding: too many columns",
        "mgendata -q",
        "KIDS",
        "20001 columns",
        "0-up",
        damage=both(change(SPEC, "0..20", "0..20000"), change(Y_PRIOR, "3 NLMH integer", "3 NLMH nominal")),
        cwd=Y_TASK,
    ),
    coding("order", "COLOUR 0-up order=red,blue,green\n", "line 1", "prior"),
    bad(
        "encoding: unused attribute",
        "mgendata -q -c ../../../other",
        '"KIDS"',
        damage=put("methods/m/other", "KIDS copy\n"),
        cwd=C_TASK,
    ),
    bad(
        "encoding: damaged Coding-used",
        "mloss -q",
        "Coding-used, line 2",
        '"rot13"',
        damage=put(f"{C_TASK}/Coding-used", "AGE copy\nCOLOUR 1-of-n rot13\n"),
        cwd=C_TASK,
    ),
    bad("encoding: ignored target", "mloss -q", "AGE", damage=ignored_target, cwd=Y_TASK),
]


def prior(name: str, old: str, new: str, *culprits: str) -> Bad:
    return bad(f"prior: {name}", "dinfo /tiny/y/std.4", *culprits, damage=change(Y_PRIOR, old, new))


PRIORS = [
    prior("level", "4 LM", "4 LX", "std.prior, line 3", '"LX"'),
    prior("level twice", "4 LM", "4 LL", "std.prior, line 3", '"LL"'),
    prior("type", "4 LM real", "4 LM complex", "std.prior, line 3", '"complex"'),
    prior("missing line", "4 LM real\n", "", "std.prior", "attribute 4 (HOURS)"),
    prior("half a line", "4 LM real", "4 LM", "line 3", '"4 LM"'),
    prior("unit missing", "4 LM real", "4 LM angular", "line 3", "unit"),
    prior("unit zero", "4 LM real", "4 LM angular unit=0", "line 3", "unit"),
    prior("order", "nominal", "nominal order=red,green", "line 4", "red,green", "blue"),
    prior("binary of three", "COLOUR NLMH nominal", "COLOUR NLMH binary", "line 4", "3"),
    prior("nominal without end", "4 LM real", "4 LM nominal", "line 3", '"[0,24)"'),
    prior("passive", "nominal", "nominal passive=pink", "line 4", '"pink"'),
    prior("passive number", "4 LM real", "4 LM real passive=3", "line 3", "passive"),
    prior("attribute twice", "3 NLMH", "SEX NLMH", "line 2", '"SEX"'),
    prior("unknown attribute", "4 LM", "9 LM", "line 3", '"9"'),
    prior("option", "4 LM real", "4 LM real shape=round", "line 3", '"shape"'),
    prior("option twice", "4 LM real", "4 LM real center=1 centre=2", "line 3", '"center"'),
    prior("binary file", "4", "\0", "line 3", "NUL"),
]


def prototask(name: str, old: str, new: str, *culprits: str) -> Bad:
    return bad(f"prototask: {name}", "dinfo /tiny/y", *culprits, damage=change(Y, old, new))


def design(name: str, damage: Damage, *culprits: str, cwd: str = Y_TASK) -> Bad:
    return bad(f"design: {name}", "mgendata -q", *culprits, damage=damage, cwd=cwd)


COMMON = change(SPEC, "Attributes:", "Commonality indexes are present\nAttributes:")
SEQUENTIAL = both(
    change(SPEC, "uninformative", "informative"),
    change(Y, "Random-order", "retain"),
    add(Y, "Maximum-Dependency-Range: 2\n"),
)
PROTOTASKS = [
    prototask("input also target", "Targets: AGE", "Targets: AGE 3", "line 5", "KIDS", "both"),
    prototask("input twice", "SEX 3 4", "SEX 3 KIDS", "line 2", '"KIDS"'),
    prototask("unknown input", "SEX", "WEIGHT", "line 2", '"WEIGHT"'),
    prototask("attribute 0 without order", "SEX", "0", "line 2", "attribute 0"),
    prototask("no targets", "Targets: AGE\n", "", '"targets" is not specified'),
    prototask("test set of none", "Size: 16", "Size: 0", "line 6", '"0"'),
    prototask("negative test set", "Size: 16", "Size: -16", "line 6", '"-16"'),
    prototask("training set of none", "4 6", "4 0", "line 7", '"0"'),
    prototask("word for a size", "4 6", "4 many", "line 7", '"many"'),
    prototask("no instances", "Instances: 4", "Instances: 0", "line 9", '"0"'),
    prototask("unknown selection", "hierarchical", "nested", "line 8", '"nested"', "common"),
    prototask("key twice", "Origin: artificial", "Cases: all", "line 4", '"cases" is specified twice'),
    prototask("cases elsewhere", "Cases: all", "Cases: ../all", "line 1", '"../all"'),
    prototask("order of two words", "Random-order", "Random order", "line 3", '"Random order"'),
    prototask(
        "stratified real", "Targets: AGE\n", "Targets: AGE\nTraining-Set-Selection: stratified\n", "AGE"
    ),
    prototask("sequential in random order", "hier", "hier\nMaximum-Dependency-Range: 2\nX: hier", "line"),
    bad(
        "prototask: sequential with commonality",
        "dinfo /tiny/y",
        "commonality",
        damage=both(SEQUENTIAL, COMMON),
    ),
    bad(
        "prototask: sequential reordered", "dgenorder -q", "sequential", damage=SEQUENTIAL, cwd="data/tiny/y"
    ),
    design("test set too large", change(Y, "Size: 16", "Size: 40"), "40"),
    design("training set too large", nothing, "400", cwd="methods/k/tiny/y/std.400"),
    design("no room for test sets", change(Y, "Size: 16", "Size: 3"), "3", "4"),
    design(
        "stratified with a bad multiple",
        add(C, "Training-Set-Selection: stratified\n"),
        "4",
        "3",
        cwd="methods/k/tiny/c/std.4",
    ),
    design(
        "groups torn apart",
        both(COMMON, line(DATA, 1, "male 3 1 1 red @1"), line(DATA, 9, "male 3 1 1 red @1")),
        "commonality index 1",
    ),
]

ADDRESSES = [
    bad("task without size", "dinfo /tiny/y/std", "/tiny/y/std"),
    bad("task of an enormous size", f"dinfo /tiny/y/std.{'9' * 5000}", "training set size"),
    bad("directory for a task without size", "mgendir tiny/y/std", "/tiny/y/std", cwd="methods/m"),
    bad(
        "directory for a broken prototask",
        "mgendir tiny",
        '"many"',
        damage=change(Y, "4 6", "many"),
        cwd="methods/k",
    ),
    bad("directory for no dataset", "mgendir huge", '"/huge"', cwd="methods/m"),
    bad("directory outside", "mgendir tiny", "methods", cwd="data"),
    bad("work outside methods", "mgendata -q", "methods", cwd="data/tiny/y"),
    bad("work outside delve", "mloss -q", "methods", cwd=".."),
    bad("work nowhere", "mgendata -q nowhere", "nowhere", cwd="methods/m/tiny/y"),
    bad("data outside delve", "dinfo", "data", cwd=".."),
    bad("order outside data", "dgenorder -q", "prototask", cwd="methods"),
    bad("order of no cases", "dgenorder -q", "/tiny/y", "no cases", damage=put(DATA, ""), cwd="data/tiny/y"),
    bad("order for a dataset", "dgenorder -q", "prototask", cwd="data/tiny"),
    bad("prototask data outside", "dgenproto -q", "data", cwd="methods/m"),
    bad("losses before data", "mloss -q", "/k/tiny/y/std.4", cwd="methods/k/tiny/y/std.4"),
    bad("summary before losses", "mstats", "/k/tiny/y/std.4", cwd="methods/k/tiny/y/std.4"),
    bad("too many names in a dpath", "dinfo /a/b/c/d", '"/a/b/c/d"', "too many"),
    bad("too many names in an mpath", "minfo /m/a/b/c/d", '"/m/a/b/c/d"', "too many"),
    bad("parent in an address", "dinfo /tiny/../tiny", '"/tiny/../tiny"', '".."'),
    bad("parent in a method's address", "mmore /m/../../x", '".."'),
    bad("empty name", "dls /tiny//y", '"/tiny//y"'),
    bad("empty path", "dls EMPTY", "empty"),
    bad("unknown key", "dinfo -k colour /tiny", '"colour"'),
    bad("not a delve directory", "dls /", '"/tmp"', "DELVE_PATH", DELVE_PATH="/tmp"),
    bad("relative DELVE_PATH", "dls /", '"delve-9"', "DELVE_PATH", DELVE_PATH="delve-9"),
    bad("checking the root", "dcheck /", '"/"'),
    bad("checking a task", "dcheck /tiny/y/std.4", '"/tiny/y/std.4"'),
    bad("checking nothing", "dcheck /huge", '"/huge" not found'),
    bad("checking no prototask", "dcheck /tiny/z", '"/tiny/z" not found'),
    bad("checking outside", "dcheck", "data", cwd=".."),
]


def instances(name: str, text: str, *culprits: str) -> Bad:
    damage = put("methods/x/others", text)
    call = "mgendata -q -n ../../../others"
    return bad(f"instances: {name}", call, *culprits, damage=damage, cwd=X_TASK)


INSTANCES = [
    instances("word", "train 0: 1 two\ntest 0: 3\n", "others, line 1", '"two"'),
    instances("backward span", "train 0: 9..1\ntest 0: 3\n", "line 1", '"9..1"'),
    instances("far too long", "train 0: 1..99999999\ntest 0: 3\n", "line 1", '"1..99999999"'),
    instances("number too long", f"train 0: {'9' * 5000}\ntest 0: 3\n", "line 1"),
    instances("twice", "train 0: 1\ntest 0: 3\ntrain 0: 2\n", "line 3", '"train 0"'),
    instances("no test cases", "train 0: 1\n", '"test 0"'),
    instances("gap", "train 1: 1\ntest 1: 2\n", '"train 0"'),
    instances("none", "# none\n", "no instances"),
    instances("unknown case", "train 0: 1 2\ntest 0: 41\n", "41"),
    instances("case in both", "train 0: 1 2\ntest 0: 2\n", "case 2", "both"),
    instances("case twice", "train 0: 1 1\ntest 0: 2\n", "case 1", "twice"),
    instances("empty list", "train 0:\ntest 0: 2\n", "instance 0", "empty"),
    bad(
        "instances: damaged record",
        "mstats -l S",
        "Instances-used, line 1",
        damage=put(f"{X_TASK}/Instances-used", "nonsense\n"),
        cwd=X_TASK,
    ),
]


def summary(name: str, damage: Damage, *culprits: str, call: str = "mstats -l S", cwd: str = Y_TASK) -> Bad:
    return bad(f"summary: {name}", call, *culprits, damage=damage, cwd=cwd)


LS0 = f"{Y_TASK}/loss.S.0"
SUMMARIES = [
    summary("loss files of unequal length", line(LS0, 1, None), "loss.S", "3", "4"),
    summary("word for a loss", line(LS0, 2, "much"), "loss.S.0, line 2", '"much"'),
    summary("NaN for a loss", line(LS0, 2, "nan"), "loss.S.0, line 2", '"nan"'),
    summary("loss below zero", line(LS0, 2, "-3"), "loss.S.0, line 2", "-3", "never below 0", "mloss"),
    summary("number with zeros in front", renamed(LS0, f"{Y_TASK}/loss.S.00"), '"loss.S.0" is missing'),
    summary("empty loss file", put(LS0, ""), "loss.S", "0 4 4 4"),
    summary("two losses on a line", line(LS0, 2, "1.0 2.0"), "loss.S.0, line 2", '"1.0 2.0"'),
    summary("binary loss file", put(LS0, b"1.0\n\0\n"), "loss.S.0", "NUL"),
    summary("one training set", remove(*(f"{Y_TASK}/loss.S.{n}" for n in (1, 2, 3))), "1"),
    summary("other instances", nothing, "m", "x", "instances", call="mstats -l S -c x"),
    summary("missing method", nothing, "/zzz/tiny/y/std.4", call="mstats -l S -c zzz"),
    summary("fewer instances", remove("methods/n/tiny/y/std.4/loss.S.3"), "4", "3", call="mstats -l S -c n"),
    summary("bad baselines", line(f"{Y_TASK}/Test-set-stats", 3, "A many"), "line 3", '"many"'),
    summary("no baseline", line(f"{Y_TASK}/Test-set-stats", 5, None), "Test-set-stats", '"S"'),
    summary("unknown method", nothing, "nobody", call="mstats /nobody"),
    summary("no method", nothing, "method", call="mstats /"),
    summary("no such base", nothing, '"bar.S.*"', call="mstats -l S -i bar"),
]


def work(name: str, call: str, damage: Damage, *culprits: str) -> Bad:
    return bad(name, call, *culprits, damage=damage, cwd=Y_TASK)


N0 = f"{Y_TASK}/normalize.0"
MORE = [
    work("result is a directory", "mgendata -q", directory(f"{Y_TASK}/test.1"), "test.1"),
    work("loss is a directory", "mloss -q", directory(f"{Y_TASK}/loss.S.2"), "loss.S.2"),
    work("bad normalize", "mloss -q", put(N0, "mean 3\n"), "normalize.0, line 1"),
    work("half a normalize", "mloss -q", line(N0, 12, None), "normalize.0", "absDev"),
    work("bad training data", APPLY, line(f"{Y_TASK}/train.0", 2, " a b"), "train.0, line 2"),
    work("bad test data", APPLY, change(f"{Y_TASK}/test.0", " 0 ", " x "), "test.0", '"x"'),
    work("negative spread", "mloss -q", line(N0, 10, "normalization options stdDev 2 -3"), "AGE", "-3"),
    work("no case in targets", APPLY, put(f"{Y_TASK}/targets.0", ""), "targets.0", "mgendata"),
    work("no case in train", APPLY, put(f"{Y_TASK}/train.0", ""), "train.0", "mgendata"),
    work("train narrower than test", APPLY, put(f"{Y_TASK}/train.0", "1 2\n3 4\n"), "train.0", "columns"),
    work("enormous numbers", APPLY, change(f"{Y_TASK}/test.0", " 0 ", " 1e308 "), "test.0", "too large"),
    bad("order is a directory", "dgenorder -q", "Random-order", damage=directory(ORDER), cwd="data/tiny/y"),
]
USAGE = [
    Bad("unknown option", "dinfo -z /tiny", ('"-z"',), code=2),
    Bad("unknown long option", "mgendata --quick", ('"--quick"',), cwd=Y_TASK, code=2),
    Bad("missing argument", "dmore", ("missing",), code=2),
    Bad("missing option argument", "mloss -l", ('"-l"', "needs"), cwd=Y_TASK, code=2),
    Bad("argument for a switch", "mgendir --quiet=yes", ('"--quiet"',), cwd="methods/m", code=2),
    Bad("too many arguments", "dinfo /tiny /tiny", ('"/tiny"', "too many"), code=2),
    Bad("JSON and CSV", "mstats --json --csv", ("--json", "--csv"), cwd=Y_TASK, code=2),
    Bad("all facts and some, dinfo", "dinfo -a -k Origin /tiny", ("--all", "--keys"), code=2),
    Bad("all facts and some, minfo", "minfo -a -k Origin /m", ("--all", "--keys"), code=2),
    Bad("bad seed", "dgenorder -q -s dice", ('"dice"',), cwd="data/tiny/y", code=2),
    Bad("bad instance", "mloss -q -i first", ('"first"',), cwd=Y_TASK, code=2),
    Bad("enormous instance", f"mloss -q -i {'9' * 5000}", ("instance",), cwd=Y_TASK, code=2),
    Bad("unknown command", "redelve learn", ('"learn"',), code=2),
    Bad("unknown method", "redelve apply magic", ('"magic"',), cwd=Y_TASK, code=2),
    Bad("no method", "redelve apply", ("missing",), cwd=Y_TASK, code=2),
]
TABLE = [
    *SPECIFICATION, *MISSING, *COPIES, *COMPRESSED, *VALUES, *LISTS, *PREDICTIONS, *LOSSES, *CODINGS, *PRIORS,
    *PROTOTASKS, *ADDRESSES, *INSTANCES, *SUMMARIES, *MORE, *USAGE,
]  # fmt: skip


@pytest.fixture(scope="module")
def good_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = build(tmp_path_factory.mktemp("good"))
    for place in ("y/std.4", "y/std.400", "c/std.4"):
        (root / "methods/k/tiny" / place).mkdir(parents=True)
    return root


@pytest.fixture
def root(good_tree: Path, tmp_path: Path) -> Path:
    """The good tree, as hard links: commands replace files, they never write into them."""
    return Path(shutil.copytree(good_tree, tmp_path / "delve", copy_function=os.link))


def environment(root: Path) -> dict[str, str]:
    roots = sorted(str(path) for path in root.parent.glob("delve*"))
    return {"DELVE_PATH": os.pathsep.join(roots)}


def check_complaint(case: Bad, code: int, out: str, err: str) -> None:
    """The exit code, and one line that begins with the command's name and names the culprit."""
    words = case.words
    name = "redelve apply" if words[:2] == ["redelve", "apply"] else words[0]
    assert code == case.code, err
    assert out == ""
    lines = err.splitlines()
    usage = f"usage: {name} " if case.code == 2 and words != ["redelve", "learn"] else ""
    assert len(lines) == (2 if usage else 1), err
    assert lines[0].startswith(f"{name}: ")
    assert lines[-1].startswith(usage)
    for culprit in case.culprits:
        assert culprit in lines[0]
    assert "Traceback" not in err


def test_the_tree_is_good(root: Path) -> None:
    assert run_main("dcheck", ["/tiny"], root).out == "/tiny: no problems found\n"


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({case.name for case in TABLE}) == len(TABLE)


@pytest.mark.parametrize("case", TABLE, ids=lambda case: case.name)
def test_a_complaint_names_the_culprit_and_no_file_changes(case: Bad, root: Path) -> None:
    case.damage(root)
    before = snapshot(root.parent)
    words = case.words
    result = run_main(words[0], words[1:], root / case.cwd, environment(root) | case.env)
    check_complaint(case, result.code, result.out, result.err)
    assert snapshot(root.parent) == before


@pytest.mark.parametrize(
    "name",
    [
        "Dataset.spec: binary",
        "missing order file",
        "truncated .gz",
        "predictions: NaN",
        "not a delve directory",
        "JSON and CSV",
        "unknown command",
    ],
)
def test_installed_programs_complain_alike(name: str, root: Path) -> None:
    (case,) = (case for case in TABLE if case.name == name)
    case.damage(root)
    before = snapshot(root.parent)
    words = case.words
    program = Path(sys.executable).parent / words[0]
    environ = os.environ | environment(root) | case.env
    done = subprocess.run(
        [program, *words[1:]], cwd=root / case.cwd, env=environ, capture_output=True, text=True, check=False
    )
    check_complaint(case, done.returncode, done.stdout, done.stderr)
    assert snapshot(root.parent) == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize(
    ("call", "cwd", "culprit"),
    [
        ("mgendata -q", Y_TASK, Y_TASK),
        ("mloss -q", Y_TASK, Y_TASK),
        ("redelve apply lin-1 -q", Y_TASK, Y_TASK),
        ("mgendir -q tiny/y/std.8", "methods/m/tiny/y", "std.8"),
        ("dgenorder -q", "data/tiny/y", "Random-order"),
        ("dgenproto -q", "data/tiny/y", "Prototask.data"),
    ],
)
def test_a_directory_that_may_not_be_written_to(call: str, cwd: str, culprit: str, root: Path) -> None:
    before = snapshot(root.parent)
    (root / cwd).chmod(0o555)
    try:
        case = bad("unwritable", call, culprit, cwd=cwd)
        result = run_main(case.words[0], case.words[1:], root / cwd, environment(root))
    finally:
        (root / cwd).chmod(0o755)
    check_complaint(case, result.code, result.out, result.err)
    assert snapshot(root.parent) == before


# Interrupted work


@dataclass(frozen=True)
class Rewriting:
    """A task directory whose files a second mgendata, with other encodings, is about to replace."""

    place: Path
    old: dict[str, bytes | None]
    new: dict[str, bytes | None]

    def start(self) -> subprocess.Popen[str]:
        command = [str(Path(sys.executable).parent / "mgendata"), "-q", "-c", "../../../codings"]
        environ = {name: text for name, text in os.environ.items() if name != "DELVE_PATH"}
        return subprocess.Popen(command, cwd=self.place, env=environ, text=True, stderr=subprocess.PIPE)

    def interrupt(self, process: subprocess.Popen[str], number: int, count: int) -> str:
        """Send a signal as soon as `count` files are being prepared; what the process complains of."""
        deadline = time.monotonic() + 60
        while process.poll() is None and len(self.hidden()) < count and time.monotonic() < deadline:
            time.sleep(0.0005)
        process.send_signal(number)
        return process.communicate(timeout=60)[1]

    def hidden(self) -> list[str]:
        return [path.name for path in self.place.iterdir() if path.name.startswith(".")]

    def visible(self) -> dict[str, bytes | None]:
        return {name: data for name, data in snapshot(self.place).items() if not name.startswith(".")}


@pytest.fixture
def rewriting(tmp_path: Path) -> Rewriting:
    root = make_root(tmp_path / "delve", {"methods/a/codings": "AGE nm-sqr\nINCOME nm-sqr\nSIBLINGS copy\n"})
    contents = []
    for method, options in (("b", ["-c", f"{root}/methods/a/codings"]), ("a", [])):
        (root / "methods" / method).mkdir(exist_ok=True)
        assert run_main("mgendir", ["-q", "demo/age/std.32"], root / "methods" / method).code == 0
        place = root / "methods" / method / "demo/age/std.32"
        assert run_main("mgendata", ["-q", *options], place).code == 0
        contents.append(snapshot(place))
    return Rewriting(place, contents[1], contents[0])


@pytest.mark.parametrize("count", [1, 6, 18, 33])
def test_a_kill_leaves_whole_files(rewriting: Rewriting, count: int) -> None:
    process = rewriting.start()
    rewriting.interrupt(process, signal.SIGKILL, count)
    visible = rewriting.visible()
    assert visible.keys() == rewriting.old.keys()
    for name, data in visible.items():
        assert data in (rewriting.old[name], rewriting.new[name]), f"{name} is half-written"
    again = rewriting.start()
    assert (again.communicate(timeout=60)[1], again.returncode) == ("", 0)
    assert rewriting.visible() == rewriting.new


def test_an_interrupt_leaves_the_old_files_and_nothing_else(rewriting: Rewriting) -> None:
    process = rewriting.start()
    complaint = rewriting.interrupt(process, signal.SIGINT, 3)
    assert (complaint, process.returncode) == ("", 130)
    assert snapshot(rewriting.place) == rewriting.old
