"""Logs of inspect_ai: made by the tool itself (`files/inspect`, or here where it is installed)."""

from __future__ import annotations

import io
import json
import shutil
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest

from redelve.data.scores import ScoreTable, read_scores
from redelve.data.scores.readers import inspect_logs
from redelve.errors import RedelveError
from tests.data.scores import make_inspect_logs as made

FILES = made.FOLDER
ONE, TWO, CANCELLED = FILES / "one.eval", FILES / "two.json", FILES / "cancelled.eval"
POINTS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
WANTED = {
    (f"mock/{model}", f"q{i % 4}", 1 + i // 4): POINTS[grade]
    for model, grades in made.GRADES.items()
    for i, grade in enumerate(grades)
}


def scores_in(table: ScoreTable) -> dict[tuple[str, str, int], float]:
    frame = table.frame
    return dict(
        zip(zip(frame["model"], frame["case"], frame["run"], strict=True), frame["score"], strict=True)
    )


def changed(folder: Path, change: Any, name: str = "log.json") -> Path:
    whole = json.loads(TWO.read_text())
    change(whole)
    path = folder / name
    path.write_text(json.dumps(whole))
    return path


def test_zipped_logs_and_plain_ones_are_read_together() -> None:
    table = read_scores([ONE, TWO], metric="match")
    assert scores_in(table) == WANTED
    assert set(table.frame["task"]) == {"sums"}
    assert (table.metric, table.higher_is_better, table.limits) == ("match", True, (0.0, 1.0))


def test_prompts_are_the_same_in_both_kinds_of_log() -> None:
    frame = read_scores([ONE, TWO], metric="match").frame
    assert frame.groupby("case")["prompt"].nunique().eq(1).all()
    assert frame["prompt"].nunique() == 4


def test_a_folder_of_logs(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    shutil.copy(ONE, tmp_path)
    shutil.copy(TWO, tmp_path / "deep")
    (tmp_path / "notes.json").write_text('{"version": 1}')
    assert scores_in(read_scores(tmp_path, metric="match")) == WANTED


def test_what_the_tool_writes_now_is_read(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("inspect_ai")
        made.write(tmp_path)
    assert scores_in(read_scores([tmp_path / "one.eval", tmp_path / "two.json"], metric="match")) == WANTED


def test_several_scorers_are_listed_for_a_choice() -> None:
    with pytest.raises(RedelveError, match=r"several scores \(match, length, rubric/style, rubric/facts\)"):
        read_scores(ONE)
    with pytest.raises(RedelveError, match=r'no score "macth".*did you mean "match"'):
        read_scores(ONE, metric="macth")
    table = read_scores(ONE, metric="rubric/style", higher_is_better=True)
    assert set(table.frame["score"]) == {1.0}


def test_numbers_do_not_tell_which_is_better() -> None:
    with pytest.raises(RedelveError, match="higher or a lower length is better"):
        read_scores(ONE, metric="length")


def test_groups_are_a_field_of_the_metadata() -> None:
    table = read_scores(ONE, metric="match", columns={"group": "passage"})
    assert set(zip(table.frame["case"], table.frame["group"], strict=True)) == {
        ("q0", "p0"),
        ("q1", "p0"),
        ("q2", "p1"),
        ("q3", "p1"),
    }
    with pytest.raises(RedelveError, match='no "book" in its metadata: it has passage'):
        read_scores(ONE, metric="match", columns={"group": "book"})


def test_the_cluster_of_the_log_itself_is_taken(tmp_path: Path) -> None:
    def cluster(whole: Any) -> None:
        whole["eval"]["scorers"] = [
            {"name": "match", "metrics": [{"name": "stderr", "options": {"cluster": "passage"}}]}
        ]

    table = read_scores(changed(tmp_path, cluster), metric="match")
    assert set(table.frame["group"]) == {"p0", "p1"}


def test_logs_that_did_not_end_well_are_refused_or_noted() -> None:
    with pytest.raises(RedelveError, match=r'cancelled\.eval has the status "cancelled" and 8 samples'):
        read_scores(CANCELLED, metric="match")
    table = read_scores(CANCELLED, metric="match", unfinished=True)
    assert any("did not end well" in note for note in table.notes)
    assert len(table.frame) == 8


def test_a_log_under_way_has_a_journal_only(tmp_path: Path) -> None:
    path = tmp_path / "running.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        whole = json.loads(TWO.read_text())
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": whole["eval"], "plan": {}}))
        archive.writestr("_journal/summaries/2.json", json.dumps(whole["samples"][3:5]))
        archive.writestr("_journal/summaries/10.json", json.dumps(whole["samples"][4:6]))
    with pytest.raises(RedelveError, match='status "started" and 3 samples'):
        read_scores(path, metric="match")
    assert len(read_scores(path, metric="match", unfinished=True).frame) == 3


def test_samples_that_failed_have_no_score(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda whole: whole["samples"][0].update(scores=None, error={"message": "boom"}))
    table = read_scores(path, metric="match")
    assert table.frame["score"].isna().sum() == 1


def test_two_logs_with_the_same_settings_are_more_epochs(tmp_path: Path) -> None:
    again = shutil.copy(TWO, tmp_path / "again.json")
    table = read_scores([TWO, again], metric="match")
    assert sorted(set(table.frame["run"])) == [1, 2, 3, 4]
    other = changed(tmp_path, lambda whole: whole["eval"].update(model_args={"temperature": 1}), "other.json")
    with pytest.raises(RedelveError, match=r"other\.json is another log of .* with other settings"):
        read_scores([TWO, other], metric="match")


def test_costs_are_those_the_log_knows(tmp_path: Path) -> None:
    def costly(whole: Any) -> None:
        for sample in whole["samples"]:
            sample["model_usage"] = {"a": {"total_cost": 0.25}, "b": {"total_cost": 0.5}}

    assert set(read_scores(changed(tmp_path, costly), metric="match").frame["cost"]) == {0.75}
    assert "cost" not in read_scores(TWO, metric="match").frame.columns


# Damage


def cut(folder: Path) -> Path:
    path = folder / "cut.eval"
    path.write_bytes(ONE.read_bytes()[:900])
    return path


def longer_than_said(folder: Path) -> Path:
    data = ONE.read_bytes()
    size = {one.filename: one for one in zipfile.ZipFile(io.BytesIO(data)).infolist()}[
        "summaries.json"
    ].file_size
    place = data.rindex(size.to_bytes(4, "little"), 0, data.rindex(b"summaries.json"))
    path = folder / "bomb.eval"
    path.write_bytes(data[:place] + (7).to_bytes(4, "little") + data[place + 4 :])
    return path


def without_header(folder: Path) -> Path:
    path = folder / "other.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil.json", "{}")
    return path


def overwritten(folder: Path) -> Path:
    data = bytearray(ONE.read_bytes())
    with zipfile.ZipFile(ONE) as archive:
        at = archive.getinfo("summaries.json").header_offset
    data[at + 60 : at + 90] = bytes(30)
    path = folder / "damaged.eval"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut, "no whole zip file"),
        (longer_than_said, "summaries.json is not as long as the zip file says"),
        (without_header, "no header.json"),
        (overwritten, "damaged"),
        (lambda folder: changed(folder, lambda whole: whole.pop("eval")), "it has no eval"),
        (lambda folder: changed(folder, lambda whole: whole.update(samples=[1])), "not a list of objects"),
        (lambda folder: changed(folder, lambda whole: whole.update(samples=None)), "has no samples"),
        (lambda folder: changed(folder, lambda whole: whole["eval"].pop("model")), "which model"),
        (lambda folder: changed(folder, lambda whole: whole.update(invalidated=True)), '"invalidated"'),
        (
            lambda folder: changed(
                folder, lambda whole: whole["samples"][1]["scores"]["match"].update(value="Z")
            ),
            "sample \"q1\" is 'Z'",
        ),
    ],
)
def test_damaged_logs_get_one_sentence(tmp_path: Path, damage: Any, told: str) -> None:
    with pytest.raises(RedelveError, match=told):
        read_scores(damage(tmp_path), metric="match", reader="inspect")


def test_an_entry_larger_than_any_log_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_logs, "LARGEST_ENTRY", 100)
    with pytest.raises(RedelveError, match="too many for a log"):
        read_scores(ONE, metric="match")
