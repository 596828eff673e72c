"""How times, sizes and numbers are shown on pages."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from markupsafe import Markup


def moment(value: datetime | None, zone: str = "UTC") -> Markup | str:
    """A time in the challenge's zone and in UTC.

    >>> str(moment(datetime(2026, 3, 1, 11, tzinfo=UTC), "Europe/Zurich"))
    '<time datetime="2026-03-01T11:00:00+00:00">2026-03-01 12:00 Europe/Zurich (11:00 UTC)</time>'
    """
    if value is None:
        return "—"
    there, here = value.astimezone(ZoneInfo(zone)), value.astimezone(UTC)
    shown = there.strftime("%Y-%m-%d %H:%M")
    if zone != "UTC":
        same_day = there.date() == here.date()
        shown += f" {zone} ({here.strftime('%H:%M' if same_day else '%Y-%m-%d %H:%M')} UTC)"
    else:
        shown += " UTC"
    return Markup('<time datetime="{}">{}</time>').format(here.isoformat(timespec="seconds"), shown)


def size(value: int) -> str:
    """A number of bytes.

    >>> size(1536)
    '1.5 KiB'
    """
    amount, unit = float(value), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB"):  # noqa: B007
        if amount < 1024:
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many digits after the point; a dash where there is none."""
    return "—" if value is None else f"{value:.{digits}f}"


FILTERS = {"moment": moment, "size": size, "number": number}
