"""redelve study hamey from the command line."""

from pathlib import Path

import pytest

from redelve.cli.main import main as redelve
from redelve.cli.training_time import study_hamey as main
from redelve.cli.training_time import training_time


def test_a_table_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--table", "1", "--problem", "xor", "--trials", "300", "--limit", "200"]
    assert main([*options, "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "300 trials of at most 200 epochs" in out
    assert "17.1 ± 0.3" in out
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"study.txt", "study.html", "table-1.csv", "table-1.md", "times-xor.csv"}
    assert "exclusive-or 2-2-1" in (tmp_path / "study.html").read_text(encoding="utf-8")


def test_times_that_are_written_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["-t", "1", "-p", "xor", "-n", "200", "-T", "150", "-o", str(tmp_path)])
    first = capsys.readouterr().out
    assert training_time([str(tmp_path / "times-xor.csv")]) == 0
    second = capsys.readouterr().out
    assert "200 trials" in second
    rate = next(line.split()[-3:] for line in second.splitlines() if "success rate" in line)
    assert " ".join(rate) in first


def test_without_choice_both_problems_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert redelve(["study", "hamey", "-n", "20", "-T", "300"]) == 0
    out = capsys.readouterr().out
    assert "exclusive-or 2-2-1" in out
    assert "encoder/decoder 10-5-10" in out


def test_any_problem_can_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "-p",
        "parity-2",
        "-r",
        "1.4",
        "-a",
        "0.65",
        "-e",
        "7",
        "-T",
        "200",
        "-n",
        "50",
        "-m",
        "descending-epsilon",
    ]
    assert main(words) == 0
    assert "parity of 2 2-2-1, descending-epsilon" in capsys.readouterr().out


@pytest.mark.slow
def test_the_figures_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--figures", "-n", "100", "-o", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Figure 1\nback-propagation: 100 trials" in out
    assert {f"figure-{number}.png" for number in (1, 2, 3)} <= {file.name for file in tmp_path.iterdir()}
    assert not (tmp_path / "table-1.csv").exists()


def test_the_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--search",
        "xor",
        "-r",
        "1.4",
        "-a",
        "0.5,0.65",
        "-e",
        "6,7",
        "-k",
        "20",
        "-T",
        "60",
        "-n",
        "50",
    ]
    assert main([*words, "-o", str(tmp_path)]) == 0
    assert "4 settings, 80 trials" in capsys.readouterr().out
    assert (tmp_path / "search.csv").read_text(encoding="utf-8").startswith("r,momentum,rate")


@pytest.mark.torch
def test_seed_and_backend_are_heard(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    texts = []
    for more in ([], ["-S", "1"], ["-b", "torch"]):
        assert main(["-p", "xor", "-n", "60", "-T", "80", *more]) == 0
        texts.append([line for line in capsys.readouterr().out.splitlines() if "trained in" not in line])
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("--table 2", 2, 'there is no table "2": the paper has table 1'),
        ("--figures", 2, "figures need a folder: give it with -o"),
        ("-p parity-3", 2, "parity-3 is not in table 1: give -r, -a, -e and -T"),
        ("-p parity-3 -r 1 -a 0 -e 1", 2, "-T is missing"),
        ("-p xor -r 1,2", 2, "give one value each of -r, -a and -e"),
        ("-n many", 2, '-n must be a whole number: got "many"'),
        ("-e fast", 2, '-e must be a number, or several with commas: got "fast"'),
        ("-p xnor", 1, 'unknown problem "xnor"'),
        ("-p xor -m rprop", 1, 'algorithm "rprop": known are'),
        ("-p xor -n 4 -T 3", 1, "all 4 trials failed"),
        ("-p xor -d cuda -b numpy", 1, 'device "cuda" with backend "numpy"'),
        ("--search xor -T 2", 1, "xor: no trial succeeded in 2 epochs"),
    ],
)
def test_wrong_calls(words: str, code: int, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == code
    assert message in capsys.readouterr().err
