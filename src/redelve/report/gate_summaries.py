"""A gate's verdict for machines and pull requests: JUnit XML and Markdown."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from redelve.findings.gate import GateVerdict
from redelve.report.formatting import escape_markdown, plain

NOT_IN_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML may have, not even escaped, though names in tables may."""
SIGNS = {"not worse": "✅", "worse": "❌", "not enough evidence": "❔"}


def gate_markdown(verdict: GateVerdict) -> str:
    """A comment for a pull request: the verdict, the scores in a table, notes."""
    low, high = (_signed(end) for end in verdict.interval)
    interval = "unknown" if verdict.is_constant else f"{low} to {high}"
    sure = f"{100 * (1 - 2 * verdict.level_of_look):.3g} % interval"
    new, than = (escape_markdown(name) for name in (verdict.new, verdict.than))
    scores = [plain(score, 4) for score in verdict.scores]
    lines = [
        f"### {SIGNS[verdict.answer]} {new} against {than}: {verdict.answer}",
        "",
        _sentence(verdict),
        "",
        f"| | {new} | {than} | difference | {sure} |",
        "|---|---|---|---|---|",
        f"| mean score, {verdict.cases:,} cases | {scores[0]} | {scores[1]} "
        f"| {_signed(verdict.difference)} | {interval} |",
        "",
        f"Above 0 is for the better. Margin {verdict.margin:g}, level {verdict.level_of_look:g}.",
        *(f"\n* {escape_markdown(note)}" for note in verdict.notes),
    ]
    return "\n".join(lines) + "\n"


def _sentence(verdict: GateVerdict) -> str:
    reason = escape_markdown(verdict.reason)
    if verdict.answer == "worse":  # it begins with a name, which stays as it is
        return f"{reason}."
    return f"{reason[:1].upper()}{reason[1:]}."


def _signed(value: float) -> str:
    return f"+{plain(value)}" if value > 0 else plain(value)


def gate_junit(verdict: GateVerdict) -> str:
    """A test report: "worse" is a failure, "not enough evidence" a test that was skipped."""
    name = quoteattr(f"{verdict.new} is not worse than {verdict.than} by {verdict.margin:g}")
    message, text = quoteattr(f"{verdict.answer}: {verdict.reason}"), escape(str(verdict))
    bodies = {
        "not worse": "",
        "worse": f"<failure type={quoteattr(verdict.answer)} message={message}>{text}</failure>",
        "not enough evidence": f"<skipped message={message}>{text}</skipped>",
    }
    failures, skipped = int(verdict.answer == "worse"), int(verdict.answer == "not enough evidence")
    counts = f'tests="1" failures="{failures}" errors="0" skipped="{skipped}"'
    return NOT_IN_XML.sub(
        "?",
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<testsuites><testsuite name="redelve gate" {counts}>'
        f'<testcase classname="redelve.gate" name={name}>{bodies[verdict.answer]}'
        f"<system-out>{text}</system-out></testcase></testsuite></testsuites>\n",
    )
