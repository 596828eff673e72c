"""The digest of a noun: a short hash of everything that makes it what it is."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any


def digest(noun: Any) -> str:
    """Thirty-two hexadecimal digits that change when any field of a frozen value changes."""
    canonical = json.dumps(_plain(noun), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = getattr(value, "content_digest", None)
        if own is not None:
            return own
        fields = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return value
