"""The summary in plain words: which method, how sure are we, would more data help."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from redelve.findings import Contest, Findings, LearningCurve, TaskFindings
from redelve.findings.claims import POWER, nothing_found
from redelve.findings.places import LeaderBoard, board_on
from redelve.findings.validity import Note
from redelve.report import formatting
from redelve.report.formatting import Cell, ReportColumn, listed, several_names
from redelve.report.race_words import before_the_first_look, best_of, race_headline, race_sentences
from redelve.report.sections import Panel
from redelve.report.uncertainty_and_costs import variance_shares
from redelve.run.results import Results

WHICH = "Which method?"
WHICH_MODEL = "Which model?"
HOW_SURE = "How sure are we?"
MORE_DATA = "Would more data help?"
MORE_CASES = "Would more cases help?"
MOST_LISTED = 3
ON_TEST_SETS = "mean losses are the same on every test set"
SEVERITIES = ("invalid", "caution", "note")
FAILURES_RULE = "V009"
"""The validity rule that tells of failed jobs."""
REMEDIES = {
    "training sets": "more training sets would make the estimates sharper",
    "seeds": "more runs with other seeds would make the estimates sharper",
    "test cases": "more test cases would make the estimates sharper",
    "test cases and residual": "more test cases, or more training sets, would make the estimates sharper",
    "training set × test case": "more training sets or test cases would make the estimates sharper",
    "residual": "more training sets or test cases would make the estimates sharper",
}


@dataclass(frozen=True)
class Reply:
    """A question and what the results have to say to it."""

    question: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class PanelSummary:
    """A prototask's summary: a line that says it all, and the three replies."""

    prototask: str
    key: str
    headline: str
    replies: tuple[Reply, ...]


def summarise_panel(panel: Panel) -> PanelSummary:
    """The summary of one prototask, by its largest training sets."""
    task = panel.largest.task
    replies = [
        Reply(WHICH_MODEL if task.is_fixed else WHICH, _which(panel)),
        Reply(HOW_SURE, _how_sure(panel)),
    ]
    if task.is_fixed:
        replies.append(_more_cases(panel))
    elif task.has_size:
        replies.append(Reply(MORE_DATA, _more_data(panel)))
    return PanelSummary(panel.title, panel.key, headline(panel), tuple(replies))


def headline(panel: Panel) -> str:
    """Who may be the best on the largest training sets, in one line."""
    task = panel.largest
    leader = task.leader
    if task.race is not None:
        return race_headline(task.race, task.judged_by)
    if leader is None:
        return no_value(task)
    if len(task.methods) == 1:
        return f"{leader} is the only {task.task.contender} with results{_beside_constant(task, leader)}."
    if not task.contests:
        return f"{_had_best(task)}; nothing could be compared."
    if task.is_planned:
        return f"{'; '.join(_outcome(one) for one in task.contests[:MOST_LISTED])}."
    return _best_of_several(panel, leader)


def no_value(task: TaskFindings) -> str:
    """That no method has a value, and why where that is known: test cases may lack a class."""
    reasons = [one.why_none for one in task.methods if one.why_none]
    if not reasons:
        return f"No {task.task.contender} has a finite expected loss here."
    return f"{_capital(task.judged_by.shown_name)} has no value here: {reasons[0]}."


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _best_of_several(panel: Panel, leader: str) -> str:
    task = panel.largest
    others = [name for name in task.best_group if name != leader]
    if not others:
        return f"{leader} is the best of {_these(panel)} (95 % confidence)."
    if task.margin is not None and all(task.contest(leader, name).is_equivalent for name in others):
        it = "it" if len(task.leaders) == 1 else leader
        same = f"{listed(others)} {'is' if len(others) == 1 else 'are'} equivalent to {it}"
        return f"{_had_best(task)}; {same} within {task.margin.shown(task.judged_by)}."
    if len(task.best_group) == len(task.methods):
        nobody = f"No {task.task.contender} could be shown to be better than all others"
        return f"{nobody}; {_had_best(task)}."
    return f"{_had_best(task)}; {_rivals(task, others)} be ruled out as the best."


