"""The datasets in scikit-learn's own files: iris, wine, digits, breast-cancer and diabetes."""

from __future__ import annotations

from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.packaged import (
    PackagedDescription,
    PackagedDesign,
    packaged_files,
    read_contents,
    reals,
    recoded,
    shortest,
    table,
)

LICENCE = """\

Licence: scikit-learn is under the BSD 3-clause licence and states no other
for this file.
"""

IRIS = PackagedDescription(
    title="Iris plants",
    origin="natural",
    usage="historical",
    order="informative",
    attributes=(
        *reals(
            (
                "sepal-length: Length of a sepal (cm)",
                "sepal-width: Width of a sepal (cm)",
                "petal-length: Length of a petal (cm)",
                "petal-width: Width of a petal (cm)",
            ),
            "(0,Inf)",
        ),
        AttributeLine("species", "setosa versicolor virginica", "Species of the plant", "nominal"),
    ),
    prototasks={"species": PackagedDesign("species", 54, (16, 32))},
    summary="""\
Measurements of 150 irises, 50 of each of three species. The species is to be
predicted from length and width of sepals and petals. One species is easily
told from the other two. The dataset is small and every method does well on
it: it is there to try things out.
""",
    notes="""\
R. A. Fisher (1936), The use of multiple measurements in taxonomic problems,
Annals of Eugenics 7, 179-188; measured by E. Anderson. These are the values
of Fisher's paper, as in R. The UCI repository's copy differs in two cases.

Changed: the species are written by name, not as 0, 1, 2. The cases are sorted
by species. Two cases (102 and 143) are equal; they are different plants.
"""
    + LICENCE,
)

WINE = PackagedDescription(
    title="Wine recognition",
    origin="natural",
    usage="historical",
    order="informative",
    attributes=(
        *reals(
            (
                "alcohol: Alcohol",
                "malic-acid: Malic acid",
                "ash: Ash",
                "alcalinity: Alcalinity of ash",
                "magnesium: Magnesium",
                "phenols: Total phenols",
                "flavanoids: Flavanoids",
                "nonflavanoids: Nonflavanoid phenols",
                "proanthocyanins: Proanthocyanins",
                "colour: Colour intensity",
                "hue: Hue",
                "od280-od315: OD280/OD315 of diluted wines",
                "proline: Proline",
            )
        ),
        AttributeLine("cultivator", "1 2 3", "Whose wine it is", "nominal"),
    ),
    prototasks={"cultivator": PackagedDesign("cultivator", 82, (16, 32))},
    summary="""\
Chemical analyses of 178 wines that three cultivators made in one region of
Italy. Whose wine it is is to be predicted from thirteen constituents. The
classes can be separated, so good methods hardly make errors.
""",
    notes="""\
M. Forina et al., PARVUS, Institute of Pharmaceutical and Food Analysis and
Technologies, Genoa; a copy of the UCI repository's "Wine".

Changed: the classes are written as 1, 2, 3 (as in UCI's file), not as 0, 1, 2.
The cases are sorted by class.
"""
    + LICENCE,
)

DIGITS = PackagedDescription(
    title="Handwritten digits, 8 by 8",
    origin="cultivated",
    usage="historical",
    order="informative",
    attributes=(
        *(
            AttributeLine(f"p{row}{column}", "0..16", f"Ink in row {row}, column {column}", "integer")
            for row in range(1, 9)
            for column in range(1, 9)
        ),
        AttributeLine("digit", "0..9", "The digit", "nominal"),
    ),
    prototasks={"digit": PackagedDesign("digit", 773, (64, 128, 256))},
    summary="""\
Pictures of 1797 digits written by hand: 8 by 8 squares, in each the number
of inked dots among 16. The digit is to be predicted.
""",
    notes="""\
E. Alpaydin and C. Kaynak (1998), from NIST forms; a copy of the test set of
the UCI repository's "Optical Recognition of Handwritten Digits".

Thirteen people wrote these digits, many each, and neighbours in the file tend
to be by the same hand. Who wrote what is not known, so there are no
commonality indexes: the prototask is about new digits by the same thirteen
people, and says nothing of people who have not been seen.

Changed: nothing.
"""
    + LICENCE,
)

_NUCLEI = (
    ("radius", "distance from centre to perimeter"),
    ("texture", "standard deviation of grey values"),
    ("perimeter", "perimeter"),
    ("area", "area"),
    ("smoothness", "local variation of the radius"),
    ("compactness", "perimeter squared / area - 1"),
    ("concavity", "severity of concave parts of the contour"),
    ("concave-points", "number of concave parts of the contour"),
    ("symmetry", "symmetry"),
    ("fractal-dimension", "coastline approximation - 1"),
)

