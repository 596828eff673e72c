"""Tables of scores that cannot be compared: each gets one clear sentence, which names the culprit."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.cli.compare import compare
from tests.data.scores import test_lm_eval_samples as lm_eval
from tests.data.scores.make_inspect_logs import FOLDER as LOGS

GOOD = pd.DataFrame(
    [
        {"model": model, "case": f"q{i}", "score": float((i + (model == "b")) % 3 > 0)}
        for model in "ab"
        for i in range(6)
    ]
)
FOLDS = pd.DataFrame(
    [{"model": model, "fold": fold, "accuracy": 0.5 + 0.1 * fold} for model in "ab" for fold in range(4)]
)
SETS = pd.DataFrame(
    [
        {"model": model, "training_set": size, "case": case, "score": 0.01 * case}
        for model in "ab"
        for size in (1, 2, 3)
        for case in range(6)
    ]
)
Bad = Callable[[Path], tuple[Any, dict[str, Any]]]


def frame(scores: Any, **options: Any) -> Bad:
    return lambda folder: (scores, options)


def file(name: str, content: str | bytes, **options: Any) -> Bad:
    def made(folder: Path) -> tuple[Any, dict[str, Any]]:
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path, options

    return made


def files(contents: dict[str, str], **options: Any) -> Bad:
    def made(folder: Path) -> tuple[Any, dict[str, Any]]:
        return [file(name, text)(folder)[0] for name, text in contents.items()], options

    return made


def half_samples(folder: Path) -> tuple[Any, dict[str, Any]]:
    rows = [lm_eval.sample(i, 1) for i in range(2)]
    return lm_eval.write(folder, "org/one", rows, lm_eval.results("org/one")), {}


def arrays_with(old: bytes, new: bytes) -> Bad:
    """Saved predictions with other bytes in the place of some, their checksums right."""

    def made(folder: Path) -> tuple[Any, dict[str, Any]]:
        np.savez(
            folder / "good.npz", y_true=np.array([1, 0, 1]), a=np.array([1, 1, 1]), b=np.array([0, 1, 1])
        )
        with ZipFile(folder / "good.npz") as good, ZipFile(folder / "bad.npz", "w") as bad:
            for name in good.namelist():
                content = good.read(name)
                assert old in content
                bad.writestr(name, content.replace(old, new.ljust(len(old))))
        return folder / "bad.npz", {}

    return made


def with_score(*scores: Any) -> pd.DataFrame:
    return GOOD.assign(score=[*scores, *[1.0] * (len(GOOD) - len(scores))])


BAD: dict[str, tuple[Bad, str]] = {
    # cells
    "two rows for one cell": (
        frame(pd.concat([GOOD, GOOD.iloc[:1]])),
        r'two scores of model "a" on case "q0" \(1 row too many\): remove one, or say which column',
    ),
    "two rows for one cell of a run": (
        frame(pd.concat([GOOD.assign(run=1), GOOD.assign(run=2), GOOD.iloc[3:5].assign(run=2)])),
        r'model "a" on case "q3", run "2" \(2 rows too many\)',
    ),
    "two scores of a fold": (
        frame(pd.concat([FOLDS, FOLDS.iloc[:1]]), ratio=1 / 3),
        'fold "0" of the frame has two scores of model "a"',
    ),
    "no case in common": (
        frame(GOOD.assign(case=GOOD["model"] + GOOD["case"])),
        "0 of 12 cases have a score of every model: nothing can be compared; leave out",
    ),
    "all scores missing": (frame(GOOD.assign(score=np.nan)), "has no scores: all 12 are missing"),
    "missing scores to count as the worst, of which nobody knows it": (
        frame(with_score(np.nan, 2.5), missing="worst"),
        "needs to know the worst score there can be: give its limits",
    ),
    # numbers
    "a word among the scores": (
        frame(GOOD.assign(score=["1"] * 11 + ["good"])),
        r"row 12 of the frame \(model \"b\", case \"q5\"\): the score is 'good', which is no number",
    ),
    "a comma in a number": (frame(GOOD.assign(score="0,5")), "the score is '0,5', which is no number"),
    "yes and no": (frame(GOOD.assign(score=["yes", "no"] * 6)), "the score is 'yes', which is no number"),
    "an infinite score": (
        frame(with_score(np.inf)),
        "row 1 .*the score is infinite, so no mean of it exists",
    ),
    "a score that has no square": (
        frame(with_score(1e200)),
        r"row 1 .*the score is 1e\+200, too large to be squared: give it in other units, or leave it empty",
    ),
    "arrays whose header is damaged": (
        arrays_with(
            b"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }", b"{'descr': '<i8', 'fort(((("
        ),
        "can't read its arrays .*: save them by numpy.savez",
    ),
    "a file name that is too long": (lambda folder: ("a" * 300, {}), "no such file or folder"),
    "a score below all numbers": (frame(with_score(0, -np.inf)), "row 2 .*the score is infinite"),
    "a number of 400 digits": (
        file("a.jsonl", '{"model": "a", "case": 1, "score": 1%s}\n' % ("0" * 400)),
        "the score is infinite",
    ),
    "dates": (frame(GOOD.assign(score=pd.Timestamp("2026-01-01"))), "2026-01-01 00:00:00, a date: choose"),
    "complex numbers": (frame(GOOD.assign(score=1j)), "a complex number: choose a column of plain numbers"),
    "lists of scores": (
        file("a.jsonl", '{"model": "a", "case": 1, "score": [1, 2]}\n'),
        r"row 1 of a\.jsonl: the score is \[1, 2\], a list or an object",
    ),
    "a score outside its limits": (
        frame(with_score(1, 5), limits=(0, 1)),
        'case "q1".*: the score 5 is outside its limits, 0 to 1',
    ),
    "limits the wrong way round": (
        frame(GOOD, limits=(1, 0)),
        "from the lowest to the highest, not from 1 to 0",
    ),
    "limits that are one number": (frame(GOOD, limits=(1,)), r"limits=\(1,\): limits are two numbers"),
    # what is better
    "a name that does not tell what is better": (
        frame(GOOD.rename(columns={"score": "blob"})),
        "nobody says whether a higher or a lower blob is better",
    ),
    "scores of different names": (
        files({"a.csv": "case,accuracy\n1,1\n2,0\n", "b.csv": "case,loss\n1,1\n2,0\n"}),
        r"scores of different names \(a\.csv: accuracy, b\.csv: loss\)",
    ),
    "scores with a name and scores without": (
        files({"a.csv": "case,a,b\n1,1,0\n2,0,1\n", "b.csv": "model,case,loss\nc,1,1\nc,2,0\n"}),
        r"\(a\.csv: no name, b\.csv: loss\): say which column holds the score, or what all are called, as in",
    ),
    # groups and weights
    "a case in two groups": (
        frame(GOOD.assign(group=["g"] * 11 + ["h"])),
        "case \"q5\" has two values of group, 'g' and 'h': a case has one",
    ),
    "a case with a group in some rows only": (
        frame(GOOD.assign(group=pd.Series(["g"] * 11))),
        "case \"q5\" has two values of group, 'g' and 'case q5 alone'",
    ),
    "a case with two weights": (
        frame(GOOD.assign(weight=[1.0] * 11 + [2.0])),
        r'case "q5" has two values of weight, 1\.0 and 2\.0',
    ),
    "a weight below zero": (frame(GOOD.assign(weight=-1.0)), "the weight is -1: weights are numbers above 0"),
    "a weight that is missing": (frame(GOOD.assign(weight=[np.nan] + [1.0] * 11)), "the weight is nan"),
    # columns
    "no column of models": (
        frame(GOOD.drop(columns="model")),
        "no column for the model .*: it has case, score; .* one model alone cannot be compared: give a file",
    ),
    "no column of models, and scores by another name": (
        file("a.csv", "case,a\n1,1\n2,0\n", score="a", higher_is_better=True),
        r"a\.csv has no column for the model .*: it has case, a; name",
    ),
    "neither cases nor folds in two files": (
        files({"a.csv": "accuracy\n1\n0\n", "b.csv": "accuracy\n1\n1\n"}),
        'the table of 2 files has neither a column "case" nor "fold": .*; it has accuracy$',
    ),
    "two files of the same scores": (
        files(dict.fromkeys(("a.csv", "b.csv"), "model,case,accuracy\na,1,1\nb,1,0\n")),
        'the table of 2 files has two scores of model "a"',
    ),
    "no column of scores": (frame(GOOD[["model", "case"]]), "which column holds the score?"),
    "neither cases nor folds": (frame(GOOD[["model", "score"]]), 'neither a column "case" nor "fold"'),
    "one column twice": (frame(GOOD.set_axis(["model", "score", "score"], axis=1)), 'two columns "score"'),
    "one column twice in a file": (
        file("a.csv", "model,case,score,score\na,1,1,0\n"),
        'column name "score" is used more than once',
    ),
    "a column that is not there": (
        frame(GOOD, case="caes"),
        r'no column "caes" for the case \(did you mean "case"\?\): it has model, case, score',
    ),
    "a row without a model": (frame(GOOD.assign(model=GOOD["model"][1:])), "row 1 .* has no model"),
    "a row without a case": (frame(GOOD.assign(case=GOOD["case"][1:])), "row 1 .* has no case"),
    "a model that is an object": (
        file("a.jsonl", '{"model": {"name": "a"}, "case": 1, "score": 1}\n'),
        "the model is {'name': 'a'}, a list or an object",
    ),
    "a case as number and as text": (
        frame(GOOD.assign(case=[1, "1", 2, 3, 4, 5] * 2)),
        'the column case has "1" as a number and as a text',
    ),
    "a wide table with one column": (
        frame(pd.DataFrame({"case": [1, 2], "a": [1, 0]})),
        "no two columns of numbers that could be models: .* it has case, a; a alone cannot be compared: give",
    ),
    "wide tables with one column, several of them": (
        files(dict.fromkeys(("a.csv", "b.csv"), "case,a\n1,1\n2,0\n")),
        r"if a is the score of one model, say so, as in score=… \(on the command line --score a\)",
    ),
    "a wide table with an infinite score": (
        frame(pd.DataFrame({"case": [1, 2], "a": [1, 0], "b": [2, np.inf]}), higher_is_better=True),
        r'row 2 of the frame \(model "b", case "2"\): the score is infinite',
    ),
    "a wide table with a column that is no score": (
        frame(pd.DataFrame({"case": [1, 2, 3], "a": [1, 0, 1], "b": [0, 0, 1], "length": [31, 7, 12]})),
        "the column length goes from 7 to 31, where a, b have only 0 and 1: if it is no model, say what",
    ),
    "a single case": (frame(GOOD[GOOD["case"] == "q0"]), "has a single case, q0: nothing can be compared"),
    "a single group": (
        frame(GOOD.assign(group="g")),
        'all 6 cases have "g" in the column of groups .* only one group to compare by: bring more',
    ),
    "a single group of another name in a file": (
        file(
            "a.csv",
            "case,a,b,patient\n1,1,0,p7\n2,0,1,p7\n3,1,1,p7\n",
            group="patient",
            higher_is_better=True,
        ),
        r'a\.csv: all 3 cases have "p7" in the column of groups',
    ),
    "a single group on one of two tasks": (
        frame(GOOD.assign(task=["t", "u"] * 6, group=["g", "v", "h", "v", "i", "v"] * 2)),
        'task u of .* all 3 cases have "v" in the column of groups',
    ),
    "a single group on all of two tasks": (
        frame(GOOD.assign(task=["t", "u"] * 6, group="g")),
        'task t of .* all 3 cases have "g" in the column of groups',
    ),
    "a single group among the cases that all models have": (
        frame(GOOD.assign(group=["g", "g", "g", "h", "i", "j"] * 2).drop(index=[9, 10, 11])),
        'all 3 cases have "g" in the column of groups',
    ),
    # folds and training sets
    "folds without a ratio": (
        frame(FOLDS),
        "how many test cases there were for each training case; give ratio",
    ),
    "a ratio of zero": (frame(FOLDS, ratio=0), "ratio=0: the ratio of test cases to training cases is"),
    "a single fold": (
        frame(FOLDS[FOLDS["fold"] == 0], ratio=1 / 9),
        "the scores of one fold and none of cases",
    ),
    "training sets that share some cases": (
        frame(SETS[(SETS["training_set"] != 3) | (SETS["case"] != 2)]),
        "some cases test several training sets and not all of them",
    ),
    # files
    "an empty file": (file("a.csv", ""), r"a\.csv: the file is empty"),
    "a header without rows": (file("a.csv", "model,case,score\n"), "there are no rows under the header"),
    "a frame without rows": (frame(GOOD.iloc[:0]), "the frame has no rows: there is nothing to compare"),
    "a row that is too short": (
        file("a.csv", "model,case,score\na,1,1\nb,1\n"),
        r"line 3: expected 3 values",
    ),
    "half a file of JSON lines": (
        file("a.jsonl", '{"model": "a", "case": 1, "score": 1}\n{"model": "b", "ca'),
        "line 2: this is no JSON .*: the file may be cut off",
    ),
    "JSON that is no table": (
        file("a.json", '{"model": "a"}'),
        "expected a list of objects, one for every score",
    ),
    "JSON lines that are numbers": (
        file("a.jsonl", "5\n"),
        "line 1: expected an object with names and values",
    ),
    "half a Parquet file": (file("a.parquet", b"PAR1 and no more"), "can't read this as Parquet"),
    "a spreadsheet": (file("a.xlsx", b"PK\x03\x04"), "save a spreadsheet as CSV"),
    "a folder of nothing known": (
        lambda folder: (folder, {}),
        "is a folder, and no reader knows what is in it",
    ),
    "a folder of files of one tool": (
        lambda folder: (folder, {"reader": "sklearn"}),
        "this is a folder: give the name of a file in it",
    ),
    "a folder without files of its tool": (
        lambda folder: (folder, {"reader": "benchopt"}),
        "there are no results of benchopt in this folder",
    ),
    "a file that is not there": (lambda folder: (folder / "no.csv", {}), r"no\.csv: no such file or folder"),
    "an array without axes": (frame(np.array(5.0)), r"array\(5\.\) holds no scores: give a file"),
    "nothing at all": (frame([]), r"\[\] holds no scores: give a file"),
    # other tools
    "half a log": (
        frame(LOGS / "cancelled.eval", metric="match"),
        'has the status "cancelled" and 8 samples',
    ),
    "half a file of samples": (half_samples, "has 2 of the 4 documents that were evaluated"),
    "scores in words": (
        file("a.csv", "model,case,accuracy\na,1,correct\nb,1,wrong\n"),
        r"row 1 of a\.csv .*: the score is 'correct', which is no number",
    ),
    "scores with a sign of per cent": (
        file("a.csv", "model,case,accuracy\na,1,80%\nb,1,70%\n"),
        r"row 1 of a\.csv .*: the score is '80%', which is no number",
    ),
    "a row for each model": (
        file("a.csv", "model,arc,mmlu,gsm\na,1,2,3\nb,2,3,4\n"),
        r"left are arc, mmlu, gsm: name it, .* turn the table round: a row for each, a column for each model",
    ),
    "a log and a table": (
        lambda folder: ([LOGS / "one.eval", file("a.csv", "model,case,score\na,1,1\n")(folder)[0]], {}),
        r"of different kinds .* \(one\.eval: inspect_ai logs, a\.csv: a plain table\)",
    ),
    "several scorers and no choice": (
        frame(LOGS / "one.eval"),
        r"there are several scores \(match, length, rubric/style, rubric/facts\); choose one",
    ),
    "a column that the reader finds itself": (
        frame(LOGS / "one.eval", metric="match", model="llm"),
        'model="llm": the reader of inspect_ai logs may be told group; leave this out',
    ),
    "a tool that nobody knows": (frame(GOOD, reader="inspct"), 'unknown reader .*did you mean "inspect"'),
}


def test_there_are_forty() -> None:
    assert len(BAD) >= 40


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_gets_one_sentence(name: str, tmp_path: Path) -> None:
    make, told = BAD[name]
    scores, options = make(tmp_path)
    with pytest.raises(redelve.RedelveError, match=told) as caught:
        str(redelve.compare_scores(scores, **options))
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 420 + len(str(tmp_path))


def test_the_good_tables_they_are_made_of_are_compared() -> None:
    assert redelve.compare_scores(GOOD).findings.tasks
    assert redelve.compare_scores(FOLDS, ratio=1 / 3).findings.tasks
    assert redelve.compare_scores(SETS).findings.tasks


@pytest.mark.parametrize("words", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_true_and_false_in_files_are_right_and_wrong(words: tuple[str, str], tmp_path: Path) -> None:
    """As pandas, JSON and spreadsheets write them."""
    frame = GOOD.assign(accuracy=np.where(GOOD["score"] == 1, *words)).drop(columns="score")
    frame.to_csv(tmp_path / "long.csv", index=False)
    frame.pivot(index="case", columns="model", values="accuracy").to_csv(tmp_path / "wide.csv")
    wanted = redelve.compare_scores(GOOD).compare("a", "b")[0].difference
    for name in ("long.csv", "wide.csv"):
        found = redelve.compare_scores(tmp_path / name, higher_is_better=True)
        assert found.compare("a", "b")[0].difference == pytest.approx(wanted)


def test_cases_without_a_group_are_groups_of_their_own() -> None:
    uneven = GOOD.assign(score=[0.0, 0, 1, 0, 0.5, 1, 1, 1, 1, 0, 0.5, 0])
    groups = uneven.assign(group=GOOD["case"].map({"q0": "g", "q1": "g"}))
    apart = uneven.assign(group=GOOD["case"].replace("q1", "q0"))
    one, two = (redelve.compare_scores(each).compare("a", "b")[0] for each in (groups, apart))
    assert one.p_value == pytest.approx(two.p_value)
    assert one.p_value != pytest.approx(redelve.compare_scores(uneven).compare("a", "b")[0].p_value)


def test_the_command_prints_the_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*GOOD.to_dict("records"), {"model": "a"}]))
    assert compare([str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("redelve compare: row 13 of a.jsonl has no case")
    assert err.count("\n") == 1


def answers(**columns: Any) -> pd.DataFrame:
    """Scores of two models on 40 cases, a column for each, beside other columns."""
    cases = np.arange(40)
    return pd.DataFrame({"a": (cases % 3 > 0) * 1, "b": (cases % 2 > 0) * 1, **columns})


def how_read(scores: Any, **options: Any) -> tuple[list[str], str]:
    """Whose scores a table is taken to have, and what is said of that."""
    found = redelve.compare_scores(scores, higher_is_better=True, **options)
    (note,) = (note.text for note in found.findings.notes if "wide table" in note.text)
    assert note.split()[:8] == " ".join(str(found).rpartition("How scores were read")[2].split()).split()[:8]
    return list(found.results.methods), note


@pytest.mark.parametrize(
    "name", ["id", "index", "idx", "Unnamed: 0", "question_nr", "CaseNumber", "row", "item no", "QID"]
)
def test_a_column_that_numbers_the_cases_is_no_model(name: str) -> None:
    models, note = how_read(answers(**{name: range(40)}))
    assert models == ["a", "b"]
    assert f"is read as a wide table with 2 models, a, b; case: {name}. If a column is no model, say" in note


def test_numbers_of_cases_may_begin_anew_in_every_task() -> None:
    models, note = how_read(answers(subject=["law"] * 20 + ["math"] * 20, index=[*range(20)] * 2))
    assert models == ["a", "b"]
    assert "; task: subject; case: index." in note


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"question": [f"q{i}" for i in range(40)], "id": range(40)}, "case: question; left out: id."),
        ({"name": [f"q{i}" for i in range(40)], "idx": range(40)}, "case: name; left out: idx."),
        ({"case": range(40), "cost": np.linspace(1, 2, 40)}, "case: case; left out: cost."),
        ({"text": ["same"] * 40, "idx": range(40)}, "case: idx; left out: text."),
        ({"fold": range(40), "index": range(40)}, "fold: fold; left out: index."),
    ],
)
def test_columns_that_are_no_scores_are_left_out_and_told(more: dict[str, Any], told: str) -> None:
    models, note = how_read(answers(**more), **({"ratio": 1 / 9} if "fold" in more else {}))
    assert models == ["a", "b"]
    assert told in note


def test_other_columns_of_numbers_are_models_and_are_named() -> None:
    lengths = answers(case=range(40), length=np.arange(40) % 7).assign(b=np.linspace(0, 1, 40))
    assert how_read(lengths) == (
        ["a", "b", "length"],
        "the frame is read as a wide table with 3 models, a, b, length; case: case. If a column is no model, "
        "say what it is (as in slices=…, on the command line --slices) or remove it",
    )
    models, note = how_read(lengths, slices=["length"])
    assert models == ["a", "b"]
    assert "slice: length" in note


def test_scores_that_happen_to_be_whole_numbers_all_different_stay_scores() -> None:
    assert how_read(answers(third=range(40), fourth=range(1, 41)))[0] == ["a", "b", "fourth", "third"]


def test_two_columns_that_number_the_cases_are_asked_about() -> None:
    table = answers(idx=range(40), row=range(40))
    with pytest.raises(redelve.RedelveError, match=r"tells the cases apart, idx or row\? .*case=… .*--case"):
        redelve.compare_scores(table, higher_is_better=True)
    assert how_read(table, case="row")[0] == ["a", "b"]


def test_files_of_one_model_each_may_number_their_cases(tmp_path: Path) -> None:
    for name in "ab":
        numbered = answers(idx=range(40))[["idx", name]].rename(columns={name: "correct"})
        numbered.sample(frac=1, random_state=1).to_csv(tmp_path / f"{name}.csv", index=False)
    found = redelve.compare_scores([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert list(found.results.methods) == ["a", "b"]
    assert found.findings.tasks[0].task.case_count == 40


@pytest.mark.parametrize(
    "cell", ["timeout", "inf", "-inf", "1e400", "50%", "0x10", "1_000", '"1,5"', "007", "True"]
)
def test_one_bad_cell_of_a_wide_table_does_not_make_another_model_the_best(cell: str, tmp_path: Path) -> None:
    lines = [f"q{i},{i % 2},{int(i % 3 > 0)},{cell if i == 4 else 1}" for i in range(20)]
    (tmp_path / "a.csv").write_text("\n".join(["case,small,medium,large", *lines]))
    value = re.escape(cell.strip('"'))
    told = (
        rf"a\.csv: in row 5 \(case \"q4\"\) the column large has '{value}', which is no "
        "number, where most of its cells are: mend the cell, or leave it empty if there is no score; if the "
        r"column is no model, say what it is \(as in slices=…, on the command line --slices large\) or remove"
    )
    with pytest.raises(redelve.RedelveError, match=told):
        redelve.compare_scores(tmp_path / "a.csv", higher_is_better=True)
    found = redelve.compare_scores(tmp_path / "a.csv", higher_is_better=True, slices=["large"])
    assert list(found.results.methods) == ["medium", "small"]


def test_the_bad_cell_is_named_where_it_leaves_one_column_of_numbers() -> None:
    table = answers(case=range(40)).assign(a=["1"] * 39 + ["inf"])
    with pytest.raises(redelve.RedelveError, match=r"in row 40 .* the column a has 'inf'"):
        redelve.compare_scores(table, higher_is_better=True)


@pytest.mark.parametrize(
    ("given", "culprit"),
    [
        (["True", "False", "True", "none of it"], "none of it"),
        (["0,5", "0,25", "1", "late"], "late"),
        (["0.5", "0,25", "1", "2"], "0,25"),
        ([1.0, 0.0, "late", None], "late"),
    ],
)
def test_columns_are_nearly_scores_in_every_way_to_write_them(given: list[Any], culprit: str) -> None:
    table = answers().assign(third=given * 10)
    with pytest.raises(redelve.RedelveError, match=f"the column third has '{culprit}'"):
        redelve.compare_scores(table, higher_is_better=True)


@pytest.mark.parametrize(
    "texts", [["x", "y", "1"], ["007", "008", "009"], ["10", "20", "30"], [None] * 3, ["v1", "1", "v2"]]
)
def test_columns_of_texts_stay_what_they_are(texts: list[Any]) -> None:
    table = answers(case=range(40)).assign(more=(texts * 14)[:40])
    models, note = how_read(table.astype({"more": object}))
    assert models == ["a", "b"]
    assert "left out: more." in note


def test_names_of_cases_may_look_like_numbers() -> None:
    models, note = how_read(answers(item_no=[*map(str, range(39)), "39b"]))
    assert models == ["a", "b"]
    assert "case: item_no." in note


def test_one_bad_cell_of_a_long_table_does_not_make_another_column_the_score() -> None:
    table = GOOD.rename(columns={"score": "mine"}).assign(length=range(12))
    table["mine"] = ["late", *table["mine"].astype(str)[1:]]
    with pytest.raises(redelve.RedelveError, match=r"which column holds the score\? left are mine, length"):
        redelve.compare_scores(table, higher_is_better=True)
    with pytest.raises(redelve.RedelveError, match=r"row 1 of the frame .*the score is 'late'"):
        redelve.compare_scores(table.rename(columns={"mine": "accuracy"}))
