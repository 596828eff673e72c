"""The dataset in mlxtend's files: boston."""

from __future__ import annotations

from redelve.data.catalogue.dataset_folder import AttributeLine
from redelve.data.catalogue.packaged import (
    PackagedDescription,
    PackagedDesign,
    packaged_files,
    read_contents,
    shortest,
    table,
)

SIZES = (32, 64, 128)

BOSTON = PackagedDescription(
    title="Boston housing",
    origin="natural",
    usage="historical",
    order="informative",
    attributes=(
        AttributeLine("CRIM", "[0,Inf)", "Crimes per head, by town"),
        AttributeLine("ZN", "[0,100]", "Percentage of residential land zoned for large lots"),
        AttributeLine("INDUS", "[0,100]", "Percentage of acres of non-retail business, by town"),
        AttributeLine("CHAS", "0 1", "Whether the tract bounds the Charles River", "binary"),
        AttributeLine("NOX", "(0,Inf)", "Concentration of nitric oxides (parts per 10 million)"),
        AttributeLine("RM", "(0,Inf)", "Rooms per dwelling, on average"),
        AttributeLine("AGE", "[0,100]", "Percentage of owner-occupied units built before 1940"),
        AttributeLine("DIS", "(0,Inf)", "Weighted distances to five centres of employment"),
        AttributeLine("RAD", "1..24", "Index of accessibility to radial highways", "integer"),
        AttributeLine("TAX", "0..Inf", "Property-tax rate (dollars per 10000 dollars)", "integer"),
        AttributeLine("PTRATIO", "(0,Inf)", "Pupils per teacher, by town"),
        AttributeLine("B", "[0,Inf)", "1000 (Bk - 0.63)^2, Bk the share of black people by town"),
        AttributeLine("LSTAT", "[0,100]", "Percentage of lower status of the population"),
        AttributeLine("MEDV", "[0,50]", "Median value of owner-occupied homes (1000 dollars)"),
    ),
    prototasks={"price": PackagedDesign("MEDV", 250, SIZES), "nox": PackagedDesign("NOX", 250, SIZES)},
    summary="""\
Census tracts of Boston in 1970, 506 of them. The median value of homes (price)
or the pollution of the air (nox) is to be predicted from the other attributes.
Values of 50 stand for "50 or more". One attribute, B, was made from the share
of black people on an assumption about segregation; scikit-learn removed the
dataset for it. It is here because DELVE and much of the literature used it.
""",
    notes="""\
D. Harrison and D. L. Rubinfeld (1978), Hedonic prices and the demand for clean
air, Journal of Environmental Economics and Management 5, 81-102; the UCI
repository's "Housing". DELVE has a dataset of this name with these prototasks
too: the same cases, in other instances.

The tracts are sorted by town, and several attributes are the same for all
tracts of a town. Which town it is is not told, so there are no commonality
indexes: training and test sets have towns in common.

Changed: numbers are written as shortly as possible.

Licence: mlxtend is under the BSD 3-clause licence and states no other for this
file.
""",
)


def boston() -> dict[str, str]:
    """The files of `boston`."""
    (content,) = read_contents("boston")
    return packaged_files("boston", [[shortest(value) for value in case] for case in table(content)], BOSTON)
