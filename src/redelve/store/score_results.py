"""Scores that were computed elsewhere, taken in as Results: models on cases, folds or training sets."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses import BroughtScore, score_code
from redelve.data.scores.score_table import OTHERS_HELD, SLICE, UNEVEN, ScoreTable
from redelve.errors import SpecError, StatisticsError, hint
from redelve.model import Scheme
from redelve.model.dataset import Numbers, digest
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

if TYPE_CHECKING:
    import pandas as pd

Missing = Literal["common", "worst"]
"""What becomes of cases that some model has no score on: left out for all, or the worst score there is."""
Places = NDArray[np.int64]
FEW_CASES = 2
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
class _Coded:
    """A column as places among its different values, which are in the order of their names."""

    places: Places
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class _Design:
    """How the rows of a task are instances: what is one, and which scheme they follow."""

    scheme: Scheme
    column: str | None = None


@dataclass(frozen=True)
class _Instance:
    """The scores of an instance by model, run and case, NaN where there is none; and what its cases are."""

    scores: Numbers
    present: NDArray[np.bool_]
    """Which models have any score here."""
    cases: tuple[str, ...]
    asked: NDArray[np.bool_]
    """Which scores have a row in the table, be it an empty one."""
    groups: Places | None = None
    weights: Numbers | None = None
    columns: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    """What else is known of the cases."""
    answers: Numbers | None = None
    """How many answers to a case each model has on average, where they were averaged."""


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
    loss = loss_of(table)
    models = _coded(table.frame, "model")
    frame = table.frame
    if pooled and "task" in frame.columns:
        frame = frame.assign(**{f"{SLICE}task": frame["task"]}).drop(columns="task")
    tasks = _coded(frame, "task") if "task" in frame.columns else None
    parts: Mapping[str, Places | slice] = {name: slice(None)} if tasks is None else _rows_by(tasks)
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


def _methods(models: _Coded, chosen_of: Mapping[str, int]) -> dict[str, MethodFacts]:
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


def _coded(frame: pd.DataFrame, column: str) -> _Coded:
    """The values of a column as places among their sorted names."""
    import pandas as pd

    codes, values = pd.factorize(frame[column])
    names = [str(value) for value in values]
    order = np.argsort(np.array(names, dtype=object), kind="stable")
    if len(set(names)) < len(names):
        again = next(one for one in names if names.count(one) > 1)
        raise SpecError(f'the column {column} has "{again}" as a number and as a text: write it in one way')
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return _Coded(place[codes], tuple(names[i] for i in order))


def _rows_by(coded: _Coded) -> dict[str, Places]:
    order = np.argsort(coded.places, kind="stable")
    ends = np.searchsorted(coded.places[order], np.arange(len(coded) + 1))
    return {name: order[ends[i] : ends[i + 1]] for i, name in enumerate(coded.names)}


# Tasks


def _task(
    table: ScoreTable,
    loss: BroughtScore,
    models: _Coded,
    part: tuple[str, pd.DataFrame, Places],
    missing: Missing,
) -> tuple[TaskFacts, list[_Instance]]:
    name, frame, whose = part
    design = _design(frame)
    cut: Mapping[str, Places | slice] = {"": slice(None)}
    if design.column is not None:
        cut = _rows_by(_coded(frame, design.column))
    worst = _worst(loss) if missing == "worst" else None
    place = f"task {name} of {table.source}" if "task" in table.frame.columns else table.source
    made = [
        _instance(
            frame.iloc[rows], whose[rows], models, f'{design.column} "{key}" of {place}' if key else place
        )
        for key, rows in cut.items()
    ]
    kept = _evened([_completed(one, worst, place) for one in made])
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


def _check_groups(place: str, one: _Instance, frame: pd.DataFrame) -> None:
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


# Instances


def _instance(frame: pd.DataFrame, whose: Places, models: _Coded, place: str) -> _Instance:
    """The scores of these rows as an array of models, runs and cases."""
    cases = (
        _coded(frame, "case") if "case" in frame.columns else _Coded(np.zeros(len(frame), np.int64), ("",))
    )
    runs = _coded(frame, "run") if "run" in frame.columns else _Coded(np.zeros(len(frame), np.int64), ("",))
    scores = np.full((len(models), len(runs), len(cases)), np.nan)
    given = frame["score"].to_numpy()
    flat = (whose * len(runs) + runs.places) * len(cases) + cases.places
    scores.reshape(-1)[flat] = given
    is_there = np.zeros(scores.size, dtype=np.bool_)
    is_there[flat] = True
    if int(is_there.sum()) < flat.size:
        raise _twice(flat, models, runs, cases, place)
    groups = _of_cases(frame, "group", cases, place)
    weights = _of_cases(frame, "weight", cases, place)
    numbers = None if groups is None else _coded_groups(groups)
    present = ~np.isnan(scores).all(axis=(1, 2))
    more = [one.removeprefix(SLICE) for one in map(str, frame.columns) if one.startswith(SLICE)]
    return _Instance(
        scores,
        present,
        cases.names,
        is_there.reshape(scores.shape),
        numbers,
        None if weights is None else weights.astype(np.float64),
        {name: _labels_of_cases(frame, name, cases, place) for name in more},
    )


def _labels_of_cases(frame: pd.DataFrame, name: str, cases: _Coded, place: str) -> NDArray[np.str_]:
    """What a column for slices says of every case, as texts; empty where it says nothing."""
    import pandas as pd

    codes, values = pd.factorize(frame[f"{SLICE}{name}"])
    texts = np.array([*map(str, values), ""], dtype=np.str_)
    found = np.empty(len(cases), dtype=np.int64)
    found[cases.places] = codes
    differing = np.flatnonzero(found[cases.places] != codes)
    if differing.size:
        where = int(cases.places[differing[0]])
        raise SpecError(
            f'{place}: case "{cases.names[where]}" has two values of {name}, "{texts[codes[differing[0]]]}" '
            f'and "{texts[found[where]]}": a case has one'
        )
    return np.asarray(texts[found])


def _twice(flat: Places, models: _Coded, runs: _Coded, cases: _Coded, place: str) -> SpecError:
    order = np.argsort(flat, kind="stable")
    again = int(flat[order][np.flatnonzero(np.diff(flat[order]) == 0)[0]])
    who, rest = divmod(again, len(runs) * len(cases))
    run, case = divmod(rest, len(cases))
    of_case = f' on case "{cases.names[case]}"' if cases.names != ("",) else ""
    in_run = f', run "{runs.names[run]}"' if len(runs) > 1 else ""
    count = int(flat.size - np.unique(flat).size)
    rows = "rows" if count > 1 else "row"
    return SpecError(
        f'{place} has two scores of model "{models.names[who]}"{of_case}{in_run} '
        f"({count:,} {rows} too many): remove one, or say which column counts the answers to a case, as in "
        "run=… (--run)"
    )


def _of_cases(frame: pd.DataFrame, column: str, cases: _Coded, place: str) -> NDArray[Any] | None:
    """What a column says of every case; an error where it says two things of one."""
    if column not in frame.columns:
        return None
    values = frame[column].to_numpy(dtype=object)
    nowhere = np.flatnonzero(frame[column].isna().to_numpy())
    if nowhere.size:  # a case that belongs to no group is one of its own
        values = values.copy()
        values[nowhere] = [f"case {cases.names[i]} alone" for i in cases.places[nowhere]]
    found = np.empty(len(cases), dtype=object)
    found[cases.places] = values
    differing = np.flatnonzero(found[cases.places] != values)
    if differing.size:
        row = int(differing[0])
        name = cases.names[int(cases.places[row])]
        raise SpecError(
            f'{place}: case "{name}" has two values of {column}, {values[row]!r} and '
            f"{found[cases.places[row]]!r}: a case has one"
        )
    return found


def _coded_groups(groups: NDArray[Any]) -> Places:
    _, places = np.unique(groups.astype(str), return_inverse=True)
    return places.astype(np.int64)


def _completed(one: _Instance, worst: float | None, place: str) -> _Instance:
    """The cases that all models have scores on."""
    scores = one.scores if worst is None else _with_worst(one, worst)
    common = np.asarray((~np.isnan(scores[one.present]).all(axis=1)).all(axis=0))
    if one.cases != ("",) and len(one.cases) < FEW_CASES:
        raise StatisticsError(
            f"{place} has a single case, {one.cases[0]}: nothing can be compared on it; give the scores "
            "of more cases, or of several repetitions"
        )
    if one.cases != ("",) and common.sum() < FEW_CASES:
        raise StatisticsError(
            f"{place}: {int(common.sum())} of {len(one.cases)} cases have a score of every model: nothing "
            "can be compared; leave out the models that lack most, or count missing scores as the worst ones "
            '(missing="worst", --missing worst)'
        )
    kept = np.flatnonzero(common)
    return _Instance(
        scores[:, :, kept],
        one.present,
        tuple(one.cases[i] for i in kept),
        one.asked[:, :, kept],
        None if one.groups is None else one.groups[kept],
        None if one.weights is None else one.weights[kept],
        {name: values[kept] for name, values in one.columns.items()},
    )


def _with_worst(one: _Instance, worst: float) -> Numbers:
    """The scores, the worst for empty ones and for all answers of a model to a case that it lacks."""
    lacks = np.asarray(np.isnan(one.scores).all(axis=1))
    answers = np.asarray(one.asked.any(axis=2))
    is_missing = one.asked | (lacks[:, None, :] & answers[:, :, None])
    return np.where(np.isnan(one.scores) & is_missing, worst, one.scores)


def _evened(kept: Sequence[_Instance]) -> list[_Instance]:
    """Repeated answers averaged, unless all models have the same number of them to all cases."""
    is_even = len({one.scores.shape[1] for one in kept}) == 1
    if is_even and not any(np.isnan(one.scores[one.present]).any() for one in kept):
        return list(kept)
    return [_of_means(one) for one in kept]


def _of_means(one: _Instance) -> _Instance:
    """The mean over the answers that there are, and how many there are."""
    counts = (~np.isnan(one.scores)).sum(axis=1)
    means = np.where(counts > 0, np.nansum(one.scores, axis=1) / np.maximum(counts, 1), np.nan)
    return replace(one, scores=means[:, None, :], answers=counts.mean(axis=1))


def _left_out(
    made: Sequence[_Instance], kept: Sequence[_Instance], models: _Coded, missing: Missing
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


def _empty_answers(one: _Instance) -> Places:
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


def _averaged(kept: Sequence[_Instance], models: _Coded) -> Iterator[str]:
    each = [one.answers for one in kept if one.answers is not None]
    if each:
        present = np.any([one.present for one in kept], axis=0)
        means = np.mean(each, axis=0)[present]
        names = [name for name, is_there in zip(models.names, present, strict=True) if is_there]
        some = _some([f"{name} {mean:.3g}" for name, mean in zip(names, means, strict=True)])
        yield f"models have {UNEVEN} ({some} on average): a case counts by the mean of its answers"


# Facts and records


def _facts(
    name: str, design: _Design, instances: Sequence[_Instance], loss: BroughtScore, table: ScoreTable
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


def _instance_facts(one: _Instance, design: _Design, instances: Sequence[_Instance]) -> InstanceFacts:
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
    facts: TaskFacts, instances: Sequence[_Instance], methods: Mapping[str, MethodFacts], loss: BroughtScore
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
