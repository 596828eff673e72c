"""The answer in three sentences for people who do not do statistics: which, how sure, would more data help.

No p-values, no powers of ten, no standard errors: the rest of the report has them. How a loss is written in
the reader's units is decided here and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan, sqrt
from typing import Literal

from redelve.answers.losses import Loss, SquaredError
from redelve.findings import AcrossTasks, Findings, LearningCurve, TaskFindings
from redelve.report.formatting import MINUS, UNKNOWN, listed, per_cent
from redelve.report.race_words import race_headline
from redelve.report.sections import Panel, panels

NOTHING = "No job came to an answer, so there is nothing to analyse."
MOST_NAMED = 4
"""So many methods are named in a sentence; more are counted."""


@dataclass(frozen=True)
class PlainAnswer:
    """Three sentences."""

    which: str
    how_sure: str
    more_data: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """Those that there are."""
        return tuple(text for text in (self.which, self.how_sure, self.more_data) if text)


def plain_answer(findings: Findings) -> PlainAnswer:
    """The answer of a whole report: of its one data set, or over all of them."""
    found = panels(findings)
    if not found:
        return PlainAnswer(NOTHING, "", "")
    return answer_over(findings, found) if len(found) > 1 else answer_on(found[0])


# --- losses in the reader's units --------------------------------------------------------------------------


@dataclass(frozen=True)
class LossUnit:
    """How an expected loss is written for its reader: what it is called, and the number with its error."""

    title: str
    phrase: str
    """Within a sentence, with {} for the number."""
    loss: Loss
    kind: Literal["as shown", "share", "root"] = "as shown"

    def shown(self, value: float | None, error: float | None) -> tuple[float | None, float | None]:
        """The number and its standard error in this unit; a root's by the delta method."""
        if value is None:
            return None, None
        if self.kind == "share":
            return 100 * value, None if error is None else 100 * error
        if self.kind == "as shown":
            return self.loss.shown_value(value), None if error is None else self.loss.shown_spread(error)
        root = sqrt(max(value, 0.0))
        return root, error / (2 * root) if error is not None and root > 0 else None

    @property
    def is_per_cent(self) -> bool:
        """Whether it is written in per cent, so that differences of it are percentage points."""
        return self.kind == "share" or self.loss.in_per_cent

    @property
    def noun(self) -> str:
        """What falls as methods get better."""
        return "typical error" if self.kind == "root" else "loss"

    def fall(self, share: float) -> float:
        """A fall of the loss as the share by which the number shown falls."""
        return 1 - sqrt(max(1 - share, 0.0)) if self.kind == "root" else share

    def words(self, value: float | None) -> str:
        """An expected loss within a sentence: "8.8 % errors", "a typical error of 5,920"."""
        return self.phrase.format(number(self.shown(value, None)[0]))


def unit_of(loss: Loss) -> LossUnit:
    """The unit of a loss: a metric's own, per cent for errors that are counted, the target's for squares."""
    has_own_name = loss.is_metric and loss.shown_name != loss.words
    if loss.in_per_cent or loss.best_value is not None or has_own_name:
        name, per = loss.shown_name, loss.shown_unit
        return LossUnit(f"{name[0].upper()}{name[1:]}{',' * bool(per)}{per}", f"{name} {{}}{per}", loss)
    if loss.is_share:
        return LossUnit("Errors, %", "{} % errors", loss, "share")
    if isinstance(loss, SquaredError):
        return LossUnit("Typical error (root mean square)", "a typical error of {}", loss, "root")
    return LossUnit(f"Mean {loss.words}", f"a mean {loss.words} of {{}}", loss)


def number(value: float | None) -> str:
    """A number with three significant digits, written out: thousands are grouped, nothing is a power of ten.

    >>> number(35_214_000.0), number(0.0031416), number(-12.0), number(None)
    ('35,200,000', '0.00314', '−12.0', '–')
    """
    if value is None or isnan(value):
        return UNKNOWN
    if not isfinite(value):
        return "∞"
    if value == 0:
        return "0"
    exponent = int(f"{value:.2e}".partition("e")[2])
    return f"{round(value, 2 - exponent):,.{max(2 - exponent, 0)}f}".replace("-", MINUS)


def _named(names: Sequence[str], count: str, last: str = "and") -> str:
    """The names, or how many there are."""
    return listed(names, last) if len(names) <= MOST_NAMED else f"{len(names)} {count}"


# --- one data set ------------------------------------------------------------------------------------------