def _rivals(task: TaskFindings, others: Sequence[str]) -> str:
    """Who could not be ruled out as the best: beside the leader or, where several lead, of all."""
    if len(task.leaders) == 1:
        return f"{formatting.several_names(others, 'others')} could not"
    if set(task.best_group) == set(task.leaders):
        return f"{'neither' if len(task.leaders) == 2 else 'none of them'} could"
    return f"{formatting.several_names(task.best_group, f'{task.task.contender}s')} could not"


def _had_best(task: TaskFindings) -> str:
    """Who had the best value, or that several had the same: "a and b had the same accuracy, the highest"."""
    what = task.best_words if len(task.leaders) == 1 else task.judged_by.tied_words
    return f"{_leaders(task)} had {what}{on_fewer_sets(task)}"


def on_fewer_sets(task: TaskFindings) -> str:
    """That the smallest mean is over fewer training sets than others: ", on 2 of 8 training sets"."""
    if task.sets_of_best is None:
        return ""
    own, most = task.sets_of_best
    return f", on {own} of {most} {sets_words(task)}"


def sets_words(task: TaskFindings) -> str:
    """What a mean is over several of."""
    return "folds" if task.task.scheme in ("cross-validation", "time") else "training sets"


def _leaders(task: TaskFindings) -> str:
    return formatting.several_names(task.leaders, f"{task.task.contender}s")


def _outcome(contest: Contest) -> str:
    """A planned comparison in a few words."""
    if not contest.winner and contest.verdict is not None and contest.is_equivalent:
        within = contest.verdict.shown(contest.judged_by)
        return f"{contest.first} and {contest.second} are equivalent within {within}"
    return _told_apart(contest)


def _told_apart(contest: Contest) -> str:
    """Which of the two is better, or that nobody could tell."""
    if contest.winner:
        return contest.outcome
    return f"{contest.first} and {contest.second} could not be told apart"


def _beside_constant(task: TaskFindings, name: str) -> str:
    """Whether a method lost more or less than the best constant answer, as far as that is known."""
    more = task.method(name).loses_more_than_constant
    if more is None:
        return ""
    return f": it lost {'more' if more else 'less'} than the best constant answer"


def _without(panel: Panel) -> list[str]:
    known = {one.method for one in panel.largest.methods}
    return [name for name in panel.methods if name not in known]


def _these(panel: Panel) -> str:
    what = f"{panel.largest.task.contender}s"
    if not (left_out := _without(panel)):
        return f"these {what}"
    with_results = "that could be compared" if set(left_out) & set(panel.largest.alone) else "with results"
    return f"the {len(panel.largest.methods)} {what} {with_results}"


def _which(panel: Panel) -> tuple[str, ...]:
    task = panel.largest
    leader = task.leader
    if task.race is not None and not task.race.looks:
        return (before_the_first_look(task.race),)
    if leader is None:
        return (no_value(task),)
    sentences = [_loss_sentence(task, leader)]
    sentences += [text for text in (_lead_sentence(task, leader), _smaller_sizes(panel)) if text]
    return tuple(sentences)


def _metric_sentence(task: TaskFindings, leader: str) -> str:
    """The value of the best method, and what the best constant answer has."""
    loss, several = task.judged_by, len(task.methods) > 1
    had = f"{_had_best(task)}:{_for_whom(task)}" if several else f"{leader} had {loss.shown_name}"
    had = _after_a_race(task, _had_best(task), loss.shown_name) or had
    value = formatting.with_error(*task.method(leader).shown)
    unit = formatting.target_unit(task.task.targets) if loss.in_target_unit else loss.shown_unit
    text = f"{task.task.setting} {had} {value}{unit}"
    baseline = task.task.baselines.get(task.loss)
    if baseline is None:
        return f"{text}."
    constant = f"{formatting.plain(loss.shown_value(baseline), 3)}{unit}"
    return f"{text}. The best constant answer has {constant}."


