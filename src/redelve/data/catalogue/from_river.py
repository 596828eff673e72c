"""The datasets in river's files: image-seg, solar-flare and phishing."""

from __future__ import annotations

from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.packaged import (
    PackagedDescription,
    PackagedDesign,
    packaged_files,
    read_contents,
    recoded,
    shortest,
    table,
)

LICENCE = """\

Licence: river is under the BSD 3-clause licence and states no other for this
file.
"""

IMAGE_SEG = PackagedDescription(
    title="Image segmentation",
    origin="cultivated",
    usage="historical",
    order="?",
    attributes=(
        AttributeLine("centroid-col", "1..256", "Column of the region's middle", "integer"),
        AttributeLine("centroid-row", "1..256", "Row of the region's middle", "integer"),
        AttributeLine("line-density-5", "[0,1]", "Short lines of low contrast, as a share"),
        AttributeLine("line-density-2", "[0,1]", "Short lines of high contrast, as a share"),
        AttributeLine("vedge-mean", "[0,Inf)", "Contrast of horizontal neighbours: mean"),
        AttributeLine("vedge-sd", "[0,Inf)", "Contrast of horizontal neighbours: spread"),
        AttributeLine("hedge-mean", "[0,Inf)", "Contrast of vertical neighbours: mean"),
        AttributeLine("hedge-sd", "(-0.000001,Inf)", "Contrast of vertical neighbours: spread"),
        AttributeLine("intensity", "[0,255]", "Mean of (R + G + B) / 3"),
        AttributeLine("red", "[0,255]", "Mean of R"),
        AttributeLine("blue", "[0,255]", "Mean of B"),
        AttributeLine("green", "[0,255]", "Mean of G"),
        AttributeLine("excess-red", "[-510,510]", "Mean of 2R - (G + B)"),
        AttributeLine("excess-blue", "[-510,510]", "Mean of 2B - (G + R)"),
        AttributeLine("excess-green", "[-510,510]", "Mean of 2G - (R + B)"),
        AttributeLine("value", "[0,255]", "Value, by a transformation of R, G and B"),
        AttributeLine("saturation", "[0,1]", "Saturation"),
        AttributeLine("hue", "[-3.1416,3.1416]", "Hue (radians)", "real"),
        AttributeLine(
            "class", "brickface sky foliage cement window path grass", "What the region shows", "nominal"
        ),
    ),
    prototasks={"class": PackagedDesign("class", 770, (70, 140, 280), stratified=True)},
    twins_are_one=True,
    summary="""\
Regions of 3 by 3 pixels, 2310 of them, drawn from seven outdoor photographs.
What a region shows (brickface, sky, foliage, cement, window, path or grass;
330 each) is to be predicted from its place, its colours and its contrasts.
""",
    notes="""\
Vision Group, University of Massachusetts (1990); the UCI repository's
"Statlog (Image Segmentation)".

Because there are equally many regions of each class by construction, training
and test sets are stratified. There are 2086 different regions; 224 cases
repeat another one in everything, the class included. Such cases have a
commonality index in common and are never divided between training and test
set. Which photograph a region is from is not known: the prototask is about
new regions of the same seven photographs.

Changed: numbers are written with eight significant digits; the carrier's had
more, which only stem from binary arithmetic. The carrier left out one
attribute, the number of pixels, which is always 9.
"""
    + LICENCE,
)

