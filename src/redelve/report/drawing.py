"""How figures look and how they are kept: one style, one palette, files that never differ."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Any

from redelve.report.formatting import ReportTable, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, MUTED, RULE, PAPER = "#1c2126", "#5c666f", "#d5dae0", "#fefefe"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#a6761d")
"""Okabe and Ito (2008), with grey and brown for black and yellow, which vanish on dark and light paper."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "<", ">", "h", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
HATCHES = ("", "///", "..", "xx", "\\\\\\", "++")
LONGEST_LABEL = 22
NARROWEST = 0.7
"""A figure shrinks to this part of its width, where text can still be read; beyond that it scrolls."""
VARIABLES = {
    INK: "ink", MUTED: "muted", RULE: "rule", PAPER: "paper",
    **{colour: f"c{number}" for number, colour in enumerate(PALETTE, 1)},
}  # fmt: skip
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "redelve",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.titlesize": 9.5,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.facecolor": "none",
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "hatch.color": PAPER,
    "legend.frameon": False,
}
DOTS_PER_INCH = 150
_STYLE_IS_GLOBAL = Lock()
"""matplotlib keeps its settings in one place for all threads."""


@dataclass(frozen=True)
class FigureLook:
    """How a method is drawn, in every figure and beside its name."""

    colour: str
    marker: str
    dash: Any


