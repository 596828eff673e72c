"""The findings as tables and in words: answers to the questions of the challenge, with their numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from redelve.report import formatting
from redelve.report.formatting import Cell, ReportColumn, ReportTable
from redelve.stats.multiple import Pair
from redelve.studies.terminal_tables import WIDTH, table_as_text
from redelve.studies.wcci.way_findings import BoundFinding, Stratified, Study, WayFinding, WayFindings

USUAL = "kfold:10"
"""What other ways are set beside."""
CAPTION = (
    "δ = |guess − true BER|, bias = guess − true BER, coverage of the 95 % intervals: means over problems "
    "and classifiers with standard errors, training sets being the unit of replication. p: difference of δ "
    f"from {USUAL}, paired, adjusted for all pairs (Holm). ★: may be the best (multiple comparisons with the "
    "best)."
)


def tables_of(study: Study) -> tuple[ReportTable, ...]:
    """Every table of the study."""
    found: list[ReportTable] = []
    if study.single is not None:
        found.append(ways_table(study.single, "ways", "Which way guesses best?", USUAL))
        found.append(problems_table(study.single))
        if study.single.bounds:
            found.append(bounds_table(study.single.bounds))
    if study.selection is not None:
        found.append(
            ways_table(
                study.selection, "selection", "The best of several models", study.selection.ways[0].way
            )
        )
    return tuple(found)


def ways_table(findings: WayFindings, name: str, title: str, reference: str) -> ReportTable:
    """A row for every way."""
    columns = (
        ReportColumn("way"),
        ReportColumn("δ", ("delta", "delta_error")),
        ReportColumn("bias", ("bias", "bias_error")),
        ReportColumn("coverage", ("coverage", "coverage_error")),
        ReportColumn("width", ("width",)),
        ReportColumn("fits", ("fits",)),
        ReportColumn("seconds", ("seconds",)),
        ReportColumn("p", ("p",)),
    )
    rows = tuple(_way_row(findings, one, reference) for one in findings.ways)
    about = (
        f"{len(findings.problems)} problems × {len(findings.classifiers)} classifiers × {findings.instances}"
    )
    return ReportTable(
        name, title, columns, rows, f"{about} training sets. {CAPTION.replace(USUAL, reference)}"
    )


def _way_row(findings: WayFindings, found: WayFinding, reference: str) -> tuple[Cell, ...]:
    pair = pair_of(findings, found.way, reference)
    p = None if pair is None else pair.adjusted_p_value
    may_be_best = found.way in findings.best.members
    return (
        Cell(found.way, mark="best" if may_be_best else ""),
        _with_error(found.delta),
        _with_error(found.bias),
        Cell(formatting.UNKNOWN) if found.coverage is None else _coverage(found.coverage),
        Cell(formatting.plain(found.width, 2), (found.width,)),
        Cell(f"{found.fits:.0f}", (found.fits,)),
        Cell(formatting.plain(found.seconds, 2), (found.seconds,)),
        Cell(formatting.p_value(p) if pair else "", (p,)),
    )


def _with_error(found: Stratified) -> Cell:
    text = formatting.with_error(found.mean, found.standard_error)
    return Cell(text, (found.mean, found.standard_error))


def _coverage(found: Stratified) -> Cell:
    text = f"{100 * found.mean:.0f} ± {100 * found.standard_error:.0f} %"
    return Cell(text, (found.mean, found.standard_error))


def pair_of(findings: WayFindings, first: str, second: str) -> Pair | None:
    """The comparison of two ways, whichever stands first."""
    return next((pair for pair in findings.pairs.pairs if {pair.first, pair.second} == {first, second}), None)


def problems_table(findings: WayFindings) -> ReportTable:
    """The mean δ of each way on each problem and for each classifier."""
    names = (*findings.problems, *findings.classifiers)
    columns = (ReportColumn("way"), *(ReportColumn(name, (name,)) for name in names))
    rows = []
    for one in findings.ways:
        values = [one.by_problem[name] for name in findings.problems]
        values += [one.by_classifier[name] for name in findings.classifiers]
        rows.append((Cell(one.way), *(Cell(f"{value:.3f}", (value,)) for value in values)))
    caption = "Mean δ on each problem (over classifiers) and of each classifier (over problems)."
    return ReportTable("problems", "Where does it guess well?", columns, tuple(rows), caption)


def bounds_table(bounds: Sequence[BoundFinding]) -> ReportTable:
    """How often bounds tell something."""
    columns = (
        ReportColumn("bound"),
        ReportColumn("trials", ("trials",)),
        ReportColumn("vacuous", ("vacuous",)),
        ReportColumn("held", ("held",)),
        ReportColumn("bound − truth", ("excess",)),
    )
    rows = tuple(
        (
            Cell(one.way),
            *(Cell(str(count), (float(count),)) for count in (one.trials, one.vacuous, one.held)),
            Cell(formatting.plain(one.excess, 2), (one.excess,)),
        )
        for one in bounds
    )
    caption = (
        "Trials to which the bound applies; in how many it is no better than answering by lot (vacuous) and "
        "in how many the true BER lies below it (held); how far it is above the truth on average."
    )
    return ReportTable("bounds", "Do bounds help?", columns, rows, caption)


# --- words -------------------------------------------------------------------------------------------------


def describe(study: Study) -> str:
    """The tables as text, then the answers."""
    parts = [table_as_text(table) for table in tables_of(study)]
    wrapped = [textwrap.fill(sentence, WIDTH, subsequent_indent="  ") for sentence in answers(study)]
    return "\n\n".join([*parts, "Answers\n" + "\n".join(wrapped)])


def answers(study: Study) -> tuple[str, ...]:
    """The paper's questions, each with the numbers found."""
    found: list[str] = []
    if study.single is not None:
        found += [
            _is_cross_validation_best(study.single),
            _which_k(study.single),
            _coverage_words(study.single),
        ]
        found += [_do_bounds_help(study.single.bounds)] if study.single.bounds else []
    if study.selection is not None:
        found.append(_optimism(study.selection))
    found.append(
        f"True BERs are known to ± {study.noise:.4f} (mean σ of equation 1): no way could have a much "
        "smaller δ."
    )
    return tuple(found)


