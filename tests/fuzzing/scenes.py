"""Good inputs of every kind, made once, and the commands that read them."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.data.delve.test_fuzz_files import KINDS

METHODS = """\
from sklearn.linear_model import Ridge
from sklearn.dummy import DummyRegressor

ridge = Ridge(alpha=0.5)


def make():
    return DummyRegressor()


all_of_them = {"one": Ridge(), "two": DummyRegressor()}
"""
TIMES = "algorithm,time\n" + "".join(f"{'ab'[k % 2]},{'' if k % 5 == 0 else 3 * k + 1}\n" for k in range(30))
ARFF = "% a table\n@relation people\n@attribute a numeric\n@attribute c {x,y,z}\n@attribute y real\n@data\n"
DT = """\
bool_in=0
real_in=2
bool_out=2
real_out=0
training_examples=16
validation_examples=8
test_examples=8
"""


@dataclass(frozen=True)
class Target:
    """Files of one kind, by a pattern inside the scene, and calls that read them, each with its folder."""

    scene: str
    pattern: str
    calls: tuple[str, ...]

    def file(self, chance: Random, folder: Path) -> Path:
        """One of the files."""
        return chance.choice(sorted(path for path in folder.glob(self.pattern) if path.is_file()))


def target(scene: str, pattern: str, *calls: str, cwd: str = ".") -> Target:
    return Target(scene, pattern, tuple(f"{cwd} {call}" for call in calls))


def rows(count: int = 48) -> list[list[str]]:
    """Cases of a small table."""
    chance = Random(3)
    made = []
    for _ in range(count):
        a, kind = chance.gauss(0, 1), chance.choice("xyz")
        made.append(
            [
                f"{a:.3f}",
                kind,
                f"{2 * a + chance.gauss(0, 1):.3f}",
                "yes" if a + chance.random() > 0.5 else "no",
            ]
        )
    return made


def make_tables(folder: Path) -> None:
    """Tables, their description, .dt files, times, methods."""
    import pandas

    lines = [["a", "c", "y", "label"], *rows()]
    (folder / "d.csv").write_text("".join(",".join(one) + "\n" for one in lines))
    (folder / "d.tsv").write_text("".join("\t".join(one) + "\n" for one in lines))
    (folder / "d.arff").write_text(ARFF + "".join(",".join(one[:3]) + "\n" for one in lines[1:]))
    (folder / "z.csv.gz").write_bytes(gzip.compress((folder / "d.csv").read_bytes()))
    pandas.read_csv(folder / "d.csv").to_parquet(folder / "d.parquet")
    (folder / "times.csv").write_text(TIMES)
    (folder / "methods.py").write_text(METHODS)
    chance = Random(5)
    cases = (f"{chance.random():.4f} {chance.random():.4f} {k % 2} {1 - k % 2}\n" for k in range(32))
    (folder / "f.dt").write_text(DT + "".join(cases))
    run("assess d.csv -t y -m constant -o out -q", folder)
    assert list((folder / "out").glob("*.toml"))
    (folder / "d.toml").write_bytes(next((folder / "out").glob("*.toml")).read_bytes())


def make_delve(folder: Path) -> None:
    """DELVE's files."""
    from tests.tiny_tree import build

    build(folder)


def make_archive(folder: Path) -> None:
    """An archive, one in a zip file, and one whose records are not gathered yet."""
    from redelve.store import Archive

    lines = [["a", "c", "y"], *(one[:3] for one in rows())]
    (folder / "d.csv").write_text("".join(",".join(one) + "\n" for one in lines))
    run("assess d.csv -t y -m constant,lin-1 -o out -q", folder)
    whole = Archive.open(folder / "out").load(answers=True)
    with zipfile.ZipFile(folder / "a.zip", "w") as packed:
        for path in sorted((folder / "out" / "archive").rglob("*")):
            if path.is_file():
                packed.write(path, path.relative_to(folder / "out"))
    fresh = Archive.open(folder / "fresh", create=True)
    fresh.register(whole.tasks, whole.methods)
    for record in whole.records:
        fresh.add(record)


def make_challenge(folder: Path) -> None:
    """A challenge, and answers in a folder and in a zip."""
    from tests.challenge.small import small_challenge

    small_challenge(folder / "c", ("anna",))
    run("challenge pack c -m logistic -w kfold:3 -o answers.zip -q", folder)
    with zipfile.ZipFile(folder / "answers.zip") as packed:
        packed.extractall(folder / "files")


def make_export(folder: Path) -> None:
    """What a server exports after its end, and the hashes that were noted when it opened."""
    from tests.challenge.server.bench import ENDS, running
    from tests.challenge.server.test_commitments import told

    with running(folder / "server") as bench:
        (folder / "noted.json").write_text(json.dumps(told(bench)))
        for name in ("Ada", "Bob"):
            bench.join(name)
            bench.send(name)
        bench.work()
        bench.organiser()
        bench.clock.set(ENDS)
        bench.work()
        organiser = bench.browser()
        organiser.fill("/login", name="Olga", password="correct horse")
        organiser.fill("/organiser", "/organiser/export")
        bench.work()
        (folder / "export.zip").write_bytes(organiser.get("/organiser/exports/1").content)
    shutil.rmtree(folder / "server")
    with zipfile.ZipFile(folder / "export.zip") as packed:
        packed.extractall(folder / "export")


