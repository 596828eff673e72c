"""Races over questions: asked of a function, replayed from tables, growing with a file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.calibration.question_races import Answers, QuestionRaces

from redelve.cli.main import main
from redelve.errors import RedelveError, SpecError
from redelve.findings.elimination import Call, QuestionPool, QuestionRace, QuestionRules
from redelve.findings.question_race import race
from redelve.findings.race_sentences import about
from redelve.seeds import generator
from redelve.stats.betting import last_look

RIGHT = {"good": 0.85, "fair": 0.7, "poor": 0.4}
RESULTS = Path(os.environ.get("REDELVE_RESULTS", Path(__file__).parents[2] / ".." / "shared/data/results"))
MMLU = RESULTS / "mmlu-pro-29-models.parquet"


def is_right(model: str, question: Hashable) -> float:
    """Whether a model has a question right: always the same."""
    return float(generator("answers", model, str(question)).random() < RIGHT[model])


def ask(calls: Sequence[Call]) -> list[float]:
    return [is_right(model, question) for model, question in calls]


def table(questions: int = 400, **changed: Any) -> pd.DataFrame:
    rows = [(model, f"q{i}", is_right(model, f"q{i}")) for model in RIGHT for i in range(questions)]
    return pd.DataFrame(rows, columns=["model", "case", "score"]).assign(**changed)


def test_a_function_is_asked_until_the_best_is_known() -> None:
    asked: list[Call] = []

    def noting(calls: list[Call]) -> list[float]:
        asked.extend(calls)
        return ask(calls)

    found = race(noting, models=RIGHT, questions=range(2000))
    assert (found.verdict, found.left) == ("best", ("good",))
    assert found.calls == len(asked) == len(set(asked)) < 6000
    assert set(found.dropped) == {"fair", "poor"}
    after = [model for model, _ in asked].count("poor")
    assert found.dropped_after["poor"] == after
    assert found.next_batch() == ()


def test_scores_may_come_as_a_dictionary() -> None:
    by_name = race(
        lambda calls: dict(zip(calls, ask(calls), strict=True)), models=RIGHT, questions=range(2000)
    )
    in_order = race(ask, models=RIGHT, questions=range(2000))
    assert by_name.dropped_after == in_order.dropped_after


def test_a_table_replayed_says_what_the_function_said() -> None:
    asked = race(ask, models=RIGHT, questions=[f"q{i}" for i in range(400)])
    replayed = race(table())
    assert replayed.dropped_after == asked.dropped_after
    assert replayed.calls == asked.calls
    assert replayed.missing == ()


def test_the_order_of_rows_does_not_matter_and_the_seed_does() -> None:
    shuffled = table().sample(frac=1, random_state=3)
    assert race(shuffled).dropped_after == race(table()).dropped_after
    units = [QuestionPool.drawn({i: i for i in range(50)}, seed).units for seed in (0, 0, 1)]
    assert units[0] == units[1] != units[2]


def test_wide_tables_and_losses_are_raced_alike() -> None:
    long = race(table())
    wide = table().pivot_table(index="case", columns="model", values="score").reset_index()
    assert race(wide, higher_is_better=True).dropped_after == long.dropped_after
    losses = table().assign(score=lambda frame: 1 - frame["score"]).rename(columns={"score": "loss"})
    assert race(losses).dropped_after == long.dropped_after
    marks = table().assign(score=lambda frame: 10 * frame["score"])
    assert race(marks, limits=(0, 10)).dropped_after == long.dropped_after


def test_a_margin_is_in_units_of_the_score() -> None:
    same = pd.concat([table(600).query("model == 'fair'").assign(model=name) for name in ("a", "b")])
    assert race(same, margin=0.1).verdict == "equivalent"
    tens = same.assign(score=10 * same["score"])
    found = race(tens, margin=1, limits=(0, 10))
    assert found.verdict == "equivalent"
    assert found.calls == race(same, margin=0.1).calls
    assert "are equivalent within 1 (95 % confidence)" in str(found)
    assert race(same).verdict == "open"


def test_the_race_is_what_the_simulations_run() -> None:
    """Stream by stream, the same models stay as in the calibration's vectorised races."""
    scores = Answers((0.7, 0.62, 0.6, 0.5)).draw(12, 300, np.random.default_rng(5))
    found = QuestionRaces(Answers((0.7, 0.62, 0.6, 0.5)), 300, amount=0.05)._run(scores)
    for stream, stays, calls in zip(scores, found.stays, found.calls, strict=True):
        rules = QuestionRules(tuple("abcd"), QuestionPool.of_units([(i,) for i in range(300)]), margin=0.05)
        one = QuestionRace.start(rules)
        while not one.is_over:
            one = one.taking({(m, q): stream["abcd".index(m), q] for m, q in one.next_batch()})
        assert set(one.left) == {name for name, is_in in zip("abcd", stays, strict=True) if is_in}
        assert one.calls == pytest.approx(calls * 4 * 300)


