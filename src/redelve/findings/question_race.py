"""Race models over questions: `race` asks a function for answers, or replays scores that are there."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from redelve.data.files import no_such, read_text
from redelve.data.scores.case_grid import CaseGrid, empty_answers_told, grid_of
from redelve.data.scores.frame_files import frame_of_file
from redelve.data.scores.score_columns import ColumnNames
from redelve.data.scores.score_files import ScoresLike, read_scores, two_numbers
from redelve.data.scores.score_table import ScoreTable, checked
from redelve.errors import LocationError, SpecError
from redelve.findings.elimination import (
    BATCH,
    LEVEL,
    Call,
    QuestionPool,
    QuestionRace,
    QuestionRules,
    as_far_as,
    still_to_do,
)
from redelve.findings.margin import UnitsOfScore
from redelve.registry import is_iterable, named_options, value_told

Answering = Callable[[list[Call]], Mapping[Call, float] | Sequence[float]]
"""Given (model, question) for each answer wanted, returns their scores: in the same order, or by name."""
QuestionsLike = str | os.PathLike[str] | Iterable[Hashable] | Mapping[Hashable, Hashable]
"""Names of questions, the group of each, or a file with a column `case` and perhaps `group`."""
GROWING = (".csv", ".tsv", ".jsonl")
"""Files to which a line is added for each answer."""


@named_options
def race(  # noqa: PLR0913  (options of a public function are explicit)
    answers: Answering | ScoresLike,
    *,
    models: Iterable[str] | None = None,
    questions: QuestionsLike | None = None,
    margin: UnitsOfScore | None = None,
    level: float = LEVEL,
    batch: int = BATCH,
    last_look: bool = True,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    higher_is_better: bool | None = None,
    limits: tuple[float, float] | None = None,
    reader: str | None = None,
) -> QuestionRace:
    """Find the best of several models with as few answers as that takes.

    All models answer a batch of questions; those that are shown not to be the best drop out; and so on, until
    one is left, or all that are left are equivalent within the margin, or no question is left.

    Parameters
    ----------
    answers
        A function that is given a list of (model, question) and returns the scores, in the same order or as a
        dictionary; or scores that are there already, complete or growing: a file, a frame, rows (see
        docs/bring-results.md).
    models
        The models that take part; by default all that the scores have.
    questions
        All questions that may be asked: their names, a dictionary with the group of each, or a file with a
        column `case` and perhaps `group` or `weight`. Needed where scores are growing. By default all cases
        of the scores, but for those that a model still in the race lacks.
    margin
        The difference that does not matter, in units of the score. Without one, equal models stay open.
    level
        The chance that anything false is said.
    batch
        How many questions (or groups of them) are answered between two looks.
    last_look
        Whether, once all questions are answered, a test of right and wrong answers gets half of the level.
    seed
        Which random order the questions are asked in.
    columns
        Which column of the scores is what, such as {"score": "accuracy"}.
    higher_is_better
        Whether a higher score is better; needed where the name of the score does not tell.
    limits
        The lowest and the highest score there can be; 0 and 1 where a function answers.
    reader
        The tool that wrote the files, where that cannot be told.

    Returns
    -------
    QuestionRace
        The race as far as it went: `verdict` ("best", "equivalent" or "open"), `left`, `dropped`, `calls`,
        and `missing`, the answers to get next where scores are growing. `str` tells it in words.

    Notes
    -----
    The chance of anything false is at most `level` however often one looks: bets of Waudby-Smith and Ramdas
    (2024), closed testing by averages after Vovk and Wang (2021). Models, questions, batch and seed must be
    the same each time that growing scores are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from redelve.findings.question_race import race
    >>> chances, rng = {"large": 0.8, "small": 0.6, "old": 0.5}, np.random.default_rng(1)
    >>> def ask(calls):
    ...     return [float(rng.random() < chances[model]) for model, question in calls]
    >>> found = race(ask, models=chances, questions=range(2000))
    >>> found.verdict, found.left
    ('best', ('large',))
    """
    if isinstance(margin, str):
        raise SpecError(f"a margin is a number in units of the score, such as 0.01, not {value_told(margin)}")
    options = _Options(margin, level, batch, last_look, seed)
    if callable(answers):
        return _asking(
            answers, models, questions, options, higher_is_better is False, two_numbers(limits or (0, 1))
        )
    if models is not None and questions is not None and _has_no_rows(answers):
        return _unanswered(models, questions, options, two_numbers(limits or (0, 1)))
    table = read_scores(
        answers,
        columns=columns,
        higher_is_better=higher_is_better,
        limits=limits,
        reader=reader,
        choosing="name those that are (as in models=…, on the command line --models)",
    )
    return _replayed(grid_of(table), models, questions, options)


@dataclass(frozen=True)
class _Options:
    """How to race, as it was asked for; the margin in units of the score."""

    margin: float | None
    level: float
    batch: int
    last_look: bool
    seed: int

    def rules(self, models: Iterable[str], pool: QuestionPool, limits: tuple[float, float]) -> QuestionRules:
        """The rules for these models and questions."""
        margin = None if self.margin is None else self.margin / abs(limits[1] - limits[0])
        has_last = self.last_look and pool.are_equal
        return QuestionRules(tuple(map(str, models)), pool, margin, self.level, self.batch, has_last, limits)


def _asking(
    answers: Answering,
    models: Iterable[str] | None,
    questions: QuestionsLike | None,
    options: _Options,
    is_lower_better: bool,
    limits: tuple[float, float],
) -> QuestionRace:
    """The race in which a function answers."""
    if models is None or questions is None:
        lacking = "models" if models is None else "questions"
        raise SpecError(f"a race that asks a function must know all {lacking} beforehand: give {lacking}=…")
    groups, weights = groups_of(questions)
    worst, best = limits[::-1] if is_lower_better else limits
    pool = QuestionPool.drawn(groups, options.seed, weights)
    running = QuestionRace.start(options.rules(models, pool, (worst, best)))
    while not running.is_over:
        calls = running.next_batch()
        scores = _answered(calls, answers(list(calls)))
        running = running.taking({call: (score - worst) / (best - worst) for call, score in scores.items()})
    return running


def _answered(calls: Sequence[Call], given: Any) -> dict[Call, float]:
    """The scores that a function returned, by what was asked."""
    if isinstance(given, Mapping):
        lacking = [call for call in calls if call not in given]
        if lacking:
            raise SpecError(f"the function returned no score for {lacking[0]!r} ({len(lacking)} such)")
        scores = [given[call] for call in calls]
    else:
        if not is_iterable(given):
            raise SpecError(f"the function returned {value_told(given)}: return a score for each question")
        scores = list(given)
        if len(scores) != len(calls):
            raise SpecError(
                f"the function returned {len(scores)} scores for {len(calls)} questions: return one for each"
            )
    try:
        found = {call: float(score) for call, score in zip(calls, scores, strict=True)}
    except (TypeError, ValueError):
        raise SpecError(f"the function must return numbers, not {scores[0]!r}") from None
    strange = next((call for call, score in found.items() if not np.isfinite(score)), None)
    if strange is not None:
        raise SpecError(
            f"the function returned {found[strange]} for {value_told(strange)}: give a number; a failed "
            "answer has the worst score"
        )
    return found


def _has_no_rows(answers: object) -> bool:
    """Whether this is a file that answers will be written to: nothing is in it, or the header alone."""
    path = Path(answers) if isinstance(answers, str | os.PathLike) else None
    if path is None or path.suffix.lower() not in GROWING or not path.is_file():
        return False
    with path.open("rb") as lines:
        filled = sum(1 for line in islice(lines, 3) if line.strip())
    return filled <= (0 if path.suffix.lower() == ".jsonl" else 1)


def _unanswered(
    models: Iterable[str], questions: QuestionsLike, options: _Options, limits: tuple[float, float]
) -> QuestionRace:
    """The race before the first answer: which ones to get."""
    groups, weights = groups_of(questions)
    units: dict[Hashable, Hashable] = {_as_case(name): _as_case(unit) for name, unit in groups.items()}
    running = QuestionRace.start(
        options.rules(models, QuestionPool.drawn(units, options.seed, weights), limits)
    )
    return replace(running, missing=still_to_do(running, {}))


def _replayed(
    grid: CaseGrid,
    models: Iterable[str] | None,
    questions: QuestionsLike | None,
    options: _Options,
) -> QuestionRace:
    """The race as far as scores that are there let it go."""
    notes = grid.notes
    groups: Mapping[Hashable, Hashable] = dict(zip(grid.cases, grid.units, strict=True))
    weights: Mapping[Hashable, float] | None = dict(zip(grid.cases, grid.weights.tolist(), strict=True))
    if questions is not None:
        known = groups
        groups, weights = groups_of(questions)
        groups = {_as_case(name): _as_case(unit) for name, unit in groups.items()}
        _check_groups(grid, known, groups)
        extra = sum(case not in groups for case in known)
        notes += (f"{extra} cases are no questions of the race and are not looked at",) if extra else ()
    elif models is not None:
        models = tuple(models)
        for name in models:
            grid.row(name)
    pool = QuestionPool.drawn(groups, options.seed, weights)
    assert grid.limits is not None
    rules = options.rules(grid.models if models is None else models, pool, grid.limits)
    if rules.has_last_look and not grid.is_binary:
        rules = replace(rules, has_last_look=False)
    there = [name for name in rules.models if name in grid.models]
    notes += tuple(empty_answers_told({name: grid.empty_answers(name) for name in there}))
    scores = GridScores(grid)
    found = as_far_as(QuestionRace.start(rules), scores, skips=questions is None)
    left_out = pool.size - found.rules.pool.size
    if left_out:
        notes += (f"{left_out:,} of {pool.size:,} cases are left out: {_why_out(found.lacking, left_out)}",)
    if not found.rules.pool.units:
        raise SpecError(
            f"{grid.source}: no case has a score of every model, so there is nothing to race over"
        )
    return replace(found, missing=still_to_do(found, scores), notes=notes)


def _why_out(lacking: int, left_out: int) -> str:
    """Why cases are not asked: a model lacks them, or another one of their group."""
    if lacking == left_out:
        return "a model still in the race lacks them"
    return f"a model still in the race lacks {lacking:,} of them, the others are of the same groups"


def _as_case(name: Hashable) -> Hashable:
    """A question's name as scores have it: text."""
    return (str(name[0]), str(name[1])) if isinstance(name, tuple) and len(name) == 2 else str(name)