def _loss_sentence(task: TaskFindings, leader: str) -> str:
    if task.judged_by.is_metric:
        return _metric_sentence(task, leader)
    finding = task.method(leader)
    had = f"{_leaders(task)} had {_smallest_loss(task)}"
    had = _after_a_race(task, had.partition(":")[0], f"expected {task.loss_words}") or had
    text = (
        f"{task.task.setting} {had} "
        f"{formatting.with_error(finding.mean, finding.standard_error)}{_accuracy(task, finding.mean)}"
    )
    if finding.standardised is None:
        return f"{text}."
    unit = "0" if task.judged_by.is_shift else "1"
    standard = formatting.with_error(finding.standardised, finding.standardised_error)
    end = _beside_constant(task, leader) if len(task.methods) == 1 or finding.loses_more_than_constant else ""
    return f"{text}, standardised {standard}, where {unit} is what the best constant answer loses{end}."


def _after_a_race(task: TaskFindings, had_best: str, what: str) -> str:
    """Before the leader's value: that the others' means are over other training sets; empty where none is."""
    sets = task.unequal_sets.get(task.leader or "")
    if task.race is None or sets is None:
        return ""
    over = f"over {sets} training sets"
    if task.race.verdict == "better":
        return f"{task.leader} is the best of {best_of(task.race)}; its {what} {over} is"
    return f"{had_best} of those left in the race: {over}{_for_whom(task)}"


def _smallest_loss(task: TaskFindings) -> str:
    """The loss that a sentence gives, before its value."""
    if len(task.methods) == 1:
        return f"an expected {task.loss_words} of"
    if len(task.leaders) == 1:
        return f"the smallest expected {task.loss_words}{on_fewer_sets(task)}:"
    return f"the same expected {task.loss_words}, the smallest{on_fewer_sets(task)}:{_for_whom(task)}"


def _for_whom(task: TaskFindings) -> str:
    """Whose value with its standard error a sentence gives, where several tie: their errors may differ."""
    return "" if len(task.leaders) == 1 else f" for {task.leader}"


def _accuracy(task: TaskFindings, mean: float | None) -> str:
    """A share of errors as the accuracy that most people know."""
    if mean is None or not task.judged_by.is_share:
        return ""
    return f" (accuracy {100 * (1 - mean):.3g} %)"


def _lead_sentence(task: TaskFindings, leader: str) -> str:
    """The lead over the nearest method that was shown to be worse."""
    behind = [one for one in task.pairs.of_method(leader) if one.winner == leader]
    if not behind:
        return ""
    nearest = min(behind, key=lambda one: abs(one.difference or 0.0))
    who = "it" if len(task.leaders) == 1 else leader
    lead = task.judged_by.is_better_words(who, _other(nearest, leader))
    common, most = len(nearest.instances), max(task.unequal_sets.values(), default=0)
    if task.unequal_sets and (task.is_raced or common < most):
        return f"Over their {common} common {sets_words(task)} {lead} by {nearest.lead}."
    return f"{_capital(lead) if who == 'it' else lead} by {nearest.lead}."


def _other(contest: Contest, name: str) -> str:
    return contest.second if contest.first == name else contest.first


def _smaller_sizes(panel: Panel) -> str:
    before = panel.tasks[:-1]
    if not before or len(panel.methods) == 1:
        return ""
    found = [f"{_leaders_at(task)} at {task.task.training_set_size}" for task in before if task.leader]
    if len({task.leaders for task in panel.tasks}) == 1:
        return f"{_it_had(panel.largest)} at every smaller training-set size as well."
    best = panel.largest.best_words
    return f"With fewer training cases {best} was that of {listed(found)}." if found else ""


def _leaders_at(task: TaskFindings) -> str:
    return f"{_leaders(task)}{' (the same)' * (len(task.leaders) > 1)}"


def _it_had(task: TaskFindings) -> str:
    return f"It had {task.best_words}" if len(task.leaders) == 1 else f"They had {task.judged_by.tied_words},"