def test_the_last_look_settles_what_the_looks_left_open() -> None:
    near = [(m, f"q{i}", float(i % 20 < n)) for m, n in (("a", 14), ("b", 13)) for i in range(180)]
    frame = pd.DataFrame(near, columns=["model", "case", "score"])
    assert race(frame, last_look=False).verdict == "open"
    found = race(frame)
    assert found.verdict == "best"
    assert found.dropped_after == {"b": 180}
    assert not last_look(np.array([[0.0, 9.0], [0.0, 0.0]]), np.ones(2, dtype=bool), 0.025)[1]


def test_clusters_are_asked_whole_and_count_as_one() -> None:
    groups = {f"q{i}": f"g{i // 4}" for i in range(400)}
    asked: list[Call] = []

    def noting(calls: list[Call]) -> list[float]:
        asked.extend(calls)
        return [is_right(model, groups[str(question)]) for model, question in calls]

    found = race(noting, models=RIGHT, questions=groups, batch=5)
    assert not found.rules.has_last_look
    first = [question for model, question in asked[: 5 * 4 * 3] if model == "good"]
    assert len({groups[str(one)] for one in first}) == 5
    by_group = race(ask, models=RIGHT, questions=set(groups.values()), batch=5, last_look=False)
    assert found.units_seen == by_group.units_seen
    assert found.dropped_after == {name: 4 * after for name, after in by_group.dropped_after.items()}


def test_repeated_answers_are_averaged() -> None:
    twice = pd.concat([table().assign(run=run) for run in (1, 2)])
    assert race(twice).dropped_after == race(table()).dropped_after


def test_mean_scores_are_shown_as_they_were_given() -> None:
    found = race(
        table().assign(score=lambda frame: 100 * (1 - frame["score"])),
        higher_is_better=False,
        limits=(0, 100),
    )
    (name,) = found.left
    first = [unit[0] for unit in found.rules.pool.units[: found.units_seen]]
    wanted = 100 * np.mean([1 - is_right(name, one) for one in first])
    assert found.mean_score(name) == pytest.approx(wanted)
    poor = first[: found.dropped_after["poor"]]
    assert found.mean_score("poor") == pytest.approx(100 * np.mean([1 - is_right("poor", q) for q in poor]))


def test_answers_that_are_missing_are_skipped_where_no_questions_are_declared() -> None:
    first = race(table(), batch=5).rules.pool.units[:8]
    frame = table().query(f"not (model == 'poor' and case in {[first[1][0], first[6][0]]})")
    found = race(frame, batch=5)
    assert found.verdict == "best"
    assert found.rules.pool.units[:6] == tuple(first[place] for place in (0, 2, 3, 4, 5, 7))
    assert "2 of 400 cases are left out" in found.notes[-1]
    with pytest.raises(SpecError, match="no case has a score of every model"):
        race(pd.DataFrame({"model": ["a", "b"], "case": [1, 2], "score": [1, 0]}))


