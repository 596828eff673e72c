"""redelve compare: what it says of notes, of models that were chosen, and of options that make no sense."""

from __future__ import annotations

from pathlib import Path

import pytest

from redelve.cli.compare import compare


@pytest.fixture
def scores(tmp_path: Path) -> str:
    lines = ["question,mine,theirs", *(f"q{n},{int(n % 3 > 0)},{int(n % 2 > 0)}" for n in range(120))]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    return str(path)


def test_notes_and_choices_stand_below_the_results(scores: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare([scores, "--higher", "--note", "seen before", "--chosen-of", "mine=20"]) == 0
    text = capsys.readouterr().out
    assert "V029 what you say of the data: seen before" in text
    assert "mine was picked as the best of 20" in text
    assert "V024" not in text  # how it was read is on the page


@pytest.mark.parametrize("given", ["mine", "=3", "mine=many"])
def test_a_choice_is_a_model_and_a_number(
    scores: str, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    assert compare([scores, "--higher", "--chosen-of", given]) == 2
    assert "give model=n" in capsys.readouterr().err


def test_a_page_is_written(scores: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert compare([scores, "--higher", "--out", str(page)]) == 0
    assert "V024" in page.read_text()
    assert f"Report: {page}" in capsys.readouterr().out


def test_the_page_has_the_whole_command(scores: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert compare([scores, "--lower", "-o", str(page), "--note", "seen before"]) == 0
    assert f"redelve compare {scores} --lower -o {page} --note &#39;seen before&#39;" in page.read_text()


def test_the_text_tells_how_a_long_table_was_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{model},q{n},{(n + (model == 'b')) % 3},{n}" for model in "ab" for n in range(30)]
    (tmp_path / "long.csv").write_text("\n".join(["model,question,loss,length", *rows]))
    assert compare([str(tmp_path / "long.csv"), "--score", "loss"]) == 0
    assert capsys.readouterr().out.endswith(
        "How scores were read\n"
        "  long.csv: columns are read as model: model; case: question; score: loss; left out: length\n"
        "  a lower loss is taken to be better, by its name\n"
    )
