"""What the built-in root tells of the methods that come with redelve: a Summary file for each."""

from __future__ import annotations

SUMMARIES = {
    "lin-1": """\
Linear regression by least squares, with a constant term, for tasks with
numerical targets. Inputs and targets are encoded in the default way. Inputs
that are linearly dependent, or nearly so, are handled by leaving out the
directions in which the training inputs do not vary. The guess is the value
of the linear function; the predictive distribution is normal around it.
""",
}


def method_files(name: str) -> dict[str, str]:
    """The files of a built-in method's folder."""
    return {"Summary": SUMMARIES[name]}
