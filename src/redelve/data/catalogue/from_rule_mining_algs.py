"""The dataset in rule-mining-algs' files: mushrooms."""

from __future__ import annotations

from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.packaged import (
    PackagedDescription,
    PackagedDesign,
    packaged_files,
    read_contents,
    recoded,
    table,
)

_COLOURS = "brown n, buff b, cinnamon c, gray g, green r, pink p, purple u, red e, white w, yellow y"
_PROPERTIES = (
    ("cap-shape", "b c x f k s", "bell b, conical c, convex x, flat f, knobbed k, sunken s"),
    ("cap-surface", "f g y s", "fibrous f, grooves g, scaly y, smooth s"),
    ("cap-colour", "n b c g r p u e w y", _COLOURS),
    ("bruises", "t f", "bruises t, no f"),
    ("odour", "a l c y f m n p s", "almond a, anise l, creosote c, fishy y, foul f, musty m, none n …"),
    ("gill-attachment", "a d f n", "attached a, descending d, free f, notched n"),
    ("gill-spacing", "c w d", "close c, crowded w, distant d"),
    ("gill-size", "b n", "broad b, narrow n"),
    ("gill-colour", "k n b h g r o p u e w y", f"black k, chocolate h, orange o, {_COLOURS}"),
    ("stalk-shape", "e t", "enlarging e, tapering t"),
    ("stalk-root", "b c u e z r ?", "bulbous b, club c, cup u, equal e, rhizomorphs z, rooted r"),
    ("surface-above", "f y k s", "Stalk above the ring: fibrous f, scaly y, silky k, smooth s"),
    ("surface-below", "f y k s", "Stalk below the ring: fibrous f, scaly y, silky k, smooth s"),
    ("colour-above", "n b c g o p e w y", f"Stalk above the ring: orange o, {_COLOURS}"),
    ("colour-below", "n b c g o p e w y", f"Stalk below the ring: orange o, {_COLOURS}"),
    ("veil-type", "p u", "partial p, universal u"),
    ("veil-colour", "n o w y", "brown n, orange o, white w, yellow y"),
    ("rings", "n o t", "none n, one o, two t"),
    ("ring-type", "c e f l n p s z", "cobwebby c, evanescent e, flaring f, large l, none n, pendant p …"),
    ("spore-print", "k n b h r o u w y", f"black k, chocolate h, orange o, {_COLOURS}"),
    ("population", "a c n s v y", "abundant a, clustered c, numerous n, scattered s, several v, solitary y"),
    ("habitat", "g l m p u w d", "grasses g, leaves l, meadows m, paths p, urban u, waste w, woods d"),
)

MUSHROOMS = PackagedDescription(
    title="Mushrooms",
    origin="cultivated",
    usage="historical",
    order="?",
    attributes=(
        AttributeLine("class", "edible poisonous", "Whether it can be eaten", "binary"),
        *(
            AttributeLine(name, range_, codes, "nominal" if len(range_.split()) > 2 else "binary")
            for name, range_, codes in _PROPERTIES
        ),
    ),
    prototasks={"class": PackagedDesign("class", 4028, (64, 128, 256, 512, 1024))},
    summary="""\
Descriptions of 8124 mushrooms of 23 species: 22 properties, each a letter.
Whether one may eat it (4208) or not (3916) is to be predicted. Good methods
make hardly any errors once they have seen some hundred mushrooms.
""",
    notes="""\
The Audubon Society field guide to North American mushrooms (1981), from which
J. Schlimmer (1987) made the cases: they are hypothetical samples of the
species of two families. The UCI repository's "Mushroom". Which species a case
belongs to is not told: training and test sets have species in common.

The root of the stalk (stalk-root) is unknown for 2480 mushrooms; it is a
missing value, not a value of its own.

Changed: the class is written in words, not as e and p.

Licence: rule-mining-algs is under the MIT licence and states no other for this
file.
""",
)


def mushrooms() -> dict[str, str]:
    """The files of `mushrooms`."""
    (content,) = read_contents("mushrooms")
    rows = recoded(table(content), 0, {"e": "edible", "p": "poisonous"})
    return packaged_files("mushrooms", rows, MUSHROOMS)
