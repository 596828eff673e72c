"""Small drawings in SVG, made by hand so that pages need no script and no style of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from redelve.stats.balanced_errors import scores_at

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 320.0, 220.0, 44.0, 34.0, 10.0
Point = tuple[float, float]
Timed = Sequence[tuple[datetime, float, float]]


@dataclass(frozen=True)
class DrawingFrame:
    """The part of the plane that a drawing shows."""

    left: float
    right: float
    low: float
    high: float

    def at(self, point: Point) -> str:
        """A point in the drawing's own units."""
        across = LEFT + (WIDTH - LEFT - 8) * (point[0] - self.left) / (self.right - self.left)
        up = TOP + (HEIGHT - BOTTOM - TOP) * (self.high - point[1]) / (self.high - self.low)
        return f"{across:.1f},{up:.1f}"

    def line(self, points: Sequence[Point], kind: str) -> Markup:
        """A line through points."""
        return Markup('<polyline class="{}" points="{}"/>').format(kind, " ".join(map(self.at, points)))

    def mark(self, point: Point, title: str) -> Markup:
        """A dot with a title."""
        x, y = self.at(point).split(",")
        return Markup('<circle class="mark" cx="{}" cy="{}" r="4"><title>{}</title></circle>').format(
            x, y, title
        )


def figure_1(ber: float, error: float, guess: float | None) -> Markup:
    """The ranking score as a function of the guess (Guyon et al. 2006, figure 1) with one's own guess."""
    reach = max(0.02, 4 * error, 0.0 if guess is None else 1.25 * abs(guess - ber))
    left, right = max(0.0, ber - reach), min(1.0, ber + reach)
    steps = [left + (right - left) * step / 120 for step in range(121)]
    places = sorted({*steps, ber})
    curve = list(zip(places, scores_at(ber, error, places).tolist(), strict=True))
    dashed = [(at, ber + abs(at - ber)) for at in (left, ber, right)]
    high = max(value for _, value in dashed) + 0.02 * reach
    frame = DrawingFrame(left, right, max(0.0, ber - 0.06 * reach), high)
    parts = [frame.line(dashed, "dashed"), frame.line(curve, "curve")]
    if guess is not None:
        own = float(scores_at(ber, error, guess))
        parts.append(frame.mark((guess, own), f"guess {guess:.4f}, R {own:.4f}"))
    label = f"Ranking score by guessed BER; BER {ber:.4f}, standard error {error:.4f}"
    return _drawing(frame, parts, label, ("guessed BER", "R"))


def over_time(own: Timed, best: Timed, title: str) -> Markup:
    """Validation BER over time: one's own entries with error bars, and the best of all as steps."""
    times = [moment.timestamp() for moment, _, _ in (*own, *best)]
    values = [value + side * error for value, error in ((v, e) for _, v, e in own) for side in (-1, 1)]
    values += [value for _, value, _ in best]
    start, stop = min(times), max(times)
    spread = max(max(values) - min(values), 0.02)
    frame = DrawingFrame(
        start,
        stop if stop > start else start + 1,
        max(0.0, min(values) - 0.05 * spread),
        max(values) + 0.05 * spread,
    )
    parts = [frame.line(_steps(best, frame.right), "best-line")] if best else []
    points = [(moment.timestamp(), value) for moment, value, _ in own]
    for (at, value), (_, _, error) in zip(points, own, strict=True):
        parts.append(frame.line([(at, max(value - error, frame.low)), (at, value + error)], "axis"))
        parts.append(frame.mark((at, value), f"{value:.4f} ± {error:.4f}"))
    if points:
        parts.append(frame.line(points, "mine-line"))
    ends = tuple(datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") for at in (start, stop))
    return _drawing(frame, parts, title, ("time (UTC)", "BER"), (ends[0], ends[1]))


def _steps(line: Timed, right: float) -> list[Point]:
    points: list[Point] = []
    for moment, value, _ in line:
        if points:
            points.append((moment.timestamp(), points[-1][1]))
        points.append((moment.timestamp(), value))
    return [*points, (right, points[-1][1])]


def _drawing(
    frame: DrawingFrame,
    parts: Sequence[Markup],
    label: str,
    axes: tuple[str, str],
    ends: tuple[str, str] | None = None,
) -> Markup:
    """The drawing with its axes; `ends` are written below, numbers unless told."""
    base = HEIGHT - BOTTOM
    below = ends or (f"{frame.left:.3f}", f"{frame.right:.3f}")
    texts = [
        (LEFT - 4, TOP + 8, "end", f"{frame.high:.3f}"),
        (LEFT - 4, base, "end", f"{frame.low:.3f}"),
        (LEFT, base + 14, "start", below[0]),
        (WIDTH - 8, base + 14, "end", below[1]),
        ((LEFT + WIDTH) / 2, HEIGHT - 4, "middle", axes[0]),
        (4, HEIGHT / 2, "start", axes[1]),
    ]
    axis = Markup('<polyline class="axis" points="{0},{1} {0},{2} {3},{2}"/>').format(
        LEFT, TOP, base, WIDTH - 8
    )
    words = Markup("").join(
        Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(*text) for text in texts
    )
    return Markup('<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}{}{}</svg>').format(
        int(WIDTH), int(HEIGHT), label, axis, words, Markup("").join(parts)
    )
