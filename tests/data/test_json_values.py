"""JSON that nobody vouches for: every way of being wrong is one kind of error, and halves of characters."""

import json
from pathlib import Path

import pytest

from redelve.cli.main import main
from redelve.data.files import json_value
from redelve.errors import FormatError
from redelve.store.layout import read_document
from tests.fuzzing.inside import sealed

HALF = "x\ud800"


@pytest.mark.parametrize(
    "text", ["{", b"\xff", "[" * 200_000, '{"a":' * 200_000, "1" * 5000, '"\\ud800"', '{"\\uDFFF": 1}']
)
def test_what_is_no_json_or_cannot_be_written_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json_value(text)


def test_bytes_of_half_a_character_are_no_utf8() -> None:
    assert json.loads(b'"\xed\xa0\x80"') == "\ud800"  # as Python reads it
    with pytest.raises(ValueError, match="utf-8"):
        json_value(b'"\xed\xa0\x80"')


def test_whole_characters_and_what_only_looks_like_halves_stay() -> None:
    for text in ("😀", "é", "\\ud800", "\uffff"):
        assert json_value(json.dumps([text])) == [text]
        assert json_value(json.dumps([text]), is_mended=True) == [text]


@pytest.mark.parametrize("where", ["model", "case", "group"])
def test_scores_with_half_a_character_are_compared_and_kept(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Logs of language models have them where an answer was cut off."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"model": model, "case": f"q{k}", "score": k % 3 / 3, "group": f"g{k // 3}"}
        for model in "ab"
        for k in range(30)
    ]
    changed = [{**row, where: f"{row[where]}\ud800"} for row in rows]
    Path("s.json").write_text(json.dumps(changed))
    words = ["compare", "s.json", "-H", "-S", "group", "-a", "kept", "-o", "new.html"]
    assert main(words) == 0, capsys.readouterr().err
    assert main(["archive", "verify", "kept"]) == 0


def test_a_document_of_an_archive_has_no_halves(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(sealed({"name": HALF})))
    with pytest.raises(FormatError, match=r"half a character, \\ud800, in a text"):
        read_document(path)
