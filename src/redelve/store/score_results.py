"""Scores that were computed elsewhere, taken in as Results: models on cases, folds or training sets."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses import BroughtScore, score_code
from redelve.data.scores.score_table import OTHERS_HELD, SLICE, UNEVEN, ScoreTable
from redelve.errors import SpecError, StatisticsError, hint
from redelve.model import Scheme
from redelve.model.dataset import digest
from redelve.registry import value_told
from redelve.run.results import (
    ANSWERS,
    IMPORTED,
    InstanceFacts,
    Job,
    MethodFacts,
    Record,
    Results,
    TaskFacts,
)
from redelve.store.score_grids import (
    FEW_CASES,
    NamedPlaces,
    Places,
    ScoreGrid,
    completed,
    evened,
    named_places,
    rows_by,
    score_grid,
)

if TYPE_CHECKING:
    import pandas as pd

Missing = Literal["common", "worst"]
"""What becomes of cases that some model has no score on: left out for all, or the worst score there is."""
IN_ORDER, OF_SEARCH = "paired by their order", "candidates of a search"
"""What readers say where files name no cases, and of searches."""
READ, UNEQUAL, PROMPTS, SAID, CHOSEN, BY_ORDER = "V024", "V025", "V026", "V029", "V030", "V031"
"""The validity rules that tell what reading scores found."""
EXAMPLES = 3
ASIDE = (
    "and those of before are in its folder conflicts; to keep both, use another archive, or other names for "
    "the models or the task"
)


@dataclass(frozen=True)
class _Design:
    """How the rows of a task are instances: what is one, and which scheme they follow."""

    scheme: Scheme
    column: str | None = None


def results_of_scores(
    table: ScoreTable,
    *,
    missing: Missing = "common",
    name: str = "scores",
    pooled: bool = False,
    said: Sequence[str] = (),
    chosen_of: Mapping[str, int] | None = None,
) -> Results:
    """The results in a table of scores: a task for each of its tasks, or one of all where they are pooled.

    `said` is what the user says of the data, `chosen_of` of how many a model was picked as the best.
    """
    if missing not in get_args(Missing):
        raise SpecError(f'missing is "common" or "worst", not "{missing}"{hint(missing, get_args(Missing))}')
    if any(not text.strip() for text in said):
        raise SpecError("notes holds an empty text: say what you know of the data, or leave it out")
    loss = loss_of(table)
    models = named_places(table.frame, "model")
    frame = table.frame
    if pooled:
        if "task" not in frame.columns:
            raise SpecError(
                f"pooled takes all tasks together, and {table.source} has no column of tasks: leave it out, "
                'or name the column, as in task="benchmark" (on the command line --task benchmark)'
            )
        frame = frame.assign(**{f"{SLICE}task": frame["task"]}).drop(columns="task")
    tasks = named_places(frame, "task") if "task" in frame.columns else None
    parts: Mapping[str, Places | slice] = {name: slice(None)} if tasks is None else rows_by(tasks)
    found = [
        _task(table, loss, models, (_segment(key), frame.iloc[rows], models.places[rows]), missing)
        for key, rows in parts.items()
    ]
    methods = _methods(models, chosen_of or {})
    remarks = tuple(f"{SAID} {text}" for text in said)
    return Results(
        {facts.address: replace(facts, remarks=(*facts.remarks, *remarks)) for facts, _ in found},
        methods,
        tuple(record for facts, instances in found for record in _records(facts, instances, methods, loss)),
    )


def loss_of(table: ScoreTable) -> BroughtScore:
    """The loss that the scores are, with all that is known of them."""
    scores = table.frame["score"].to_numpy()
    known = scores[~np.isnan(scores)]
    is_binary = table.limits == (0.0, 1.0) and bool(((known == 0) | (known == 1)).all())
    higher = bool(table.higher_is_better)
    plain = table.metric if table.metric not in ("", "score") else ""
    if is_binary and plain.lower() == ("correct" if higher else "wrong"):  # of an answer, not of a model
        plain = ""
    name = plain or (("accuracy" if higher else "error rate") if is_binary else "score")
    return BroughtScore(score_code(name, table.limits, higher=higher, is_binary=is_binary))


def saying_replaced(results: Results, replaced: Collection[tuple[str, str]], archive: Path) -> Results:
    """The results with a remark on the models whose scores took the place of others in an archive."""
    tasks = dict(results.tasks)
    for address, facts in results.tasks.items():
        if names := [one for one in results.methods if (address, one) in replaced]:
            told = f"{READ} {archive} {OTHERS_HELD} of {_some(names)}: these take their place"
            tasks[address] = replace(facts, remarks=(*facts.remarks, f"{told}, {ASIDE}"))
    return replace(results, tasks=tasks)


def _methods(models: NamedPlaces, chosen_of: Mapping[str, int]) -> dict[str, MethodFacts]:
    for name, several in chosen_of.items():
        if name not in models.names:
            known = f"there are {_some(models.names)}"
            raise SpecError(f'chosen_of names "{name}", of which there is no score: {known}')
        if not isinstance(several, Integral) or several < 1:
            told = value_told(several)
            raise SpecError(f"chosen_of says that {name} is the best of {told}: give a whole number above 0")
    return {one: _method(one, chosen_of.get(one)) for one in models.names}


def _method(name: str, chosen_of: int | None = None) -> MethodFacts:
    identity = {"scores computed elsewhere": name}
    told = identity if chosen_of is None else {**identity, "chosen_of": chosen_of}
    return MethodFacts(name, digest(identity), told, f"{name}, of which there are scores alone")


def _segment(name: str) -> str:
    """A task's name as a part of an address."""
    return name.strip().replace("/", "-").replace("\\", "-").replace("\0", "") or "scores"