BREAST_CANCER = PackagedDescription(
    title="Breast cancer Wisconsin (diagnostic)",
    origin="natural",
    usage="historical",
    order="?",
    attributes=(
        *(
            AttributeLine(f"{name}-{kind}", "[0,Inf)", f"{word} {what}")
            for kind, word in (("mean", "Mean"), ("se", "Standard error of"), ("worst", "Worst"))
            for name, what in _NUCLEI
        ),
        AttributeLine("diagnosis", "malignant benign", "Diagnosis", "binary"),
    ),
    prototasks={"diagnosis": PackagedDesign("diagnosis", 313, (32, 64))},
    summary="""\
Cell nuclei of 569 breast masses, seen in a digitised image of a fine needle
aspirate: ten properties, of each the mean, the standard error and the mean of
the three largest values. Whether the mass is malignant (212) or benign (357)
is to be predicted. Not PROBEN1's "cancer", which is an older dataset.
""",
    notes="""\
W. N. Street, W. H. Wolberg and O. L. Mangasarian (1993), Nuclear feature
extraction for breast tumor diagnosis; a copy of the UCI repository's "Breast
Cancer Wisconsin (Diagnostic)".

Changed: the diagnosis is written in words, not as 0 (malignant) and 1.
"""
    + LICENCE,
)

DIABETES = PackagedDescription(
    title="Progression of diabetes",
    origin="natural",
    usage="historical",
    order="?",
    attributes=(
        AttributeLine("age", "0..120", "Age (years)", "integer"),
        AttributeLine("sex", "1 2", "Sex; which is which is not told", "binary"),
        *reals(
            (
                "bmi: Body mass index",
                "bp: Average blood pressure",
                "tc: Total serum cholesterol",
                "ldl: Low-density lipoproteins",
                "hdl: High-density lipoproteins",
                "tch: Total cholesterol / HDL",
                "ltg: Possibly the logarithm of the level of serum triglycerides",
                "glu: Blood sugar level",
            ),
            "(0,Inf)",
        ),
        AttributeLine("progression", "[0,Inf)", "Disease progression one year after baseline"),
    ),
    prototasks={"progression": PackagedDesign("progression", 186, (32, 64))},
    summary="""\
Ten baseline measurements of 442 diabetes patients. A quantitative measure of
how the disease has progressed a year later is to be predicted. Not PROBEN1's
"diabetes", which is Pima Indians' (here: "pima").
""",
    notes="""\
B. Efron, T. Hastie, I. Johnstone and R. Tibshirani (2004), Least angle
regression, Annals of Statistics 32, 407-499.

Changed: these are the original measurements, not the centred and scaled ones
that scikit-learn's load_diabetes returns by default. Numbers are written as
shortly as possible; before release 1.8 the file had digits that only stemmed
from binary arithmetic (4.803999999999999 for 4.804), and gives the same cases.
"""
    + LICENCE,
)


def iris() -> dict[str, str]:
    """The files of `iris`."""
    (content,) = read_contents("iris")
    species = {"0": "setosa", "1": "versicolor", "2": "virginica"}
    return packaged_files("iris", recoded(table(content, skip=1), -1, species), IRIS)


def wine() -> dict[str, str]:
    """The files of `wine`."""
    (content,) = read_contents("wine")
    return packaged_files("wine", recoded(table(content, skip=1), -1, {"0": "1", "1": "2", "2": "3"}), WINE)


def digits() -> dict[str, str]:
    """The files of `digits`."""
    (content,) = read_contents("digits")
    return packaged_files("digits", table(content), DIGITS)


def breast_cancer() -> dict[str, str]:
    """The files of `breast-cancer`."""
    (content,) = read_contents("breast-cancer")
    diagnoses = {"0": "malignant", "1": "benign"}
    return packaged_files("breast-cancer", recoded(table(content, skip=1), -1, diagnoses), BREAST_CANCER)


def diabetes() -> dict[str, str]:
    """The files of `diabetes`."""
    inputs, targets = (table(content, None) for content in read_contents("diabetes"))
    cases = (case + target for case, target in zip(inputs, targets, strict=True))
    return packaged_files("diabetes", [[shortest(value) for value in case] for case in cases], DIABETES)
