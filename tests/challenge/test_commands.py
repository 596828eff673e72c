"""`redelve challenge` on the command line: prepare, check, pack and score."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from redelve.challenge import read_challenge
from redelve.cli import challenge_data, challenge_entries
from redelve.cli.main import challenge
from redelve.data.tables import from_file, write_description
from tests.challenge.small import small_challenge

Main = Callable[[Sequence[str]], int]


def write_table(path: Path) -> Path:
    lines = [
        "x,y,label",
        *(f"{(k * 37) % 101},{k % 7},{'yes' if (k * 37) % 101 > 60 else 'no'}" for k in range(400)),
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_is_prepared_answered_checked_and_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "shop.csv")
    assert (
        challenge_data.prepare(["c", "shop.csv", "-t", "label", "-n", "shop", "-z", "150,50,200", "-s", "0"])
        == 0
    )
    assert "train 150, valid 50, test 200" in capsys.readouterr().out
    assert challenge_entries.pack(["c", "-m", "knn-cv-1"]) == 0
    assert "answers.zip: shop" in capsys.readouterr().out
    assert challenge_entries.check(["c", "answers.zip"]) == 0
    assert "complete: it can enter the final ranking" in capsys.readouterr().out
    assert challenge_entries.score(["c", "answers.zip"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in table] == ["part", "train", "valid", "test"]
    assert challenge_entries.score(["c", "answers.zip", "-j"]) == 0
    assert json.loads(capsys.readouterr().out)["shop"]["parts"]["test"]["ber"] < 0.2


def test_problems_are_told_one_on_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_challenge(tmp_path / "c").folder
    (tmp_path / "bad.zip").write_bytes(b"nothing")
    assert challenge_entries.check([str(folder), str(tmp_path / "bad.zip")]) == 1
    assert capsys.readouterr().err.startswith(f"redelve challenge check: {tmp_path}/bad.zip: this is no zip")
    assert challenge_entries.score([str(folder), str(tmp_path / "bad.zip")]) == 1
    assert capsys.readouterr().err.startswith(f"redelve challenge score: {tmp_path}/bad.zip: this is no zip")
    assert challenge_entries.check([str(folder), str(tmp_path / "none.zip")]) == 1
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("main", "arguments", "message"),
    [
        (challenge_entries.pack, ["{c}"], "say where the answers come from"),
        (challenge_entries.pack, ["{c}", "-m", "logistic", "-d", "nora"], 'no dataset "nora"'),
        (challenge_entries.pack, ["{c}", "-m", "magic"], 'unknown learning object "magic"'),
        (challenge_entries.pack, ["{c}", "-m", "magic"], "redelve's own methods are boosting"),
        (challenge_entries.pack, ["{c}", "-m", "standardize"], "neither a classifier nor a regressor"),
        (challenge_entries.pack, ["{c}", "-m", "rf(units=0)"], "units is 0"),
        (challenge_entries.pack, ["{c}", "-m", "naive", "-w", "kfolds"], 'unknown way "kfolds"'),
        (challenge_entries.pack, ["{c}", "-m", "naive", "-r", "odd"], "choose one of balanced, own"),
        (challenge_entries.pack, ["{c}", "-m", "logistic", "-r", "own"], "is for objects of CLOP"),
        (challenge_entries.check, ["{c}", "{c}"], "give the zip of answers"),
        (challenge_entries.pack, ["{c}", "-m", "naive", "-o", "{c}/none/a.zip"], "there is no folder"),
        (challenge_entries.pack, ["{c}", "-m", "naive", "-o", "{c}/challenge.toml"], "ending in .zip"),
        (challenge_entries.pack, ["{c}", "-m", "logistic", "-s", "x"], "needs a whole number"),
        (challenge_data.prepare, ["{c}", "breast-cancer", "-n", "anna"], 'a dataset "anna" already'),
        (challenge_data.prepare, ["{c}", "breast-cancer", "-z", "1,2"], "three numbers"),
        (challenge_data.prepare, ["{c}", "breast-cancer", "-k", "thin"], "cannot be written as"),
        (challenge_data.example, ["{c}"], "has a challenge already"),
        (challenge_data.example, ["{c}", "-s", "x"], "needs a whole number"),
        (challenge_entries.score, ["{c}", "none.zip"], "no such file"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], main: Main, arguments: list[str], message: str
) -> None:
    folder = small_challenge(tmp_path / "c").folder
    assert main([word.format(c=folder) for word in arguments]) in (1, 2)
    assert message in capsys.readouterr().err


def test_objects_of_clop_answer_from_downloaded_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = small_challenge(tmp_path / "c").folder
    arguments = [
        str(folder / "public"),
        "-m",
        "standardize, kridge(balance=True)",
        "-o",
        str(tmp_path / "a.zip"),
    ]
    assert challenge_entries.pack([*arguments, "-w", "kfold:3"]) == 0
    shown = capsys.readouterr()
    assert "anna         guessed balanced error rate 0." in shown.out
    assert "berta: learning from 80 patterns of 5 features" in shown.err
    assert challenge_entries.pack([*arguments, "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert challenge_entries.check([str(folder / "public"), str(tmp_path / "a.zip")]) == 0
    assert "complete: it can enter the final ranking" in capsys.readouterr().out


def test_packing_files_tells_what_is_lacking(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small_challenge(tmp_path / "c").folder
    (tmp_path / "anna_valid.resu").write_text("1\n" * 8)
    assert challenge_entries.pack([str(folder), "-f", str(tmp_path), "-o", str(tmp_path / "a.zip")]) == 0
    assert "it lacks anna_train.resu, anna_test.resu, anna.guess, berta_train" in capsys.readouterr().out


def test_subverbs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert challenge([]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in ("prepare", "example", "check", "pack", "score"))
    assert challenge(["nonsense"]) == 2
    assert challenge(["score", "-h"]) == 0


def test_prepare_tells_what_was_made_of_columns_and_takes_a_description(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "shop.csv"
    rows = [f"{n},{n % 7},{'ab'[n % 2]},{'yes' if n % 3 else 'no'}" for n in range(900)]
    table.write_text("\n".join(["id,size,kind,bought", *rows]) + "\n")
    assert challenge_data.prepare([str(tmp_path / "one"), str(table), "-t", "bought"]) == 0
    told = capsys.readouterr().out
    assert "column id: ignore (whole numbers that all differ" in told
    assert "column kind: input, binary" in told
    description = tmp_path / "shop.toml"
    intake = from_file(table, "bought")
    write_description(description, intake.description)
    changed = re.sub(r'(columns\.size\]\n#.*\n)use = "input"', r'\1use = "ignore"', description.read_text())
    description.write_text(changed)
    words = [str(tmp_path / "two"), str(table), "-t", "bought", "-d", str(description)]
    assert challenge_data.prepare(words) == 0
    assert "column size: ignore" in capsys.readouterr().out
    one, two = (read_challenge(tmp_path / name).dataset("shop").features for name in ("one", "two"))
    assert (one, two) == (2, 1)
