"""The documents of the API, for checking what comes in and for describing what goes out."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field


class Credentials(BaseModel):
    """A name and a password."""

    name: str = Field(max_length=400)
    password: str = Field(max_length=400)


class TokenWanted(Credentials):
    """What a new token needs."""

    label: str = Field(default="", max_length=400)


class ErrorContent(BaseModel):
    """What went wrong."""

    code: str
    message: str
    details: list[str] = []


class ErrorAnswer(BaseModel):
    """Every error of the API."""

    error: ErrorContent


class PhasesAnswer(BaseModel):
    """The times that divide the phases."""

    opens: datetime
    validation_labels: datetime
    ends: datetime


class LimitsAnswer(BaseModel):
    """What a participant may do."""

    submissions_per_day: int
    megabytes: int
    ranked_entries: int
    registrations_per_hour: int
    uploads_per_hour: int
    address_uploads_per_hour: int


class RulesAnswer(BaseModel):
    """What is shown of validation scores, which entries are ranked, whether test labels are published."""

    validation_feedback: str
    rank_pool: str
    test_labels: str


class DatasetAnswer(BaseModel):
    """A dataset."""

    name: str
    kind: str
    features: int
    sizes: dict[str, int]


class ChallengeAnswer(BaseModel):
    """A challenge."""

    title: str
    description: str
    stage: str
    now: datetime
    time_zone: str
    phases: PhasesAnswer
    limits: LimitsAnswer
    rules: RulesAnswer
    datasets: list[DatasetAnswer]


class CommitmentsAnswer(BaseModel):
    """What was bound at the opening: SHA-256(salt ‖ text) of rules and labels; no `salts` before the end."""

    rules: str
    hashes: dict[str, str]
    bound_at: dict[str, str]
    salts: dict[str, str] | None
    deadline: datetime


class FileAnswer(BaseModel):
    """A file to download."""

    name: str
    size: int


class AccountAnswer(BaseModel):
    """An account."""

    id: int
    name: str
    role: str


class QuotaAnswer(BaseModel):
    """Entries of today."""

    used: int
    limit: int | None
    renewed: datetime


class OwnAccountAnswer(AccountAnswer):
    """One's own account."""

    quota: QuotaAnswer


class TokenAnswer(BaseModel):
    """A new token."""

    id: int
    label: str
    token: str


class EntryAnswer(BaseModel):
    """An entry and its state."""

    id: int
    label: str
    participant: str
    state: str
    state_at: datetime
    reason: str
    problems: list[str]
    received_at: datetime
    size: int
    sha256: str
    is_complete: bool | None
    is_disqualified: bool
    is_chosen: bool


class EventAnswer(BaseModel):
    """A state that an entry came into."""

    at: datetime
    state: str
    reason: str


class DetailedEntryAnswer(EntryAnswer):
    """An entry with history and scores; `final` is null before the end."""

    history: list[EventAnswer]
    development: dict[str, Any]
    final: dict[str, Any] | None


class BoardAnswer(BaseModel):
    """A leaderboard: tables of datasets, the overall one, and the best row of each participant."""

    by: str
    part: str
    level: float
    datasets: dict[str, list[dict[str, Any]]]
    overall: list[dict[str, Any]]
    participants: list[dict[str, Any]]
