"""What is bound when a challenge opens: salted hashes of its secret labels and of its rules.

A hash is SHA-256 of the salt's letters followed by the text: `(printf %s SALT; cat FILE) | sha256sum`. Labels
are written as `challenge_files.labels_bytes` does, 1 or -1 on a line each. Whoever keeps a hash from the
opening can tell at the end, when the salts are shown, that nothing was exchanged in between.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from redelve.challenge.challenge_files import labels_bytes
from redelve.challenge.challenge_folder import Challenge
from redelve.errors import SpecError

SECRET_PARTS = ("valid", "test")
RULES = "rules"


@dataclass(frozen=True)
class Commitment:
    """A hash that binds a text without telling it, and the salt that opens it."""

    hash: str
    salt: str
    at: str

    def opens(self, content: bytes) -> bool:
        """Whether this text is the one that was bound."""
        return salted_hash(self.salt, content) == self.hash


class LabelsChanged(SpecError):
    """Labels or rules are not those that were bound when the challenge opened."""


def salted_hash(salt: str, content: bytes) -> str:
    """SHA-256(salt ‖ content), in hexadecimal digits.

    >>> salted_hash("ab", b"1\\n-1\\n")[:16]
    '9f22caa589988e3c'
    """
    return hashlib.sha256(salt.encode() + content).hexdigest()


def bind(content: bytes, now: datetime) -> Commitment:
    """Bind a text, with a salt of 256 random bits."""
    salt = secrets.token_hex(32)
    return Commitment(salted_hash(salt, content), salt, now.isoformat(timespec="seconds"))


def rules_text(challenge: Challenge) -> str:
    """What decides the ranking, apart from the labels: datasets and rules, as JSON with sorted keys."""
    told = {
        "datasets": [
            {"name": one.name, "kind": one.kind, "features": one.features, "sizes": dict(one.sizes)}
            for one in challenge.datasets
        ],
        "ranked_entries": challenge.limits.ranked_entries,
        "score": "R = BER + d (1 - exp(-d/sigma)), d = |guess - BER|; ranks on each dataset are added",
        **asdict(challenge.rules),
    }
    return json.dumps(told, sort_keys=True)


def contents(challenge: Challenge, keys: Iterable[str] | None = None) -> dict[str, bytes]:
    """The texts to be bound that are at hand, by key: the rules, and `NAME_valid`, `NAME_test` for labels."""
    found = {RULES: rules_text(challenge).encode()}
    for name in challenge.names:
        for part in SECRET_PARTS:
            key = f"{name}_{part}"
            if (keys is None or key in keys) and challenge.labels_path(name, part).is_file():
                found[key] = labels_bytes(challenge.truths(name, part))
    return found


def differing(held: Mapping[str, Commitment], given: Mapping[str, bytes]) -> list[str]:
    """The keys whose text is another one than was bound."""
    return [key for key, text in given.items() if key in held and not held[key].opens(text)]


def changed_sentence(held: Mapping[str, Commitment], keys: Iterable[str], challenge: Challenge) -> str:
    """What to tell an organiser whose files are other ones."""
    first = next(iter(keys))
    what = (
        "the datasets or [rules] of challenge.toml are not those"
        if first == RULES
        else f"the labels in {challenge.folder / 'secret' / first}.labels are not those"
    )
    return (
        f"{what} that were bound on {held[first].at}, whose hash participants have seen: put back the file "
        "as it was; for other labels make another challenge, with another --database and --data"
    )


def to_plain(held: Mapping[str, Commitment]) -> dict[str, Any]:
    """Plain values that JSON can hold, salts included."""
    return {key: asdict(one) for key, one in held.items()}


def from_plain(plain: Mapping[str, Any]) -> dict[str, Commitment]:
    """What `to_plain` made."""
    return {key: Commitment(**one) for key, one in plain.items()}