def _how_sure(panel: Panel) -> tuple[str, ...]:
    if panel.largest.race is not None and not panel.largest.race.looks:
        return race_sentences(panel.largest.race)
    reasons, judge = panel.largest.without, panel.largest.judged_by
    failed = [name for name in _without(panel) if name in panel.failed and name not in reasons]
    others = [name for name in _without(panel) if name not in panel.failed and name not in reasons]
    needs = f": {judge.shown_name} needs {judge.needs_words}" if judge.takes == "distribution" else ""
    missing = [_no_results(failed, ": its jobs failed" if len(failed) == 1 else ": their jobs failed")]
    missing.append(_no_results(others, needs))
    missing += [f"{name} {_not_judged(panel.largest, name)}: {reasons[name]}." for name in reasons]
    return (*_comparisons(panel.largest), *filter(None, missing))


def _not_judged(task: TaskFindings, name: str) -> str:
    """What became of a method that was left out: it has no value, or no other with which to be compared."""
    if name in task.alone:
        return f"could not be compared with any other {task.task.contender}"
    return "has no value here and could not be judged"


def _no_results(names: Sequence[str], why: str) -> str:
    if not names:
        return ""
    has = "has" if len(names) == 1 else "have"
    return f"{listed(names)} {has} no results here and could not be judged{why}."


def _comparisons(task: TaskFindings) -> tuple[str, ...]:
    leader = task.leader
    if not task.contests or leader is None:
        reasons = [text for text in task.caveats if text.startswith("no comparison")]
        one = f"Only {task.methods[0].method} has results here." if len(task.methods) == 1 else ""
        return (one or (f"{_capital(reasons[0])}." if reasons else "Nothing could be compared."),)
    if task.is_planned:
        return _planned_sentences(task)
    board = board_sentence(board_on(task), task.task.contender) if task.task.is_fixed else ""
    sentences = [text for text in (_group_sentence(task), board, _margin_sentence(task, leader)) if text]
    if task.race is not None:
        sentences = [*race_sentences(task.race)]
    rivals = [one for one in task.pairs.of_method(leader) if _other(one, leader) in task.best_group]
    rivals.sort(key=lambda one: abs(one.difference or 0.0))
    for rival in rivals[:MOST_LISTED]:
        advice = "" if task.race is not None or task.task.is_fixed else rival.outlook.advice
        sentences.append(f"{_rival_sentence(task, rival, leader)} {advice}".rstrip())
    if len(rivals) > MOST_LISTED:
        rest = [_other(one, leader) for one in rivals[MOST_LISTED:]]
        sentences.append(
            f"Nor could {formatting.several_names(rest, 'others', 'or')} be ruled out as the best."
        )
    told = {frozenset((one.first, one.second)) for one in rivals[:MOST_LISTED]}
    sentences += [text for text in (_untested_sentence(task, told), uncertainty_sentence(task)) if text]
    return tuple(sentences)


def _untested_sentence(task: TaskFindings, told: Collection[frozenset[str]]) -> str:
    """Which pairs cannot be compared though others can, and why; those that were told of before left out."""
    pairs = [names for names in task.pairs.untested() if frozenset(names) not in told]
    found = [one for names in pairs if (one := task.contest(*names)).why_untested]
    texts = [_cannot_be_compared(one, one.first) for one in found[:MOST_LISTED]]
    rest = len(found) - MOST_LISTED
    if rest > 0:
        texts.append(f"Nor could {rest} more pair{'s' * (rest > 1)}.")
    return " ".join(texts)


def _cannot_be_compared(contest: Contest, name: str) -> str:
    return f"{name} and {_other(contest, name)} could not be compared: {contest.why_untested}."


def _planned_sentences(task: TaskFindings) -> tuple[str, ...]:
    """Each planned comparison, and that nothing else was tested."""
    count = len(task.contests)
    only = "Only the planned comparison was" if count == 1 else f"Only the {count} planned comparisons were"
    listed_first = task.contests[: 2 * MOST_LISTED]
    shown = [one.words if task.task.is_fixed else str(one) for one in listed_first]
    rest = count - len(shown)
    more = [f"See the table of pairs for {rest} more."] if rest else []
    return (f"{only} tested; other differences are described, not claimed.", *shown, *more)