SOLAR_FLARE = PackagedDescription(
    title="Solar flares",
    origin="natural",
    usage="historical",
    order="informative",
    attributes=(
        AttributeLine("zurich-class", "A B C D E F H", "Modified Zurich class", "nominal"),
        AttributeLine("spot-size", "X R S A H K", "Code for the size of the largest spot", "nominal"),
        AttributeLine("spot-distribution", "X O I C", "Code for the distribution of the spots", "nominal"),
        AttributeLine("activity", "reduced unchanged", "Activity", "binary"),
        AttributeLine("evolution", "decay none growth", "Evolution", "ordinal"),
        AttributeLine("previous", "1..3", "Flares in the last 24 hours: below M1, one M1, more", "integer"),
        AttributeLine("complex", "yes no", "Historically complex", "binary"),
        AttributeLine("became-complex", "yes no", "Became complex on this pass over the disk", "binary"),
        AttributeLine("area", "small large", "Area", "binary"),
        AttributeLine("largest-area", "small large", "Area of the largest spot, small: at most 5", "binary"),
        AttributeLine("c-flares", "0..Inf", "Common flares in the next 24 hours", "integer"),
        AttributeLine("m-flares", "0..Inf", "Moderate flares in the next 24 hours", "integer"),
        AttributeLine("x-flares", "0..Inf", "Severe flares in the next 24 hours", "integer"),
    ),
    prototasks={"c-flares": PackagedDesign("c-flares", 554, (64, 128), unused=("m-flares", "x-flares"))},
    summary="""\
Active regions on the sun, 1066 of them. How many common flares (class C) each
produces in the next 24 hours is to be predicted from ten codes. Five in six
regions produce none. PROBEN1's "flare" predicts all three kinds of flares;
moderate and severe ones are too rare to be predicted one by one.
""",
    notes="""\
G. Bradshaw (1989); the UCI repository's "Solar Flare", the larger and later
of its two parts. A region was recorded anew every day, and which cases belong
to one region is not known: training and test cases may depend on each other.

Changed: codes that have a meaning are written in words.
"""
    + LICENCE,
)

PHISHING = PackagedDescription(
    title="Phishing websites",
    origin="cultivated",
    usage="assessment",
    order="?",
    attributes=(
        AttributeLine("form-handler", "0 0.5 1", "Whether forms are handled by a server", "ordinal"),
        AttributeLine("popup-window", "0 0.5 1", "Pop-up windows", "ordinal"),
        AttributeLine("https", "0 0.5 1", "Use of HTTPS", "ordinal"),
        AttributeLine("request-domain", "0 0.5 1", "Requests to other domains", "ordinal"),
        AttributeLine("anchor-domain", "0 0.5 1", "Links to other domains", "ordinal"),
        AttributeLine("popularity", "0 0.5 1", "Popularity", "ordinal"),
        AttributeLine("url-length", "0 0.5 1", "Length of the address", "ordinal"),
        AttributeLine("domain-age", "0 1", "Age of the domain", "binary"),
        AttributeLine("ip-in-url", "0 1", "Whether the address is a number", "binary"),
        AttributeLine("class", "0 1", "Whether it is a phishing site; see Source/Notes", "binary"),
    ),
    prototasks={"class": PackagedDesign("class", 738, (64, 128))},
    summary="""\
Nine properties of 1250 websites, each with two or three levels. Whether a site
is made to steal passwords or not is to be predicted.
""",
    notes="""\
N. Abdelhamid, A. Ayesh and F. Thabtah (2014), Phishing detection based
associative classification data mining, Expert Systems with Applications 41;
the UCI repository's "Website Phishing", without the 103 suspicious sites. With
so few levels many cases are equal without being the same site.

The carrier calls the class "is_phishing"; 548 sites have a 1 and 702 a 0. The
UCI repository counts 548 legitimate and 702 phishing sites. So the carrier
seems to have exchanged the two, and the codes are left as they are. What the
levels of the inputs mean is not told in the carrier either.

Changed: levels are written as 0, 0.5 and 1.
"""
    + LICENCE,
)


def image_seg() -> dict[str, str]:
    """The files of `image-seg`."""
    (content,) = read_contents("image-seg")
    cases = table(content, skip=1)
    rows = [[*(shortest(value, 8) for value in case[:-1]), case[-1]] for case in cases]
    return packaged_files("image-seg", rows, IMAGE_SEG)


def solar_flare() -> dict[str, str]:
    """The files of `solar-flare`."""
    (content,) = read_contents("solar-flare")
    rows = table(content, skip=1)
    answers, sizes = {"1": "yes", "2": "no"}, {"1": "small", "2": "large"}
    activity, evolution = {"1": "reduced", "2": "unchanged"}, {"1": "decay", "2": "none", "3": "growth"}
    words = {3: activity, 4: evolution, 6: answers, 7: answers, 8: sizes, 9: sizes}
    for column, names in words.items():
        rows = recoded(rows, column, names)
    return packaged_files("solar-flare", rows, SOLAR_FLARE)


def phishing() -> dict[str, str]:
    """The files of `phishing`."""
    (content,) = read_contents("phishing")
    rows = [[shortest(value) for value in case] for case in table(content, skip=1)]
    return packaged_files("phishing", rows, PHISHING)