SCENES: dict[str, Callable[[Path], None]] = {
    "tables": make_tables,
    "delve": make_delve,
    "archive": make_archive,
    "challenge": make_challenge,
    "export": make_export,
}


def run(words: str, folder: Path) -> None:
    """A call of redelve that must go well."""
    from tests.tiny_tree import run_main

    done = run_main("redelve", words.split(), folder)
    assert done.code == 0, f"redelve {words}: {done.err}"


def _assessed(file: str) -> str:
    return f"redelve assess {file} -t y -m constant -o new -q"


def _prepared(file: str) -> str:
    return f"redelve challenge prepare new {file} -t label -z 20,8,20 -s 1"


TABLES = (
    target("tables", "d.csv", _assessed("d.csv")),
    target("tables", "d.csv", _prepared("d.csv"), "redelve predict d.csv -t label -m constant -w kfold:3 -q"),
    target("tables", "d.csv", "redelve proben1 export d.csv -t label -o new"),
    target("tables", "d.tsv", _assessed("d.tsv"), _prepared("d.tsv")),
    target("tables", "d.arff", _assessed("d.arff")),
    target("tables", "d.parquet", _assessed("d.parquet"), _prepared("d.parquet")),
    target("tables", "z.csv.gz", _assessed("z.csv.gz")),
    target("tables", "d.toml", f"{_prepared('d.csv')} -d d.toml"),
    target("tables", "out/*.toml", "redelve assess d.csv -t y -m constant -o out -q"),
    target("tables", "f.dt", "redelve proben1 check f.dt", "redelve assess f.dt -m constant -o new -q"),
    target("tables", "f.dt", "redelve proben1 export f.dt -o new"),
    target("tables", "times.csv", "redelve training-time times.csv", "redelve training-time times.csv -T 50"),
    target("tables", "methods.py", "redelve assess d.csv -t y -m methods.py -o new -q"),
    target("tables", "methods.py", "redelve predict d.csv -t y -m methods.py:make -w kfold:3 -q"),
    target("tables", "methods.py", "redelve check-method methods.py:make"),
)
ARCHIVES = (
    target("archive", "out/archive/**/*", "redelve archive verify out", "redelve report out"),
    target("archive", "out/archive/**/*", "redelve report out -o new", "redelve add out ridge -q"),
    target("archive", "out/archive/**/*", "redelve archive merge fresh out", "redelve archive compact out"),
    target("archive", "out/*.*", "redelve assess d.csv -t y -m constant,lin-1 -o out -q"),
    target("archive", "fresh/**/*", "redelve archive verify fresh", "redelve archive compact fresh"),
    target("archive", "fresh/**/*", "redelve archive rescore fresh -l A", "redelve report fresh"),
    target("archive", "fresh/**/*", "redelve archive export fresh -d delve-new"),
    target("archive", "a.zip", "redelve archive verify a.zip", "redelve archive merge out a.zip"),
    target("archive", "a.zip", "redelve report a.zip -o new.html"),
)
CHALLENGES = (
    target("challenge", "c/challenge.toml", "redelve challenge check c answers.zip"),
    target("challenge", "c/challenge.toml", "redelve challenge verify c"),
    target("challenge", "c/public/anna/*", "redelve challenge pack c -m constant -w kfold:3 -o new.zip -q"),
    target("challenge", "c/secret/*", "redelve challenge score c answers.zip", "redelve challenge verify c"),
    target("challenge", "answers.zip", "redelve challenge check c answers.zip"),
    target("challenge", "answers.zip", "redelve challenge score c answers.zip -j"),
    target("challenge", "files/*", "redelve challenge pack c -f files -o new.zip"),
    target("export", "noted.json", "redelve challenge verify export -n noted.json"),
    target("export", "export/**/*", "redelve challenge verify export -n noted.json"),
    target("export", "export.zip", "redelve challenge verify export.zip"),
)
DELVE = (
    *(Target("delve", f"delve/{one.file}", tuple(f"delve/{call}" for call in one.calls)) for one in KINDS),
    target(
        "delve", "delve/data/**/*", "redelve csv tiny", "redelve assess tiny/y -m constant -q", cwd="delve"
    ),
    target("delve", "delve/methods/**/*", "redelve archive import ../new -d ../delve", cwd="delve"),
    target(
        "delve", "delve/methods/m/**/*", "mls -l", "minfo", "mmore loss.S.0", cwd="delve/methods/m/tiny/y"
    ),
)
TARGETS = (*TABLES, *ARCHIVES, *CHALLENGES)


def copied(scene: Path, place: Path) -> Path:
    """A scene to be spoilt."""
    return Path(shutil.copytree(scene, place, symlinks=True))