def _check_groups(
    grid: CaseGrid, known: Mapping[Hashable, Hashable], groups: Mapping[Hashable, Hashable]
) -> None:
    """Groups that the scores have must be those of the questions: the order is drawn by them."""
    for case, unit in known.items():
        if case in groups and grid.has_clusters and groups[case] != unit:
            raise SpecError(
                f"{grid.source} says that case {value_told(case)} belongs to {value_told(unit)}, "
                f"the questions say {value_told(groups[case])}: give the questions with their groups"
            )


@dataclass(frozen=True)
class GridScores(Mapping[Call, float]):
    """The scores of a grid by model and question."""

    grid: CaseGrid

    @cached_property
    def _places(self) -> tuple[dict[str, int], dict[Hashable, int]]:
        models = {name: place for place, name in enumerate(self.grid.models)}
        return models, {case: place for place, case in enumerate(self.grid.cases)}

    def __getitem__(self, call: Call) -> float:
        models, cases = self._places
        score = float(self.grid.scores[models[call[0]], cases[call[1]]])
        if np.isnan(score):
            raise KeyError(call)
        return score

    def __iter__(self) -> Iterator[Call]:
        there = np.argwhere(~np.isnan(self.grid.scores))
        return ((self.grid.models[row], self.grid.cases[column]) for row, column in there)

    def __len__(self) -> int:
        return int((~np.isnan(self.grid.scores)).sum())