# Tasks


def _task(
    table: ScoreTable,
    loss: BroughtScore,
    models: NamedPlaces,
    part: tuple[str, pd.DataFrame, Places],
    missing: Missing,
) -> tuple[TaskFacts, list[ScoreGrid]]:
    name, frame, whose = part
    design = _design(frame)
    cut: Mapping[str, Places | slice] = {"": slice(None)}
    if design.column is not None:
        cut = rows_by(named_places(frame, design.column))
    worst = _worst(loss) if missing == "worst" else None
    place = f"task {name} of {table.source}" if "task" in table.frame.columns else table.source
    made = [
        score_grid(
            frame.iloc[rows], whose[rows], models, f'{design.column} "{key}" of {place}' if key else place
        )
        for key, rows in cut.items()
    ]
    kept = evened([completed(one, worst, place) for one in made])
    if design.column is None and "case" in frame.columns:
        _check_groups(place, kept[0], frame)
    remarks = (
        *(f"{_rule_of(note)} {note}" for note in table.notes),
        *_paired_by_order(table),
        *(f"{READ} {note}" for note in _averaged(kept, models)),
        *_left_out(made, kept, models, missing),
        *_prompts(frame, design),
    )
    if design.column == "fold" and "case" not in frame.columns:
        _check_folds(place, table.ratio, len(kept))
    facts = _facts(name, design, kept, loss, table)
    return replace(facts, remarks=remarks), kept


def _check_groups(place: str, one: ScoreGrid, frame: pd.DataFrame) -> None:
    """Refuse cases that all belong together: nothing says how much scores vary from group to group."""
    if one.groups is None or np.unique(one.groups).size >= FEW_CASES:
        return
    named = dict(zip(frame["case"].astype(str), frame["group"], strict=True))[one.cases[0]]
    raise StatisticsError(
        f'{place}: all {len(one.cases)} cases have "{named}" in the column of groups (group=…, --group), so '
        "there is only one group to compare by: bring more, or remove the column if the cases do not belong "
        "together"
    )


def _check_folds(place: str, ratio: float | None, count: int) -> None:
    """Refuse scores of folds, without any of cases, that cannot be compared."""
    if ratio is None:
        raise SpecError(
            f"{place} has scores of folds and none of cases: their test needs to know how many test cases "
            "there were for each training case; give ratio=1/9 for ten-fold cross-validation (on the command "
            "line --ratio)"
        )
    if count < FEW_CASES:
        raise StatisticsError(
            f"{place} has the scores of one fold and none of cases: nothing says how much they vary; give "
            "the scores of several folds, or of cases"
        )


def _rule_of(note: str) -> str:
    """The validity rule that tells what a reader notes."""
    return BY_ORDER if IN_ORDER in note else CHOSEN if OF_SEARCH in note else READ


def _design(frame: pd.DataFrame) -> _Design:
    if "training_set" in frame.columns:
        return _Design(_scheme_of_sets(frame), "training_set")
    return _Design("cross-validation", "fold") if "fold" in frame.columns else _Design("fixed")


def _scheme_of_sets(frame: pd.DataFrame) -> Scheme:
    """Whether training sets share their test cases."""
    if "case" not in frame.columns:
        raise SpecError("scores by training set need the cases that they are of: give a column case")
    sets = frame.groupby("case", observed=True)["training_set"].nunique()
    total = frame["training_set"].nunique()
    if (sets == total).all():
        return "common"
    if (sets == 1).all():
        return "hierarchical"
    raise SpecError(
        "some cases test several training sets and not all of them: either all training sets share their "
        "test cases, or each has its own"
    )


def _worst(loss: BroughtScore) -> float:
    low, high = loss.score_limits
    worst = low if loss.higher_is_better else high
    if not np.isfinite(worst):
        raise SpecError(
            f'missing="worst" needs to know the worst {loss.title} there can be: give its limits (on the '
            "command line --limits)"
        )
    return worst


