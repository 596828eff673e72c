"""The dataset in scikit-lego's files: abalone."""

from __future__ import annotations

from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.packaged import (
    PackagedDescription,
    PackagedDesign,
    packaged_files,
    read_contents,
    reals,
    shortest,
    table,
)

ABALONE = PackagedDescription(
    title="Abalone",
    origin="natural",
    usage="assessment",
    order="?",
    attributes=(
        AttributeLine("sex", "M F I", "Male, female or infant", "nominal"),
        *reals(
            (
                "length: Longest measurement of the shell (mm / 200)",
                "diameter: Measurement perpendicular to it (mm / 200)",
                "height: Height with the meat in the shell (mm / 200)",
                "whole-weight: Weight of the whole abalone (g / 200)",
                "shucked-weight: Weight of the meat (g / 200)",
                "viscera-weight: Weight of the guts, after bleeding (g / 200)",
                "shell-weight: Weight of the dried shell (g / 200)",
            )
        ),
        AttributeLine("rings", "1..Inf", "Rings; 1.5 more is the age in years", "integer"),
    ),
    prototasks={"age": PackagedDesign("rings", 1105, (64, 128, 256, 512, 1024))},
    summary="""\
Measurements of 4177 abalones, which are sea snails. Their age, that is, the
number of rings of the shell, is to be predicted; counting rings is tedious.
""",
    notes="""\
W. J. Nash, T. L. Sellers, S. R. Talbot, A. J. Cawthorn and W. B. Ford (1994),
The population biology of abalone (Haliotis species) in Tasmania, Sea
Fisheries Division, Technical Report 48; the UCI repository's "Abalone", where
lengths and weights are divided by 200. DELVE has a dataset of this name too:
the same cases, in other instances. Two heights are 0, which cannot be.

Changed: numbers are written with eight significant digits at most; the
carrier's had more, which only stem from binary arithmetic.

Licence: scikit-lego is under the MIT licence and states no other for this
file.
""",
)


def abalone() -> dict[str, str]:
    """The files of `abalone`."""
    (content,) = read_contents("abalone")
    cases = table(content, skip=1)
    rows = [[case[0], *(shortest(value, 8) for value in case[1:])] for case in cases]
    return packaged_files("abalone", rows, ABALONE)