def look_of(number: int) -> FigureLook:
    """The look of the method with this number, from 0; colours, markers and dashes repeat out of step.

    Eight colours and twelve markers meet again after 24; markers then move on by one.

    >>> len({(look_of(number).colour, look_of(number).marker) for number in range(96)})
    96
    """
    marker = MARKERS[(number + number // 24) % len(MARKERS)]
    return FigureLook(PALETTE[number % len(PALETTE)], marker, DASHES[(number // 4) % len(DASHES)])


@dataclass(frozen=True)
class Picture:
    """A figure with what it says for those who cannot see it; drawn anew whenever it is kept."""

    name: str
    title: str
    description: str
    caption: str
    draw: Callable[[], Figure]
    table: ReportTable | None = None
    """The same numbers."""
    svg: bytes | None = None
    """As it was drawn already, for pages."""


def label(name: str, longest: int = LONGEST_LABEL) -> str:
    """A method's name short enough for a figure."""
    clean = tidy(name)
    return clean if len(clean) <= longest else f"{clean[: longest - 1]}…"


def load_drawing() -> None:
    """Load what figures are drawn and kept with, so that nobody waits for it later."""
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401


UNKNOWN_LETTERS = "Glyph |Matplotlib currently does not support"
"""How warnings of letters begin that matplotlib's font lacks; in a page the reader's own fonts have them."""


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that no global state knows of."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def draw_marker(axes: Axes, x: float, y: float, look: FigureLook, size: float = 5.5, **more: Any) -> None:
    """A method's marker, which may lie outside the axes."""
    edge: dict[str, Any] = {"markeredgecolor": INK, "markeredgewidth": 0.5}
    axes.plot([x], [y], look.marker, color=look.colour, markersize=size, clip_on=False, **edge, **more)


@contextmanager
def style() -> Iterator[None]:
    """Draw and save in the report's style."""
    import matplotlib as mpl

    with _STYLE_IS_GLOBAL, mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=UNKNOWN_LETTERS)
        mpl.rcdefaults()
        for name, value in STYLE.items():
            mpl.rcParams[name] = value  # type: ignore[index]
        yield


def save(picture: Picture, kind: str) -> bytes:
    """The figure as `svg`, `pdf` or `png`, the same bytes every time."""
    return save_as(picture, [kind])[kind]


def save_as(picture: Picture, kinds: Sequence[str]) -> dict[str, bytes]:
    """The figure in several formats, drawn once."""
    found = {}
    with style():
        figure = picture.draw()
        for kind in kinds:
            out = io.BytesIO()
            figure.savefig(out, format=kind, bbox_inches="tight", **_format(kind, picture.title))
            found[kind] = out.getvalue()
    return found


def _format(kind: str, title: str) -> dict[str, Any]:
    """What a format is given; an image lies on light paper."""
    if kind == "png":
        return {"dpi": DOTS_PER_INCH, "pad_inches": 0.1, "facecolor": PAPER}
    date = "Date" if kind == "svg" else "CreationDate"
    return {"metadata": {date: None, "Title": title}, "pad_inches": 0.04}


def save_all(pictures: Sequence[Picture]) -> bytes:
    """All figures in one PDF, a page each."""
    from matplotlib.backends.backend_pdf import PdfPages

    out = io.BytesIO()
    with style(), PdfPages(out, metadata={"CreationDate": None}) as pages:
        for picture in pictures:
            figure = picture.draw()
            figure.text(
                0, 1.02, picture.title, fontsize=11, weight="bold", va="bottom", transform=figure.transFigure
            )
            pages.savefig(figure, bbox_inches="tight", pad_inches=0.4)
    return out.getvalue()


def inline(picture: Picture) -> str:
    """The figure for a page: colours follow the page's theme, text is text, names are its own."""
    svg = (picture.svg or save(picture, "svg")).decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    prefix = f"fig-{picture.name}-"
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}\1"', svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{prefix}\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}\1)", svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = re.sub(r"'DejaVu Sans'", "var(--sans)", svg)
    return _named(svg, picture, prefix)


def _named(svg: str, picture: Picture, prefix: str) -> str:
    """With a title and a description that screen readers speak."""
    width, height = _size(svg)
    pixels = width * 4 / 3
    start = (
        f'<svg class="figure" role="img" aria-labelledby="{prefix}title {prefix}desc" '
        f'viewBox="0 0 {width:g} {height:g}" '
        f'style="width:{pixels:.0f}px;min-width:{NARROWEST * pixels:.0f}px" '
        f'preserveAspectRatio="xMinYMin meet">'
        f'<title id="{prefix}title">{escape(tidy(picture.title))}</title>'
        f'<desc id="{prefix}desc">{escape(tidy(picture.description))}</desc>'
    )
    body = re.sub(r"<title>.*?</title>", "", svg[svg.index(">") + 1 :], count=1, flags=re.DOTALL)
    return start + body


def _size(svg: str) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert found is not None
    return float(found[1]), float(found[2])


def swatch_path(marker: str) -> str:
    """A marker's outline as the path of an SVG with viewBox −1 −1 2 2."""
    from matplotlib.markers import MarkerStyle

    drawn = MarkerStyle(marker)
    path = drawn.get_path().transformed(drawn.get_transform())
    polygons: list[Any] = path.to_polygons()
    scale = 0.9 / max(abs(polygon).max() for polygon in polygons)
    parts = [
        "M" + " L".join(f"{x * scale:.3f},{-y * scale:.3f}" for x, y in polygon) + "Z" for polygon in polygons
    ]
    return " ".join(parts)


def spread_out(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places between `low` and `high`, moved little so that neighbours are `gap` apart if there is room.

    >>> spread_out([0.5, 0.52, 0.9], 0.1, 0.0, 1.0)
    [0.46, 0.56, 0.9]
    """
    order = sorted(range(len(places)), key=lambda k: places[k])
    gap = min(gap, (high - low) / max(len(places) - 1, 1))
    wished = [places[k] for k in order]
    halfway = [
        (up + down) / 2 for up, down in zip(_upwards(wished, gap), _downwards(wished, gap), strict=True)
    ]
    inside = _downwards(_upwards([max(place, low) for place in halfway], gap), gap, high)
    moved = dict(zip(order, inside, strict=True))
    return [round(moved[k], 10) for k in range(len(places))]


def _upwards(places: Sequence[float], gap: float) -> list[float]:
    """Each place, in increasing order, at least `gap` above the one before."""
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + gap) if found else place)
    return found


def _downwards(places: Sequence[float], gap: float, high: float = inf) -> list[float]:
    """Each place at least `gap` below the one after it, the last one not above `high`."""
    found: list[float] = []
    for place in reversed(places):
        found.append(min(place, found[-1] - gap) if found else min(place, high))
    return found[::-1]


def plain_log_ticks(axes: Axes, sizes: Sequence[int]) -> None:
    """A log₂ axis that names exactly the sizes given."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(list(map(float, sizes))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
