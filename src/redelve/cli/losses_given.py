"""The `-l losses` option: any combination of letters, and the codes of specialised losses."""

from __future__ import annotations

from collections.abc import Sequence


def split_codes(text: str) -> list[str]:
    """The codes in `text`, each once.

    >>> split_codes("SA"), split_codes("S, Z0.2N Mcosts")
    (['S', 'A'], ['S', 'Z0.2N', 'Mcosts'])
    """
    from redelve.answers.losses import LOSSES, usual_losses

    letters = {loss.code for loss in usual_losses() if loss.in_delve}
    codes: list[str] = []
    for word in text.replace(",", " ").split():
        codes.extend([word] if word in LOSSES or not set(word) <= letters else word)
    return list(dict.fromkeys(codes))


def split_names(texts: Sequence[str]) -> list[str]:
    """Names given in one or several option arguments, separated by blanks or commas."""
    return [name for text in texts for name in text.replace(",", " ").split()]
