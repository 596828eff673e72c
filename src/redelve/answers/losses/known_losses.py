"""The losses that are known by their codes: redelve's own and those that others register."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from redelve.answers.losses.loss_contract import LAST, Loss, MatrixLoader
from redelve.answers.predictions import Target
from redelve.errors import SpecError
from redelve.registry import Registry

LOSSES = Registry[type[Loss]]("loss", "redelve.losses")
LossLike = str | Loss
"""A loss or its code."""


def parse_loss(code: str, load_matrix: MatrixLoader | None = None) -> Loss:
    """The loss that `code` stands for; `load_matrix` returns the text of a file named after `M`.

    >>> parse_loss("Z0.2N").name
    'Zero-one, no-guess penalty 0.2'
    """
    for end in range(len(code), 0, -1):
        if code[:end] in LOSSES:
            return LOSSES[code[:end]].parse(code, load_matrix)
    raise unknown_loss(code)


def unknown_loss(code: str) -> SpecError:
    """What is said of a code that stands for no loss."""
    return SpecError(
        f'unknown loss "{code}": known are {", ".join(in_order(list(LOSSES)))} '
        "(M with the file of a loss matrix: Mcosts; A, S, Z also with a no-guess penalty: Z0.2N)"
    )


def known_loss(code: str) -> Loss | None:
    """The loss that a code alone stands for; None where it is unknown here, or needs the file of a matrix."""
    try:
        return parse_loss(code)
    except SpecError:
        return None


def usual_losses(targets: Sequence[Target] | None = None) -> tuple[Loss, ...]:
    """The losses that are computed where nobody chooses, of those that suit the targets, in their order.

    >>> [loss.code for loss in usual_losses()]
    ['A', 'S', 'L', 'Q', 'Z', 'C']
    """
    usual = (LOSSES[letter]() for letter in in_order(list(LOSSES)) if LOSSES[letter].by_default)
    return tuple(loss for loss in usual if targets is None or loss.applies_to(targets))


def applicable_losses(targets: Sequence[Target]) -> tuple[Loss, ...]:
    """The losses that DELVE computes of predictions of these targets, in the order A S L Q Z.

    >>> [loss.code for loss in applicable_losses([Target("age", "real")])]
    ['A', 'S', 'L']
    """
    return tuple(loss for loss in usual_losses(targets) if loss.in_delve)


def chosen_losses(given: LossLike | Iterable[LossLike]) -> tuple[Loss, ...]:
    """Losses from losses and codes, each once; two that share a code are refused."""
    each = (given,) if isinstance(given, Loss) else tuple(given)
    found: dict[str, Loss] = {}
    for loss in (parse_loss(one) if isinstance(one, str) else one for one in each):
        if not isinstance(loss, Loss):
            raise SpecError(f"{loss!r} is no loss: give a code such as S, or an instance of a loss's class")
        if found.setdefault(loss.code, loss) != loss:
            raise SpecError(f'two losses have the code "{loss.code}": give one of them another `letter`')
        _check_own(loss)
    return tuple(found.values())


def _check_own(loss: Loss) -> None:
    """A code means one loss: whoever reads an archive takes it for the one that is registered."""
    known = known_loss(loss.code)
    if known is not None and _place(known) != _place(loss):
        raise SpecError(
            f'the code "{loss.code}" of {type(loss).__name__} belongs to another loss, "{known.name}": '
            "give yours another `letter`"
        )


def _place(loss: Loss) -> tuple[str, str]:
    return type(loss).__module__, type(loss).__qualname__


def primary_loss_for(targets: Sequence[Target]) -> str:
    """The code of the loss that methods are judged by unless the user chooses.

    >>> primary_loss_for([Target("age", "real")])
    'S'
    """
    return next(loss.code for loss in usual_losses() if loss.is_primary_for(targets))


def in_order(codes: Collection[str]) -> tuple[str, ...]:
    """Codes of losses as they are listed: those with a place of their own first, then by code.

    >>> in_order(["Mcosts", "C", "A0.2N", "S", "A"])
    ('A', 'S', 'C', 'A0.2N', 'Mcosts')
    """
    places = {code: LOSSES[code].place for code in codes if code in LOSSES}
    return tuple(sorted(set(codes), key=lambda code: (places.get(code, LAST), code)))