def _is_cross_validation_best(findings: WayFindings) -> str:
    ordered = sorted(findings.ways, key=lambda one: one.delta.mean)
    members = ", ".join(one.way for one in ordered if one.way in findings.best.members)
    best = ordered[0]
    usual = _named(findings, USUAL)
    beside = ""
    if usual is not None and best.way != USUAL:
        pair = pair_of(findings, best.way, USUAL)
        p = None if pair is None else pair.adjusted_p_value
        beside = f" {USUAL} has {_number(usual.delta)} (adjusted {formatting.p_equals(p)})."
    return (
        f"Is cross-validation the best? The smallest mean δ is that of {best.way}, {_number(best.delta)}."
        f"{beside} Not told apart from the best: {members}."
    )


def _which_k(findings: WayFindings) -> str:
    some = [one for one in findings.ways if one.way.startswith("kfold:") or one.way == "loo"]
    listed = "; ".join(
        f"{one.way} δ {_number(one.delta)}, bias {_number(one.bias)}, {one.fits:.0f} fits" for one in some
    )
    return f"What should k be? {listed}."


def _coverage_words(findings: WayFindings) -> str:
    short = [
        f"{one.way} ({100 * one.coverage.mean:.0f} ± {100 * one.coverage.standard_error:.0f} %)"
        for one in findings.ways
        if one.coverage is not None and one.coverage.interval[1] < 0.95
    ]
    if not short:
        return (
            "Do intervals hold what they promise? None covers the truth significantly less often than 95 %."
        )
    return f"Do intervals hold what they promise? Less than 95 %: {', '.join(short)}."


def _do_bounds_help(bounds: Iterable[BoundFinding]) -> str:
    said = [
        f"{one.way} is vacuous in {one.vacuous} of {one.trials} trials and on average "
        f"{formatting.plain(one.excess, 2)} above the truth"
        for one in bounds
        if one.trials
    ]
    return f"Do bounds help? {'; '.join(said)}." if said else "Do bounds help? None applied."


def _optimism(findings: WayFindings) -> str:
    said = [
        f"{one.way} is off by {_number(one.bias)} on average and by {_number(one.delta)} in absolute value"
        for one in findings.ways
    ]
    return f"What does choosing among models cost? {'; '.join(said)}."


def _named(findings: WayFindings, way: str) -> WayFinding | None:
    return next((one for one in findings.ways if one.way == way), None)


def _number(found: Stratified) -> str:
    return formatting.with_error(found.mean, found.standard_error)