def answer_on(panel: Panel) -> PlainAnswer:
    """Of one data set, by its largest training sets."""
    return PlainAnswer(_which(panel.largest), _how_sure(panel.largest), more_data(panel))


def _which(task: TaskFindings) -> str:
    if task.race is not None:
        return race_headline(task.race, task.judged_by)
    if task.leader is None:
        return "No method came to a usable result."
    loss = unit_of(task.judged_by).words(task.method(task.leader).mean)
    if len(task.methods) == 1:
        return f"{task.leader} is the only method with results, with {loss}{_beside_nothing(task)}."
    others = [name for name in task.best_group if name != task.leader]
    if task.best_group and not others:
        return f"{task.leader} is the best of these {len(task.methods)} methods, with {loss}{_ahead(task)}."
    may_be = f"; {_rivals(task, others)} may be the best as well" if others else ""
    return f"{task.leader} did best, with {loss}{may_be}{_beside_nothing(task)}."


def _rivals(task: TaskFindings, others: Sequence[str]) -> str:
    is_anybody = len(others) > 1 and len(task.best_group) == len(task.methods)
    return "any other" if is_anybody else _named(others, "others")


def _ahead(task: TaskFindings) -> str:
    """How far the leader is ahead of the next method, where that can be put into a few words."""
    first, second, unit = task.by_loss[0].mean, task.by_loss[1].mean, unit_of(task.judged_by)
    name = task.by_loss[1].method
    if first is None or second is None or not isfinite(second):
        return ""
    if task.judged_by.higher_is_better or unit.is_per_cent:
        return f": the next, {name}, has {unit.words(second)}"
    if task.judged_by.is_shift or not 0 < first < second:
        return ""
    return f": {per_cent(unit.fall(1 - first / second))} less than the next, {name}"


def _beside_nothing(task: TaskFindings) -> str:
    """Said of a leader that is no better than an answer that needs no method."""
    assert task.leader is not None
    if not task.method(task.leader).loses_more_than_constant:
        return ""
    return "; always giving the same answer would do as well or better"


def _how_sure(task: TaskFindings) -> str:
    if task.race is not None:
        return "The chance that a race says anything false is at most 5 %."
    if not task.contests or task.leader is None:
        return "Nothing could be compared." if len(task.methods) > 1 else ""
    return _planned(task) if task.is_planned else _group(task)


def _group(task: TaskFindings) -> str:
    group, worse = task.best_group, task.worse
    if not group:
        return "Each method lost more than some other: they were tried on different training sets."
    if len(group) == 1:
        what = (
            "That is 95 % sure" if group[0] == task.leader else f"It is 95 % sure that {group[0]} is the best"
        )
        return f"{what}: every other method was shown to be worse."
    if not worse:
        return f"None of the {len(group)} methods could be ruled out as the best{_missed(task)}."
    among = _named(group, "of them", "or")
    return f"It is 95 % sure that the best is {among}; {_were(worse)} shown to be worse{_missed(task)}."


def _were(names: Sequence[str]) -> str:
    return f"{_named(names, 'methods')} {'was' if len(names) == 1 else 'were'}"


def _planned(task: TaskFindings) -> str:
    shown = [f"{one.winner} is better than {one.loser}" for one in task.contests if one.winner]
    open_pairs = [f"{one.first} and {one.second}" for one in task.contests if not one.winner]
    told = [f"It is 95 % sure that {_named(shown, 'planned comparisons show a difference')}"] if shown else []
    if open_pairs:
        pairs = _named(open_pairs, "planned pairs")
        told.append(f"{pairs} could not be told apart")
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}."


def _missed(task: TaskFindings) -> str:
    """How small a difference this experiment could not see, by the leader's nearest rival."""
    rivals = [name for name in task.best_group if name != task.leader]
    contest = task.by_pair.get(frozenset((task.leader or "", rivals[0]))) if rivals else None
    smallest = None if contest is None else contest.outlook.smallest_found
    if smallest is None or not isfinite(smallest):
        return ""
    return f", and {_unseen(task, smallest)} may have gone unseen"


def _unseen(task: TaskFindings, smallest: float) -> str:
    unit, mean = unit_of(task.judged_by), task.method(task.leader or "").mean or 0.0
    if unit.is_per_cent:
        return f"a difference below about {number(100 * smallest)} percentage points"
    if task.judged_by.higher_is_better or task.judged_by.is_shift:
        return f"a difference below about {number(smallest)}"
    if mean <= 0 or smallest >= mean:
        return "even a large difference"
    return f"a difference below about {per_cent(-unit.fall(-smallest / mean))}"