def groups_of(
    questions: QuestionsLike,
) -> tuple[dict[Hashable, Hashable], dict[Hashable, float] | None]:
    """The unit that each question belongs to, and what it weighs where that is said."""
    if isinstance(questions, str | os.PathLike):
        return _questions_in(questions)
    if isinstance(questions, Mapping):
        return dict(questions), None
    names = list(questions) if np.iterable(questions) else [[]]
    if not all(isinstance(one, Hashable) for one in names):
        told = f"questions={value_told(questions)}"
        raise SpecError(f"{told}: give the names of all questions, or a file with them")
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise SpecError(f"question {value_told(again)} is there twice: each may be asked once")
    return {name: name for name in names}, None


def _questions_in(
    path: str | os.PathLike[str],
) -> tuple[dict[Hashable, Hashable], dict[Hashable, float] | None]:
    """The questions in a file: a name on every line, or a table as scores are, without them."""
    if Path(path).suffix.lower() == ".txt":
        lines = [line.strip() for line in read_text(Path(path)).splitlines()]
        return groups_of([line for line in lines if line])
    grid = grid_of(_question_table(Path(path)))
    weights: dict[Hashable, float] = dict(zip(grid.cases, grid.weights.tolist(), strict=True))
    return dict(zip(grid.cases, grid.units, strict=True)), weights if grid.is_weighted else None


def _question_table(path: Path) -> ScoreTable:
    """The cases in a file that has no scores yet, with their tasks, groups and weights, all scored 0."""
    if not os.path.exists(path):  # noqa: PTH110  (a name may be too long for pathlib)
        raise LocationError(f"{path}: {no_such(path, 'file or folder')}")
    frame = frame_of_file(path)
    there = [str(name) for name in frame.columns]
    roles = ("case", "task", "group", "weight")
    found = {role: ColumnNames({}).of(role, there, path.name) for role in roles}
    if found["case"] is None:
        told = ", ".join(there)
        raise SpecError(f'{path.name} has no column "case" with the names of the questions: it has {told}')
    taken = {role: name for role, name in found.items() if name is not None}
    kept = frame.set_axis(there, axis=1)[[*taken.values()]].set_axis([*taken], axis=1)
    kept = kept.assign(model="question", score=0.0)
    return checked(ScoreTable(path.name, kept, higher_is_better=True, limits=(0.0, 1.0)))