def _margin_sentence(task: TaskFindings, leader: str) -> str:
    """Who is equivalent to the leader, or at least not worse by more than the margin."""
    if task.margin is None:
        return ""
    with_leader = task.pairs.of_method(leader)
    same = [_other(one, leader) for one in with_leader if one.is_equivalent]
    close = [
        _other(one, leader)
        for one in with_leader
        if not one.is_equivalent and _other(one, leader) in one.not_worse
    ]
    parts, margin = [], f"the margin of {task.margin.shown(task.judged_by)}"
    never = [_other(one, leader) for one in with_leader if one.is_same and not one.is_equivalent]
    if never:
        verb = "has" if len(never) == 1 else "have"
        parts.append(
            f"{listed(never)} {verb} the same losses as {leader} on every case, so there is no difference to "
            f"test against {margin}"
        )
    if same:
        verb = "is" if len(same) == 1 else "are"
        parts.append(f"{listed(same)} {verb} equivalent to {leader} within {margin}")
    if close:
        verb = "is" if len(close) == 1 else "are"
        parts.append(f"{listed(close)} {verb} not worse than {leader} by more than the margin")
    if not parts:
        return f"No {task.task.contender} was shown to be equivalent to {leader} within {margin}."
    return f"{'; '.join(parts)}."


def _group_sentence(task: TaskFindings) -> str:
    group = task.best_group
    worse = task.worse
    what = task.task.contender
    if not group:
        return (
            f"Every {what} was shown to be worse than some other: they were compared on different instances."
        )
    best = f"the best of the {len(task.methods)} {what}s"
    if len(group) == 1:
        return f"With 95 % confidence {group[0]} is {best} on this task."
    if not worse and len(group) > MOST_LISTED:
        return f"None of the {len(group)} {what}s could be ruled out as the best."
    either = "either" if len(group) == 2 else "one of"
    those = formatting.several_names(group, "of them", "or")
    text = f"With 95 % confidence {best} is {either} {those}: none of these could be ruled out"
    lost = formatting.several_names(worse, "others")
    return (
        f"{text}, while {lost} {'was' if len(worse) == 1 else 'were'} shown to be worse."
        if worse
        else f"{text}."
    )


PLACES = ReportColumn("Place", ("place",)), ReportColumn("Places open", ("first_place", "last_place"))
UNTESTED_BEST = "–: which is the best is not what the planned comparisons test."
OPEN_PLACES = (
    "Places open: from one more than the number shown to be better to as many as were not shown to be worse; "
    "they hold all together with 95 % confidence."
)


def place_cells(board: LeaderBoard | None, name: str) -> tuple[Cell, ...]:
    """A method's place, and the places that are open to it; nothing without a board."""
    if board is None:
        return ()
    if (one := board.of.get(name)) is None:
        return Cell(formatting.UNKNOWN, (None,)), Cell(formatting.UNKNOWN, (None, None))
    return formatting.count_cell(one.place), Cell(one.words, (one.first, one.last))


def board_sentence(board: LeaderBoard | None, contender: str) -> str:
    """How many neighbours on the board are really apart; empty for two methods or none."""
    count = 0 if board is None else len(board.places) - 1
    if board is None or count < 2:
        return ""
    apart, groups = len(board.apart), len(board.groups)
    told = "none is" if not apart else f"{apart} {'is' if apart == 1 else 'are'}"
    text = f"Of {count} adjacent places on the board {told} really apart"
    if not apart:
        return f"{text}: no {contender} was shown to be better than the next."
    names = [f"{one} over {two}" for one, two in board.apart]
    which = f" ({listed(names)})" if apart <= MOST_LISTED else ""
    of_groups = f"There are {groups} groups; within one, no {contender} was shown to be worse than its first."
    return f"{text}{which}. {of_groups if count > MOST_LISTED else ''}".rstrip()