def more_data(panel: Panel) -> str:
    """What twice the data would do for the leader."""
    if len(panel.tasks) < 2:
        return "Whether more data would help cannot be told: only one training-set size was tried."
    leader = panel.largest.leader
    curve = None if leader is None else panel.curve(leader)
    if curve is None or curve.more_data is None or curve.more_data.verdict == "cannot be told":
        return "Whether more data would help cannot be told from these results."
    return f"{_fall(curve, unit_of(panel.largest.judged_by))}."


def _fall(curve: LearningCurve, unit: LossUnit) -> str:
    found = curve.more_data
    assert found is not None
    amount = curve.amount if curve.is_shift else lambda share: curve.amount(unit.fall(share))
    twice = f"with twice the training cases the {unit.noun} of {curve.method} is"
    if found.verdict == "no":
        most = f"to fall by at most {amount(found.high)}" if found.high > 0 else "not to fall"
        return f"More data would hardly help: {twice} expected {most}"
    if found.fall is None:
        return f"More data would help: {twice} expected to fall by {amount(found.low)} or more"
    return f"More data would help: {twice} expected to fall by about {amount(found.fall)}"


# --- many data sets ----------------------------------------------------------------------------------------


def answer_over(findings: Findings, found: Sequence[Panel]) -> PlainAnswer:
    """Over several data sets, each of which counts once."""
    across = findings.across
    if across is None:
        return PlainAnswer(_leaders(found), "Averages over these data sets make no sense.", "")
    leader = across.by_loss[0].method
    return PlainAnswer(_which_over(across, found), _sure_over(across), _more_over(leader, found))


def _leaders(found: Sequence[Panel]) -> str:
    """Who had the smallest loss how often, where nothing can be averaged."""
    first = Counter(panel.largest.leader for panel in found if panel.largest.leader)
    told = [f"{name} on {times}" for name, times in first.most_common(MOST_NAMED)]
    return f"Of {len(found)} data sets, the smallest loss was that of {listed(told)}."


def _which_over(across: AcrossTasks, found: Sequence[Panel]) -> str:
    best, count = across.by_loss[0], len(across.tasks)
    stars = sum(best.method in panel.largest.best_group for panel in found)
    share = ""
    if not across.judged_by.is_shift and isfinite(best.average):
        share = f" with {per_cent(best.average)} of the loss of always giving the same answer"
    return (
        f"Over {count} data sets {best.method} did best on average{share}; "
        f"it may be the best on {stars} of {len(found)}."
    )


def _sure_over(across: AcrossTasks) -> str:
    if not across.pairs:
        return (
            f"{len(across.tasks)} data sets are too few to say which method is better on others like them: "
            "it takes three."
        )
    if across.is_planned:
        shown = [f"{pair.winner} is better than {pair.loser}" for pair in across.pairs if pair.winner]
        what = _named(shown, "planned comparisons show a difference")
        return f"{'It is 95 % sure that ' + what if shown else 'No planned comparison shows a difference'}."
    worse = across.worse
    rest = [one.method for one in across.by_loss if one.method not in worse]
    if not worse:
        return "On average over data sets like these no method was shown to be better than another."
    if len(rest) == 1:
        return f"It is 95 % sure that {rest[0]} is the best on average over data sets like these."
    return (
        f"It is 95 % sure that {_named(worse, 'methods')} {'is' if len(worse) == 1 else 'are'} not the best "
        f"on average over data sets like these; {_named(rest, 'others')} could not be told apart."
    )


def _more_over(leader: str, found: Sequence[Panel]) -> str:
    several = [panel for panel in found if len(panel.tasks) > 1]
    if not several:
        return "Whether more data would help cannot be told: only one training-set size was tried."
    verdicts = Counter(_verdict(panel, leader) for panel in several)
    parts = [
        f"{text} on {verdicts[verdict]}"
        for verdict, text in (("yes", "would help"), ("no", "would hardly help"))
        if verdicts[verdict]
    ]
    if not parts:
        return f"Whether more data would help {leader} cannot be told on any of {len(several)} data sets."
    rest = verdicts["cannot be told"]
    told = f"; on {rest} that cannot be told" if rest else ""
    return f"More data {' and '.join(parts)} of the {len(several)} data sets with several sizes{told}."


def _verdict(panel: Panel, method: str) -> str:
    curve = panel.curve(method)
    return "cannot be told" if curve is None or curve.more_data is None else curve.more_data.verdict
