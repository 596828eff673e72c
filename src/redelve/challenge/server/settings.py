"""How a server is set up: where its files are, and the limits it keeps to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PasswordCost:
    """What hashing a password takes (argon2id); the defaults follow RFC 9106, section 4, second choice."""

    passes: int = 3
    kibibytes: int = 65536
    lanes: int = 4


@dataclass(frozen=True)
class RateLimits:
    """How often things may be tried: (times, seconds). Where there is None the challenge's limits say it."""

    login_by_name_and_address: tuple[int, int] = (5, 900)
    login_by_name: tuple[int, int] = (50, 900)
    login_by_address: tuple[int, int] = (100, 900)
    registrations_by_address: tuple[int, int] | None = None
    uploads: tuple[int, int] | None = None
    uploads_by_address: tuple[int, int] | None = None
    links_by_address: tuple[int, int] = (20, 3600)
    actions: tuple[int, int] = (240, 3600)
    """Other changes by one account: tokens, cancellations, new passwords."""


@dataclass(frozen=True)
class Settings:
    """Everything the server must know beside the challenge itself.

    `secure` says that the pages are reached by https; cookies are then sent that way only. `workers` counts
    the threads that score in the server's own process; with 0, `redelve challenge worker` must run.
    """

    challenge: Path
    data: Path
    database: str
    secure: bool = False
    workers: int = 1
    lease_seconds: float = 60.0
    poll_seconds: float = 1.0
    attempts: int = 3
    orphan_seconds: float = 3600.0
    upload_seconds: float = 900.0
    body_seconds: float = 30.0
    session_seconds: float = 14 * 86400.0
    invitation_seconds: float = 7 * 86400.0
    pause_seconds: float = 86400.0
    """How long the server may have been off before dates that passed meanwhile need an organiser's word."""
    passwords: PasswordCost = PasswordCost()
    rates: RateLimits = RateLimits()

    @staticmethod
    def for_folder(
        challenge: Path | str, *, data: Path | str | None = None, database: str | None = None
    ) -> Settings:
        """The settings of a challenge whose server keeps its files, and its database, in a folder."""
        folder = Path(challenge)
        place = Path(data) if data is not None else folder / "server"
        return Settings(folder, place, database or f"sqlite:///{place.absolute() / 'server.sqlite3'}")

    @property
    def uploads(self) -> Path:
        """The folder of what participants sent."""
        return self.data / "uploads"
