"""Run with commit 7164602, the last of the first house: `python make.py kept`.

An archive, a DELVE tree and a challenge, each with what that commit made of it; `test_of_before.py` reads all
three with the code of today. The imports are those of that commit, so this script runs only there.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

import redelve
from redelve.challenge import (
    DatasetEntry,
    Patterns,
    Phases,
    pack,
    prepare_challenge,
    read_challenge,
    read_submission,
    score_submission,
    scores_to_json,
)
from redelve.methods.contract import METHODS


def flats() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    area = rng.uniform(20, 120, 1000).round(1)
    rooms = rng.choice(["one", "two", "many"], 1000)
    price = (area * 3 + (rooms == "many") * 40 + rng.normal(0, 20, 1000)).round(2)
    return pd.DataFrame({"area": area, "rooms": rooms, "price": price})


def fruits() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    length, width = rng.normal(0, 1, (2, 90)).round(3)
    kind = np.where(length + rng.normal(0, 0.5, 90) > 0.3, "pear", np.where(width > 0, "apple", "plum"))
    return pd.DataFrame({"length": length, "width": width, "kind": kind})


def content_of(cases: pd.DataFrame) -> dict[str, str]:
    """A hash of every column, numbers to their last bit."""
    texts = {name: "\n".join(map(repr, cases[name].tolist())) for name in cases}
    return {str(name): hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def make_archive(folder: Path) -> None:
    """Regression in disjoint training sets with two runs, three classes by cross-validation."""
    flats().to_csv(folder / "flats.csv", index=False)
    fruits().to_csv(folder / "fruits.csv", index=False)
    for table, target, second in (("flats", "price", "lin-1"), ("fruits", "kind", "logistic")):
        task = redelve.from_file(folder / f"{table}.csv", target)
        done = redelve.assess(["constant", second], task, runs=2, archive=folder / "archive")
        done.frame().to_csv(folder / f"{table}-findings.csv", index=False)
        (folder / f"{table}-cases.json").write_text(json.dumps(content_of(done.cases()), indent=1))
        (folder / f"{table}.txt").write_text(str(done))
        (folder / f"{table}-contest.txt").write_text(str(done.compare("constant", second)))
    digests = {name: METHODS[name].digest for name in METHODS}
    digests["Ridge(alpha=2)"] = redelve.as_method(Ridge(alpha=2)).digest
    (folder / "digests.json").write_text(json.dumps(digests, indent=1))


def make_delve(folder: Path) -> None:
    """The tutorial's two methods on /demo/age/std.256, as DELVE's commands leave them."""
    root = folder / "delve"
    for part in ("data", "methods/mine", "methods/lin-1"):
        (root / part).mkdir(parents=True)
    script = """
    cd $ROOT/methods/mine && mgendir -q demo/age/std.256 && cd demo/age/std.256 && mgendata -q
    for n in 0 1 2 3; do awk '{ print "0.0" }' test.$n > cguess.S.$n; done
    mloss -q -l S
    cd $ROOT/methods/lin-1 && mgendir -q demo/age/std.256 && cd demo/age/std.256 && mgendata -q
    redelve apply lin-1 -q && mloss -q
    mstats > $OUT/mstats.txt
    mstats -l S -c mine > $OUT/mstats-compared.txt
    minfo > $OUT/minfo.txt
    """
    environment = {k: v for k, v in os.environ.items() if k != "DELVE_PATH"}
    environment |= {"ROOT": str(root), "OUT": str(folder), "REDELVE_HOME": str(folder / "home")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    subprocess.run(["sh", "-euc", script], env=environment, check=True)
    shutil.rmtree(folder / "home")


def make_challenge(folder: Path) -> None:
    """Two small datasets, a zip of answers, its scores."""
    rng = np.random.default_rng(3)
    sources = {}
    for name in ("anna", "berta"):
        values = rng.integers(0, 1000, (444, 4)).astype(np.int16)
        labels = np.where(values[:, 0] + rng.normal(0, 150, 444) > 550, 1, -1).astype(np.int8)
        sources[name] = Patterns(values, labels, "drawn for tests")
    phases = Phases(*(datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3)))
    prepare_challenge(folder / "challenge", sources, title="Of before", phases=phases, seed=0)
    challenge = read_challenge(folder / "challenge")
    answers = {}
    for name in challenge.names:
        given, confidences = {}, {}
        for part in ("train", "valid", "test"):
            truths = challenge.truths(name, part)
            given[part] = np.where(rng.random(truths.size) < 0.15, -truths, truths).astype(np.int8)
            confidences[part] = given[part] * rng.random(truths.size).round(3)
        answers[name] = DatasetEntry(given, confidences, 0.16)
    pack(folder / "entry.zip", answers)
    submission = read_submission(folder / "entry.zip", challenge)
    scores = scores_to_json(score_submission(submission, challenge))
    (folder / "scores.json").write_text(json.dumps(scores, indent=1))


if __name__ == "__main__":
    kept = Path(sys.argv[1]).resolve()
    for make in (make_archive, make_delve, make_challenge):
        place = kept / make.__name__.removeprefix("make_")
        place.mkdir(parents=True)
        make(place)
