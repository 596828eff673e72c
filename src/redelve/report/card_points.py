"""What a benchmark card is made of: points with entries, as Markdown and LaTeX."""

from __future__ import annotations

from dataclasses import dataclass

from redelve.report.formatting import escape_latex, escape_markdown

BY_AUTHOR = "to be stated by the author"
IN_WORDS = "For a paper"


@dataclass(frozen=True)
class CardEntry:
    """A fact: what it is about, and what the records say."""

    about: str
    text: str


@dataclass(frozen=True)
class Point:
    """One of the eight points; `missing` is what only the author can tell.

    `words` are sentences that a published collection suggests, where the results are on its problems.
    """

    number: int
    title: str
    entries: tuple[CardEntry, ...]
    missing: tuple[str, ...] = ()
    words: str = ""

    @property
    def status(self) -> str:
        """Whether the records say it all."""
        if not self.missing:
            return "from the records"
        return f"in part {BY_AUTHOR}" if self.entries else BY_AUTHOR


@dataclass(frozen=True)
class Card:
    """All eight points."""

    points: tuple[Point, ...]

    def markdown(self) -> str:
        """The card as a list in Markdown."""
        lines = []
        for point in self.points:
            lines.append(
                f"{point.number}. **{escape_markdown(point.title)}** ({escape_markdown(point.status)})"
            )
            lines += [
                f"   * {escape_markdown(one.about)}: {escape_markdown(one.text)}" for one in point.entries
            ]
            lines += [f"   * {IN_WORDS}: {escape_markdown(point.words)}"] if point.words else []
            lines += [f"   * *{BY_AUTHOR}*: {escape_markdown(hint)}" for hint in point.missing]
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        """The card as a list in LaTeX."""
        lines = [r"\begin{enumerate}"]
        for point in self.points:
            lines.append(rf"\item \textbf{{{escape_latex(point.title)}}} ({escape_latex(point.status)})")
            lines.append(r"\begin{itemize}")
            lines += [rf"\item {escape_latex(one.about)}: {escape_latex(one.text)}" for one in point.entries]
            lines += [rf"\item {IN_WORDS}: {escape_latex(point.words)}"] if point.words else []
            lines += [rf"\item \emph{{{BY_AUTHOR}}}: {escape_latex(hint)}" for hint in point.missing]
            lines.append(r"\end{itemize}")
        return "\n".join([*lines, r"\end{enumerate}", ""])
