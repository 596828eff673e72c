"""What the server refuses: a status for programs, a sentence for people."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.errors import RedelveError


class Refusal(RedelveError):
    """A request that cannot be met. `code` names the reason for programs; `details` tell what to mend."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Sequence[str] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = tuple(details)
        self.retry_after = retry_after

    def document(self) -> dict[str, object]:
        """The problem as the API tells it."""
        return {"error": {"code": self.code, "message": self.message, "details": list(self.details)}}


def not_found(what: str) -> Refusal:
    """The thing is not there, or not for this account: the answer is the same."""
    return Refusal(404, "not_found", f"There is no {what} here.")


def wrong_field(name: str, message: str) -> Refusal:
    """A field of a form or of a request cannot be taken."""
    return Refusal(422, "wrong_field", f"{name}: {message}")
