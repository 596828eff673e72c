"""Phases of a challenge by the clock: before it opens, development, validation labels published, ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from redelve.errors import SpecError

Phase = Literal["before", "development", "labels", "ended"]
PHASES: dict[Phase, str] = {
    "before": "not open yet",
    "development": "development: validation scores at once, test scores undisclosed",
    "labels": "validation labels published",
    "ended": "ended: final ranking",
}


@dataclass(frozen=True)
class Phases:
    """The three instants that divide the phases, in UTC; each belongs to the phase that it begins."""

    opens: datetime
    validation_labels: datetime
    ends: datetime

    def __post_init__(self) -> None:
        for name in ("opens", "validation_labels", "ends"):
            instant = getattr(self, name)
            if instant.tzinfo is None:
                raise SpecError(
                    f"{name} = {instant.isoformat()} has no time zone: add an offset such as +01:00"
                )
            object.__setattr__(self, name, instant.astimezone(UTC))
        if not self.opens < self.ends:
            raise SpecError(f"the challenge ends at {self.ends}, not after it opens at {self.opens}")
        if not self.opens <= self.validation_labels <= self.ends:
            raise SpecError(
                f"validation labels are published at {self.validation_labels}, which is not between opening "
                f"({self.opens}) and end ({self.ends})"
            )

    def at(self, instant: datetime) -> Phase:
        """The phase at an instant, which must have a time zone."""
        if instant.tzinfo is None:
            raise SpecError(f"{instant.isoformat()} has no time zone: there is no telling the phase")
        if instant < self.opens:
            return "before"
        if instant < self.validation_labels:
            return "development"
        return "labels" if instant < self.ends else "ended"


def instant_in(value: datetime | str, time_zone: str | None = None) -> datetime:
    """An instant in UTC, from a date and time with an offset, or from one in a named time zone.

    >>> instant_in("2006-03-01T00:00:00", "Europe/Zurich").isoformat()
    '2006-02-28T23:00:00+00:00'
    """
    given = _parsed(value) if isinstance(value, str) else value
    if given.tzinfo is not None:
        return given.astimezone(UTC)
    if time_zone is None:
        raise SpecError(
            f"{given.isoformat()} has no offset: write {given.isoformat()}+00:00, or name a time_zone such "
            'as "Europe/Zurich"'
        )
    return _in_zone(given, zone_named(time_zone))


def zone_named(name: str) -> ZoneInfo:
    """A time zone of the IANA database."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise SpecError(
            f'unknown time zone "{name[:60]}": give one such as "UTC" or "Europe/Zurich"'
        ) from None


def _parsed(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise SpecError(f'"{text[:60]}" is no date and time: write it as 2026-03-01T12:00:00+01:00') from None


def _in_zone(local: datetime, zone: ZoneInfo) -> datetime:
    """The only instant with this local time; an error when clocks are put forward or back just then."""
    early, late = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if early == late:
        return early
    what = "twice" if early < late else "not at all"
    raise SpecError(
        f"{local.isoformat()} comes {what} in {zone.key}, where clocks are changed just then: give it with "
        f"an offset, such as {early.isoformat()}"
    )