def _left_out(
    made: Sequence[ScoreGrid], kept: Sequence[ScoreGrid], models: NamedPlaces, missing: Missing
) -> Iterator[str]:
    """What is said of cases that some model lacks: how many, and whose."""
    present = np.any([one.present for one in made], axis=0)
    absent = [name for name, is_there in zip(models.names, present, strict=True) if not is_there]
    lacking = np.sum([np.isnan(one.scores).all(axis=1).sum(axis=1) for one in made], axis=0) * present
    empty = np.sum([_empty_answers(one) for one in made], axis=0)
    if not absent and not lacking.any() and not empty.any():
        return
    left = sum(len(one.cases) for one in made) - sum(len(one.cases) for one in kept)
    whose = {name: int(count) for name, count in zip(models.names, lacking, strict=True) if count}
    asked = np.sum([one.asked.sum(axis=(1, 2)) for one in made], axis=0)
    answers = {
        name: [int(empty[place]), int(asked[place])]
        for place, name in enumerate(models.names)
        if empty[place]
    }
    told = {"left_out": left, "missing": missing, "lacking": whose, "absent": absent, "answers": answers}
    yield f"{UNEQUAL} {json.dumps(told)}"


def _empty_answers(one: ScoreGrid) -> Places:
    """How many answers of each model have no score, on cases to which it has others."""
    is_empty = np.isnan(one.scores)
    beside = one.asked & is_empty & ~np.asarray(is_empty.all(axis=1))[:, None, :]
    return np.asarray(beside.sum(axis=(1, 2)), dtype=np.int64)


def _paired_by_order(table: ScoreTable) -> Iterator[str]:
    """That several files are paired row by row; the rows of one table are cases of their own."""
    if table.by_order and table.by_order != (table.source,):
        names = _some(table.by_order)
        yield f"{BY_ORDER} no cases are named in {names}: row n of each is taken to be the same case"


def _prompts(frame: pd.DataFrame, design: _Design) -> Iterator[str]:
    """Cases that models were asked in different words."""
    import pandas as pd

    if "prompt" not in frame.columns or "case" not in frame.columns:
        return
    keys = [frame[name] for name in ("case", "run", design.column) if name in frame.columns]
    asked = frame.groupby(keys, observed=True)["prompt"].nunique(dropna=False)
    differing = asked[asked > 1]
    if len(differing):
        level = differing.index.get_level_values(0) if len(keys) > 1 else differing.index
        cases = pd.unique(level)
        yield (
            f"{PROMPTS} models were asked {len(cases):,} of {frame['case'].nunique():,} cases by different "
            f'prompts (first: case "{cases[0]}")'
        )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - EXAMPLES} more" if len(names) > EXAMPLES else ""
    return ", ".join(names[:EXAMPLES]) + more


def _averaged(kept: Sequence[ScoreGrid], models: NamedPlaces) -> Iterator[str]:
    each = [one.answers for one in kept if one.answers is not None]
    if each:
        present = np.any([one.present for one in kept], axis=0)
        means = np.mean(each, axis=0)[present]
        names = [name for name, is_there in zip(models.names, present, strict=True) if is_there]
        some = _some([f"{name} {mean:.3g}" for name, mean in zip(names, means, strict=True)])
        yield f"models have {UNEVEN} ({some} on average): a case counts by the mean of its answers"


# Facts and records


def _facts(
    name: str, design: _Design, instances: Sequence[ScoreGrid], loss: BroughtScore, table: ScoreTable
) -> TaskFacts:
    told = tuple(_instance_facts(one, design, instances) for one in instances)
    cases = sorted({case for one in instances for case in one.cases})
    data = digest(["scores", name, cases])
    identity = ["scores", name, loss.code, design.scheme, table.ratio, [one.digest for one in told]]
    return TaskFacts(
        address=f"/{name}/{design.scheme}",
        digest=digest(identity),
        data_digest=data,
        training_set_size=max(one.training_set_size for one in told),
        scheme=design.scheme,
        repetitions=1,
        targets=(),
        instances=told,
        baselines={loss.code: None},
        case_count=len(cases),
        test_overlap=False,
        training_overlap=design.scheme == "cross-validation",
        own_losses={loss.code: loss},
        test_ratio=table.ratio if design.scheme == "cross-validation" else None,
    )


def _instance_facts(one: ScoreGrid, design: _Design, instances: Sequence[ScoreGrid]) -> InstanceFacts:
    content = [one.cases, _plain(one.groups), _plain(one.weights)]
    trained = sum(len(each.cases) for each in instances) - len(one.cases)
    return InstanceFacts(
        digest(content),
        trained if design.scheme == "cross-validation" else 0,
        np.arange(1, len(one.cases) + 1),
        (),
        one.groups,
        names=np.array(one.cases, dtype=np.str_),
        weights=one.weights,
        columns=one.columns,
    )


def _plain(values: NDArray[Any] | None) -> list[Any] | None:
    return None if values is None else values.tolist()


def _records(
    facts: TaskFacts, instances: Sequence[ScoreGrid], methods: Mapping[str, MethodFacts], loss: BroughtScore
) -> Iterator[Record]:
    names = list(methods.values())
    for number, one in enumerate(instances):
        losses = loss.losses(one.scores)
        for place in np.flatnonzero(one.present).tolist():
            method = names[place]
            for run in range(losses.shape[1]):
                job = Job(facts.address, method.name, number, run)
                identity = ["scores", method.digest, facts.digest, number, run]
                yield Record(
                    job,
                    digest(identity),
                    0,
                    "done",
                    {loss.code: losses[place, run]},
                    environment={IMPORTED: "scores"},
                    told={} if one.answers is None else {ANSWERS: float(one.answers[place])},
                )
