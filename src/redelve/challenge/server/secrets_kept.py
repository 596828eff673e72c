"""Passwords, tokens and keys: how they are made, kept and compared."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from redelve.challenge.server.settings import PasswordCost

TOKEN_PREFIX = "redelve_"
AT_ONCE = 4
"""Passwords hashed at the same time: each takes tens of megabytes."""


def new_secret() -> str:
    """A word of 256 random bits."""
    return secrets.token_urlsafe(32)


def new_token() -> str:
    """A new API token."""
    return TOKEN_PREFIX + new_secret()


def kept_hash(secret: str) -> str:
    """What the database keeps of a random secret; its 256 bits need no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def form_token(key: str, cookie: str) -> str:
    """The token a form must bring back: only who can read our pages for this cookie knows it."""
    return hmac.new(key.encode(), f"form:{cookie}".encode("utf-8", "surrogatepass"), "sha256").hexdigest()


def same(one: str, other: str) -> bool:
    """Whether two secrets agree, in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


class Passwords:
    """Hashes passwords with argon2id."""

    def __init__(self, cost: PasswordCost) -> None:
        self._hasher = PasswordHasher(cost.passes, cost.kibibytes, cost.lanes)
        self._nobody = self._hasher.hash(new_secret())
        self._room = threading.BoundedSemaphore(AT_ONCE)

    def hash(self, password: str) -> str:
        """What is kept of a password."""
        with self._room:
            return self._hasher.hash(password)

    def fits(self, password: str, kept: str | None) -> bool:
        """Whether the password is the one; where there is no account it takes as long to say no."""
        try:
            with self._room:
                return self._hasher.verify(kept or self._nobody, password) and kept is not None
        except (VerificationError, InvalidHashError, UnicodeEncodeError):
            return False

    def is_outdated(self, kept: str) -> bool:
        """Whether the hash was made at another cost."""
        return self._hasher.check_needs_rehash(kept)