def _rival_sentence(task: TaskFindings, contest: Contest, leader: str) -> str:
    """How the leader compares with a method that may be the best as well."""
    other = _other(contest, leader)
    if contest.why_untested:
        return _cannot_be_compared(contest, leader)
    start = f"{leader} and {other} could not be told apart"
    if contest.difference is None or contest.adjusted_p_value is None:
        if contest.difference == 0:
            both = len(contest.instances) < max(task.unequal_sets.values(), default=0)
            where = "losses are the same on every case" if contest.is_same else ON_TEST_SETS
            where += " that both have" * both
            return f"{start}: their {where}, and no test of a difference is defined."
        return f"{start}: no test is defined between them{_why_untested(contest)}."
    found = contest.verdict
    is_told = found is None or (other in contest.not_worse and not found.is_of_race)
    margin = "" if is_told else contest.margin_words
    return f"{contest.seen_from(leader)} {margin}".rstrip()


def _why_untested(contest: Contest) -> str:
    """The first reason that the test itself gives."""
    return f" ({contest.caveats[0]})" if contest.caveats else ""


def uncertainty_sentence(task: TaskFindings) -> str:
    """What the standard errors of a task are due to in the largest part, and what would make them smaller."""
    if task.task.is_fixed:
        return ""
    totals: dict[str, float] = {}
    shares = [found for one in task.methods if (found := variance_shares(one))]
    for found in shares:
        for source, share in found.items():
            totals[source] = totals.get(source, 0.0) + share / len(shares)
    if not totals:
        return ""
    main = max(totals, key=totals.__getitem__)
    part = formatting.per_cent(totals[main])
    due = "The uncertainty is mostly" if totals[main] > 0.5 else "The largest part of the uncertainty is"
    return f"{due} due to {main} (on average {part} of the squared standard error): {REMEDIES[main]}."


def _more_cases(panel: Panel) -> Reply:
    """What more cases would tell apart, of models that nothing is trained for."""
    return Reply(MORE_CASES, (cases_sentence(panel.largest),))


def cases_sentence(task: TaskFindings) -> str:
    """Whether the question of the best is settled, and how many more cases would settle it."""
    if not task.contests or task.leader is None:
        return "That cannot be told: nothing could be compared."
    if len(task.worse) == len(task.methods) - 1:  # planned comparisons, too, may leave one alone
        return "Not to find the best of these: it is settled."
    if task.is_planned:
        return _cases_for_planned(task)
    rivals = [name for name in task.best_group if name != task.leader]
    if not rivals:
        return f"That cannot be told: every {task.task.contender} was shown to be worse than some other."
    contests = (task.contest(task.leader, name) for name in rivals)
    is_open = next((one for one in contests if not one.is_equivalent), None)
    return _none_matters(task, rivals) if is_open is None else _cases_for(is_open, task.leader)


def _none_matters(task: TaskFindings, rivals: Sequence[str]) -> str:
    """That all who may be the best are equivalent to the leader: what was asked is answered."""
    assert task.margin is not None
    same = f"{formatting.several_names(rivals, 'others')} {'is' if len(rivals) == 1 else 'are'} equivalent"
    within = f"the margin of {task.margin.shown(task.judged_by)}"
    return f"Not for a difference that matters: {same} to {task.leader} within {within}."


def _cases_for(contest: Contest, name: str) -> str:
    """What more cases would do for two models that could not be told apart, this one named first."""
    advice = contest.advice.replace("test cases", "cases") or _without_advice(contest)
    return f"{name} and {_other(contest, name)}: {advice[:1].lower()}{advice[1:]}"


def _cases_for_planned(task: TaskFindings) -> str:
    """The same for the planned pairs that are open, and whether they were about the best at all."""
    is_open = [one for one in task.contests if not one.winner and not one.is_equivalent]
    told = [_cases_for(one, one.first) for one in is_open[: 2 * MOST_LISTED]]
    if not told:
        one = len(task.contests) == 1
        told = [f"Not for the planned comparison{': it is' if one else 's: they are'} settled."]
    met = {name for names in task.pairs.names if task.leader in names for name in names}
    if any(one.method not in met and one.method not in task.worse for one in task.methods):
        told.append(f"Which {task.task.contender} is the best was not tested.")
    return " ".join(told)


