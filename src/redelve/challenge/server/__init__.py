"""The challenge server: accounts, uploads, scoring by workers, leaderboards, and pages to see them all.

Everything beyond redelve's own packages is imported inside this room only; `require` tells what to install.
"""

from __future__ import annotations

from importlib.util import find_spec

from redelve.errors import OptionalPackageError

NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "multipart", "argon2", "httpx")
INSTALL = "pip install 'redelve[challenge]'"


def require() -> None:
    """Raise an error with the install line where a package is missing that the server needs."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise OptionalPackageError(f"the challenge server needs {', '.join(missing)}: {INSTALL}")