def test_cases_left_out_with_their_group_are_told_apart_from_those_lacked() -> None:
    frame = table(120).assign(group=lambda one: one["case"].str[1:].astype(int) // 4)
    found = race(frame.query("not (model == 'good' and case in ['q0', 'q1', 'q4'])"), batch=5)
    assert found.notes[-1] == (
        "8 of 120 cases are left out: a model still in the race lacks 3 of them, the others are of the same "
        "groups"
    )


def test_models_that_drop_out_at_the_same_look_have_one_number() -> None:
    found = race(ask, models=RIGHT, questions=range(400))
    assert len(found.dropped) == 2
    together = replace(found, dropped_after=dict.fromkeys(found.dropped, 75))
    assert "shown not to be the best, after 75 questions." in str(together)


def test_a_wide_table_is_told_with_options_that_the_race_has() -> None:
    wide = table().pivot(index="case", columns="model", values="score").reset_index()
    (note,) = [one for one in race(wide, higher_is_better=True).notes if "wide table" in one]
    assert note.endswith("name those that are (as in models=…, on the command line --models) or remove it")
    with pytest.raises(SpecError, match=r"have only 0 and 1: if it is no model, remove it$"):
        race(wide.assign(length=range(400)), higher_is_better=True)


def test_a_growing_file_is_followed_to_the_same_verdict(tmp_path: Path, capsys: Any) -> None:
    """A script that does what `next.csv` says until the command exits with 0."""
    names = [f"q{i}" for i in range(400)]
    (tmp_path / "questions.csv").write_text("case\n" + "\n".join(names) + "\n")
    scores, to_do = tmp_path / "scores.csv", tmp_path / "next.csv"
    words = ["race", str(scores), "-Q", str(tmp_path / "questions.csv"), "-m", ",".join(RIGHT)]
    scores.write_text(f"model,case,score\ngood,q0,{is_right('good', 'q0'):g}\n")
    rounds = 0
    while (code := main([*words, "-n", str(to_do)])) == 2:
        assert "Next: " in capsys.readouterr().out
        calls = pd.read_csv(to_do)
        assert len(calls)
        with scores.open("a") as stream:
            for model, case in calls.itertuples(index=False):
                if (model, case) != ("good", "q0"):
                    stream.write(f"{model},{case},{is_right(model, case):g}\n")
        rounds += 1
    assert code == 0
    assert rounds > 2
    assert "it is settled: good is the best of 3 models" in capsys.readouterr().out
    whole = race(table())
    assert len(pd.read_csv(scores)) in (whole.calls, whole.calls + 1)
    assert to_do.read_text() == "model,case\n"


def test_questions_in_a_text_file(tmp_path: Path) -> None:
    path = tmp_path / "questions.txt"
    path.write_text("\n".join(f"q{i}" for i in range(400)))
    found = race(table(500), questions=path)
    assert found.dropped_after == race(table()).dropped_after
    assert "100 cases are no questions of the race" in found.notes[-1]


ANSWERING = """import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    right = int(row["case"][1:]) % 10 < {"a": 8, "b": 8, "c": 1}[row["model"]]
    print(row["model"], row["case"], int(right), sep=",")
"""


def test_the_loop_of_the_page_begins_without_answers_and_ends_where_it_stays_open(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "gate-and-race.md").read_text()
    loop = re.search(r"\n    echo model,case,score > scores.csv\n.*?    done\n", page, flags=re.DOTALL)
    assert loop is not None
    command = (
        f'redelve() {{ "{sys.executable}" -m redelve "$@"; }}; python() {{ "{sys.executable}" "$@"; }}\n'
    )
    (tmp_path / "answer.py").write_text(ANSWERING)
    (tmp_path / "questions.csv").write_text("case\n" + "".join(f"q{i}\n" for i in range(60)))
    found = subprocess.run(
        ["sh", "-c", command + loop[0]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert found.stdout.startswith("After 0 of 60 questions and 0 scores")
    assert "After 60 of 60 questions" in found.stdout
    assert found.stdout.splitlines()[-1].startswith(("c was shown", "Note"))
    assert not found.stderr
    assert len((tmp_path / "next.csv").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "text"), [("new.csv", ""), ("new.csv", "model,case,score\n"), ("new.jsonl", "")]
)
def test_before_the_first_answer_the_first_ones_are_told(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    questions = [f"q{i}" for i in range(400)]
    found = race(tmp_path / name, models=RIGHT, questions=questions)
    assert (found.verdict, found.calls) == ("open", 0)
    first = race(table().head(1), models=RIGHT, questions=questions).missing
    assert set(first) <= set(found.missing)
    assert len(found.missing) == 25 * len(RIGHT)
    with pytest.raises(RedelveError, match=r"there are no rows|is empty"):
        race(tmp_path / name)


def test_cases_of_several_tasks_are_said_to_be_taken_together() -> None:
    rows = [
        {"model": model, "task": task, "case": case, "score": int(case % 3 > 0)}
        for model in "ab"
        for task in ("law", "math")
        for case in range(20)
    ]
    told = "Note: cases of 2 tasks are taken together: this is about new cases of these tasks."
    assert told in str(race(rows))


def test_limits_are_needed_and_none_is_no_answer() -> None:
    with pytest.raises(SpecError, match=r"scores go from 0 to 7.*--limits 0,100\)$"):
        race(table(50).assign(score=lambda frame: 7 * frame["score"]))


def test_an_open_race_tells_how_many_more_questions_would_settle_it() -> None:
    """As many as told, when the difference seen is the true one: a race over so many is mostly settled."""
    rows = [(m, i, float(i % 20 < n)) for m, n in (("a", 15), ("b", 13)) for i in range(80)]
    wins = [(m, 100 + i, float((m == "b") == (i < 10))) for m in "ab" for i in range(20)]
    seen = pd.DataFrame([*rows, *wins], columns=["model", "case", "score"])
    found = race(seen)
    assert found.verdict == "open"
    assert found.needed is not None
    assert f"about {about(found.needed)} more questions would settle it" in str(found)
    times = 1 + round(found.needed / len(seen["case"].unique()))
    assert 2 < times < 50
    more = pd.concat([seen.assign(case=seen["case"] + 1000 * time) for time in range(times)])
    settled = [race(more, seed=seed, last_look=False).verdict for seed in range(10)]
    assert settled.count("best") >= 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("means", "questions"), [((0.55, 0.5), 200), ((0.6, 0.5), 100), ((0.6, 0.5, 0.5), 100)]
)
def test_as_many_questions_as_told_settle_most_open_races(means: tuple[float, ...], questions: int) -> None:
    """A fresh race over so many questions: 57 to 87 % of them are settled (docs/gate-and-race.md)."""
    rng, settled = np.random.default_rng(3), []
    for _ in range(60):
        needed = played(Answers(means).draw(1, questions, rng)[0]).needed
        if needed is not None and needed < 6000:
            fresh = played(Answers(means).draw(1, questions + needed, rng)[0])
            settled.append(fresh.left == ("a",))
    assert len(settled) > 30
    assert 0.45 < np.mean(settled) < 0.97


def test_limits_that_are_far_beyond_the_scores_do_not_swamp_the_advice() -> None:
    """Differences are small against what they could be; a race over as many as told is mostly settled."""
    rng = np.random.default_rng(7)

    def drawn(questions: int) -> Any:
        hard = rng.normal(size=questions)
        return (np.array([1.5 * hard + 0.5, hard]) + rng.normal(size=(2, questions)) + 10) / 20

    told = [played(drawn(60)).needed for _ in range(20)]
    known = [one for one in told if one is not None]
    assert 100 < np.median(known) < 600  # 1,200 and more before
    settled = [played(drawn(60 + one)).verdict == "best" for one in known if one < 3000]
    assert np.mean(settled) > 0.6


def played(scores: Any) -> QuestionRace:
    """A race without a last look over scores[model, question]."""
    pool = QuestionPool.of_units([(place,) for place in range(scores.shape[1])])
    found = QuestionRace.start(QuestionRules(tuple("abcd"[: len(scores)]), pool, has_last_look=False))
    while not found.is_over:
        calls = found.next_batch()
        found = found.taking({(m, q): scores[found.models.index(m), q] for m, q in calls})
    return found


def test_questions_may_come_one_by_one() -> None:
    asked = race(ask, models=RIGHT, questions=(f"q{i}" for i in range(400)))
    assert str(asked) == str(race(ask, models=RIGHT, questions=[f"q{i}" for i in range(400)]))


def refused(words: str, **options: Any) -> None:
    with pytest.raises(SpecError, match=words):
        race(**{"answers": ask, "models": RIGHT, "questions": range(100), **options})


def test_what_cannot_be_raced_is_refused() -> None:
    refused("must know all questions beforehand", questions=None)
    refused("must know all models beforehand", models=None)
    refused("two models or more, not 1", models=["good"])
    refused('two models of the race are called "good"', models=["good", "good"])
    refused("a race needs questions", questions=[])
    refused("question 1 is there twice", questions=[1, 1])
    refused(r"questions=array\(5\.\): give the names of all questions", questions=np.array(5.0))
    refused(r"questions=5: give the names of all questions", questions=5)
    refused(r"questions=\[\[1\]\]: give the names of all questions", questions=[[1]])
    refused(r"models=array\(5\.\): race\(\) takes a list of texts", models=np.array(5.0))
    refused("a number in units of the score", margin="2%")
    refused('has no model "best": it has ', answers=table(10), models=["good", "best"], questions=None)
    refused("a margin is above 0", margin=-0.1)
    refused("a margin is above 0 and less", margin=2)
    refused("a level is between 0 and 1", level=5)
    refused("a batch has one question or more", batch=0)
    refused("returned 1 scores for 75 questions", answers=lambda calls: [1.0])
    refused("returned no score for", answers=lambda calls: {})
    refused("must return numbers, not 'C'", answers=lambda calls: ["C"] * len(calls))
    refused("has score 3 on question .* between 0 and 1", answers=lambda calls: [3] * len(calls))
    refused("returned nan for", answers=lambda calls: [float("nan")] * len(calls))


def test_groups_that_contradict_the_questions_are_refused() -> None:
    frame = table().assign(group=lambda one: one["case"].str[:2])
    with pytest.raises(SpecError, match="give the questions with their groups"):
        race(frame, questions=[f"q{i}" for i in range(400)])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["none.csv"], "none.csv: no such file or folder"),
        (["scores.csv", "-b", "x"], 'option "-b" needs a whole number above 0, not "x"'),
        (["scores.csv", "-l", "none"], "a race needs scores with limits"),
        (["scores.csv", "-H", "-L"], "--higher and --lower contradict each other"),
        (["scores.csv", "-Q", "none.csv"], "none.csv: no such file or folder"),
        (["scores.csv", "-Q", "scores.csv"], "is there twice"),
        (["scores.csv", "-s", "scor"], 'has no column "scor" for the score'),
        ([], "an argument is missing"),
    ],
)
def test_the_command_exits_with_3_where_there_is_no_verdict(
    words: list[str], said: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table(10).to_csv("scores.csv", index=False)
    assert main(["race", *words]) == 3
    assert said in capsys.readouterr().err


@pytest.mark.skipif(not MMLU.exists(), reason=f"{MMLU.name} is not there: set REDELVE_RESULTS")
def test_29_real_models_take_at_most_a_twentieth_of_the_calls() -> None:
    frame = pd.read_parquet(MMLU).drop(columns="category").dropna().reset_index(names="case")
    for seed in range(3):
        found = race(frame, higher_is_better=False, seed=seed)
        assert (found.verdict, found.left) == ("best", ("gemini-1.5-pro-002",))
        assert found.calls <= 0.05 * 29 * len(frame)