def _without_advice(contest: Contest) -> str:
    """What would be found, where nobody says which difference matters and two per cent of it mean nothing."""
    found, judge = contest.smallest_found, contest.judged_by
    if found is None:
        return "How many would tell them apart is not known."
    shown = found if judge is None else judge.shown_spread(found)
    start = (
        f"As it stands, a difference of {formatting.plain(shown, 2)}{contest.unit} would be found with power "
        f"{POWER:g}"
        if found <= contest.span
        else nothing_found(contest.repeats)
    )
    wanted = "Say which difference matters" if contest.verdict is None else "Give the margin as a number"
    return f"{start}. {wanted}, margin=… (--margin), and redelve tells how many more cases would find it."


def _more_data(panel: Panel) -> tuple[str, ...]:
    if panel.largest.leader is None:
        return (f"That cannot be told: no {panel.largest.task.contender} has a value here.",)
    if len(panel.tasks) < 2:
        return (
            "That cannot be told from one training-set size: run the methods on smaller training sets as "
            "well, "
            "and see whether the loss still falls.",
        )
    group = panel.largest.best_group or tuple(curve.method for curve in panel.curves)
    sentences = [_curve_sentence(panel, name) for name in group[: 2 * MOST_LISTED]]
    rest = len(group) - 2 * MOST_LISTED
    if rest > 0:
        sentences.append(f"See the learning curves for {rest} more.")
    return tuple(sentences)


def _curve_sentence(panel: Panel, name: str) -> str:
    curve = panel.curve(name)
    text = curve.would_more_data_help if curve else ""
    if not text:
        return f"{name}: cannot be told; {_why_unknown(curve)}."
    verdict, _, reason = text.partition(": ")
    return f"{name}: {verdict}; {reason}."


def _why_unknown(curve: LearningCurve | None) -> str:
    """Why nothing can be told of twice the data."""
    return (curve and curve.why_unknown) or "it has no results at several training-set sizes"


def serious(notes: Sequence[Note]) -> tuple[Note, ...]:
    """The notes of the worst severity there is, mere notes left out; failures of jobs are always told."""
    for severity in SEVERITIES[:-1]:
        if any(note.severity == severity for note in notes):
            return tuple(note for note in notes if severity == note.severity or note.code == FAILURES_RULE)
    return ()


def in_order(notes: Sequence[Note]) -> tuple[Note, ...]:
    """The worst first."""
    return tuple(sorted(notes, key=lambda note: SEVERITIES.index(note.severity)))


def scope(findings: Findings) -> str:
    """How much work this is about."""
    results = findings.results
    if results.is_fixed:
        cases = sum(facts.case_count for facts in results.tasks.values())
        tasks = [_count(len(results.tasks), "task")] if len(results.tasks) > 1 else []
        return ", ".join((_count(len(results.methods), "model"), *tasks, _count(cases, "case")))
    done = sum(record.status == "done" for record in results.records)
    ahead = results.jobs_ahead if results.races else 0
    work = f"{done:,} of {_count(len(results.records) + ahead, 'job')} done"
    parts = (
        _count(len(results.methods), "method"),
        _tasks(findings),
        _brought_sets(results) if results.is_brought else work,
    )
    return ", ".join(parts)


def _tasks(findings: Findings) -> str:
    """How many tasks, and which races among them were not begun."""
    begun = {record.job.task for record in findings.results.records}
    waiting = [address for address in findings.results.races if address not in begun]
    known = len(findings.tasks) + len(waiting) if findings.tasks else len(findings.results.tasks)
    count = _count(known, "task")
    return f"{count} (not begun: {several_names(waiting, 'tasks')})" if waiting else count


def _brought_sets(results: Results) -> str:
    """How many folds or training sets the scores are of that somebody else computed."""
    are_folds = all(facts.scheme == "cross-validation" for facts in results.tasks.values())
    sets = sum(len(facts.instances) for facts in results.tasks.values())
    return _count(sets, "fold" if are_folds else "training set")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
