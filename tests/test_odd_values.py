"""Values of an odd kind for the options of public functions: each is refused in a sentence, with a way out.

All were found by giving every option of every public function each of the fuzzer's odd values.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import redelve
from redelve.errors import LocationError
from tests.fuzzing.python_calls import GOOD, Unspeakable, frame

LONG = "a" * 3000
HUGE = 1 << 70
CASES: list[tuple[str, Mapping[str, Any], str]] = [
    ("assess", {"archive": LONG}, "a{60}…: can't become an archive: the name is too long"),
    ("assess", {"tasks": LONG}, "a{60}"),
    ("assess", {"runs": HUGE}, "runs must be at most 1,000,000, not 1180591620717411303424"),
    ("compare_scores", {"scores": pd.DataFrame}, "a frame .* was expected, not a type"),
    ("compare_scores", {"archive": LONG}, "a{60}…: can't become an archive: the name is too long"),
    ("compare_scores", {"chosen_of": {"a": None}}, "a is the best of None: give a whole number above 0"),
    ("compare_scores", {"chosen_of": {"a": "b"}}, "a is the best of 'b': give a whole number above 0"),
    ("compare_scores", {"notes": "x\ud800"}, r"notes='x\\ud800': \\ud800 is half a character, .*: leave it"),
    ("compare_scores", {"notes": ["x\udcff"]}, r"notes=\['x\\udcff'\]: \\udcff is half a character"),
    ("compare_scores", {"metric": "x\udcff"}, r"metric='x\\udcff': \\udcff is half a character"),
    ("assess", {"archive": "x\ud800"}, r"archive='x\\ud800': \\ud800 is half a character"),
    ("assess", {"runs": 10**5000}, "runs is a number of 16,610 bits: give one below 1e308"),
    ("assess", {"sizes": [10**5000]}, "sizes is a number of 16,610 bits"),
    ("gate", {"margin": 10**400}, "margin is a number of 1,329 bits"),
    ("Limits", {"seconds": 10**5000}, "seconds is a number of 16,610 bits"),
    ("task", {"missing": 10**400}, "missing is a number of 1,329 bits"),
    ("task", {"missing": "x\udcff"}, r"missing='x\\udcff': \\udcff is half a character"),
    ("predict_performance", {"ways": Unspeakable()}, "ways=a Unspeakable: give ways to guess by"),
    ("assess", {"tasks": [None]}, "expected a pandas DataFrame but got None: "),
    ("assess", {"losses": object()}, "a object is no loss: give a code such as S"),
    ("predict_performance", {"loss": pd.DataFrame({"a": range(99)})}, "^a DataFrame is no loss: "),
    ("gate", {"new": pd.DataFrame}, "a frame .* was expected, not a type"),
    ("gate", {"looks": HUGE}, "at most 1,000,000 times, not 1180591620717411303424 times"),
    ("race", {"answers": len}, r"the function returned \d+: return a score for each question"),
    ("task", {"source": pd.DataFrame}, "expected a pandas DataFrame but got type"),
    ("from_frame", {"frame": pd.DataFrame}, "expected a pandas DataFrame but got type|inputs"),
    ("predict_performance", {"X": pd.DataFrame}, r"X has the shape \(\): give a row for each case"),
    ("predict_performance", {"ways": [None]}, "None is no way: give texts, of .*kfold"),
    ("predict_performance", {"ways": [[]]}, r"\[\] is no way: give texts, of .*kfold"),
    ("predict_performance", {"jobs": HUGE}, "at most 10,000: got 1180591620717411303424"),
    ("assess", {"losses": []}, r'no loss is named: give some, as in \["S", "accuracy"\], or None'),
    ("assess", {"losses": (), "judge_by": "S"}, "no loss is named"),
    ("assess", {"sizes": []}, "sizes is empty: give some training-set sizes, or None for all"),
    ("compare_scores", {"ratio": 0.1}, "ratio=0.1 is for scores of folds, and .* has none: leave it out"),
    ("compare_scores", {"ratio": 0.1, "training_set": "weight"}, "ratio=0.1 is for folds of one table, w"),
    ("compare_scores", {"pooled": True}, "pooled takes all tasks together, and .* has no column of tasks"),
    ("compare_scores", {"notes": ""}, "notes holds an empty text: say what you know of the data, or"),
    ("compare_scores", {"notes": ["x", " "]}, "notes holds an empty text"),
    ("race", {"models": "ab"}, r"models='ab': race\(\) takes a list of texts or None"),
]


@pytest.mark.parametrize(("name", "odd", "told"), CASES)
def test_an_odd_value_is_refused_in_a_sentence(name: str, odd: Mapping[str, Any], told: str) -> None:
    made = {option: odd[option] if option in odd else make() for option, make in GOOD[name].items()}
    with pytest.raises(redelve.RedelveError, match=told):
        getattr(redelve, name)(**made)


@pytest.mark.parametrize("value", [10**400, 10**5000, "x\ud800"], ids=["no float", "not written", "half"])
@pytest.mark.parametrize("is_category", [False, True])
def test_values_that_no_column_can_hold_are_texts_or_refused(value: object, is_category: bool) -> None:
    table = frame()
    values = [value, "x"] * (len(table) // 2)
    codes = [number % 2 for number in range(len(table))]
    levels = pd.Index([value, "x"], dtype=object)
    column = pd.Categorical.from_codes(codes, levels) if is_category else pd.Series(values, dtype=object)
    with pytest.raises(redelve.RedelveError, match=r"can't be read as text|bad range item"):
        redelve.task(table.assign(c=column), "y")


def test_a_word_too_long_for_a_path_is_a_word() -> None:
    assert redelve.Program(["true", LONG]).files == {}


@pytest.mark.parametrize("name", ["assess", "compare_scores"])
def test_an_archive_below_a_file_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    made = {option: make() for option, make in GOOD[name].items()} | {"archive": tmp_path / "t.csv" / "x"}
    told = r"t\.csv.x: can't become an archive: a part of the path is a file, not a folder: check the name"
    with pytest.raises(LocationError, match=told):
        getattr(redelve, name)(**made)


@pytest.mark.parametrize("name", ["assess", "compare_scores"])
def test_an_archive_where_no_folder_can_be_made_is_refused_before_any_job(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As below a folder of somebody else, or in /proc."""

    def refused(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path.parent))

    made = {option: make() for option, make in GOOD[name].items()} | {"archive": tmp_path / "x" / "y"}
    monkeypatch.setattr("redelve.store.layout.Path.mkdir", refused)
    monkeypatch.setattr("redelve.run.experiment.run", lambda *_, **__: pytest.fail("a job was done"))
    with pytest.raises(LocationError, match=r"y: can't become an archive: .*x: permission denied: ask whom"):
        getattr(redelve, name)(**made)
