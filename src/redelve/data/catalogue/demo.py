"""The `demo` dataset: made-up people, from which a newcomer learns the commands (manual 1.3)."""

from __future__ import annotations

import math
from typing import NamedTuple

from redelve.data.catalogue.dataset_folder import PrototaskPlan, dataset_files
from redelve.data.catalogue.uniforms import Uniforms
from redelve.seeds import seed

CASES = 2048
COLOURS = ("pink", "blue", "red", "green", "purple")

SPECIFICATION = """\
Origin: artificial
Usage: development
Order: uninformative
Attributes:
 1 SEX      u male female # Sex of the person
 2 AGE      u [0,Inf)    # Age of the person in years
 3 SIBLINGS u 0..Inf     # Number of siblings the person has
 4 INCOME   u [0,Inf)    # The person's annual income (dollars)
 5 COLOUR   u pink blue red green purple # The person's favourite colour
"""

SUMMARY = """\
People who do not exist: 2048 of them, each with a sex, an age, a number of
siblings, an annual income and a favourite colour. The dataset is there to
try out commands and learning methods on, not to assess methods: it mixes
binary, nominal, integer and real attributes, and the ties between them are
simple demographic rules and well-worn stereotypes. For each attribute there
is a prototask in which it is to be predicted from the other four.
"""

NOTES = """\
This dataset takes the place of the "demo" dataset of the original DELVE
archive: same attributes, same number of cases for testing (1024) and same
training-set sizes, but other cases. What its makers published of the rules
for sex, age, siblings and the probability of working is followed; their rules
for how much people earn and for the favourite colour were not available and
are redelve's own. Numbers obtained on the two datasets are therefore alike
but not equal.

Cases are independent and in random order. Ages and incomes are written with
two decimals. The rules are in the file "Generator". The random bits come from
integer arithmetic (SplitMix64), so the file is the same on every machine.
"""

GENERATOR = """\
E(m) stands for an exponential variable with mean m, N for a standard normal
variable; all draws are independent.

SEX       female with probability 0.53, else male.
AGE       |40 N| for females, |30 N| for males.
SIBLINGS  the integer part of E(3 (1 + AGE) / (3 + AGE)).
INCOME    employment + other.
          A male works with probability
              0.9 / ((1 + exp(-(AGE - 20))) (1 + exp((AGE - 60) / 5))),
          a female with probability
              0.8 / ((1 + exp(-(AGE - 20))) (1 + exp((AGE - 65) / 5))).
          employment (if working)  E(m (0.5 + AGE / 60)),
              where m is 25000 for males, 20000 for females.
          other                    E(50 + 150 AGE).
COLOUR    with probabilities in proportion to
          pink    5 for females under 12, else 1
          blue    4 for males, 1 for females
          red     3 from 15 to under 35, else 1
          green   1 + 3 INCOME / (INCOME + 20000)
          purple  1 + AGE / 30 for females, 1 for males.

For each case the draws are made in this order; AGE and INCOME enter the later
rules before they are rounded to two decimals.
"""

TYPES = {1: "binary", 2: "real", 3: "integer", 4: "real", 5: "nominal"}
TARGETS = {"age": 2, "colour": 5, "income": 4, "sex": 1, "siblings": 3}


class Person(NamedTuple):
    """One case, before its values are written."""

    female: bool
    age: float
    siblings: int
    income: float
    colour: str

    def row(self) -> tuple[str, ...]:
        """The values as they stand in Dataset.data."""
        sex = "female" if self.female else "male"
        return (sex, f"{self.age:.2f}", str(self.siblings), f"{self.income:.2f}", self.colour)


def files() -> dict[str, str]:
    """All files of the dataset's folder."""
    documents = {"Summary": SUMMARY, "Source/Notes": NOTES, "Source/Generator": GENERATOR}
    return dataset_files(rows(), SPECIFICATION, prototasks(), documents)


def rows() -> list[tuple[str, ...]]:
    """The cases of Dataset.data."""
    stream = Uniforms(seed("dataset", "demo"))
    return [draw_person(stream).row() for _ in range(CASES)]


def prototasks() -> dict[str, PrototaskPlan]:
    """One prototask for each attribute, which is predicted from all the others."""
    return {
        name: PrototaskPlan(
            inputs=tuple(number for number in TYPES if number != target),
            targets=(target,),
            types=TYPES,
            test_set_size=1024,
            training_set_sizes=(32, 64, 128, 256, 512),
            origin="artificial",
        )
        for name, target in TARGETS.items()
    }


def draw_person(stream: Uniforms) -> Person:
    """One person by the rules of Source/Generator."""
    female = stream.chance(0.53)
    age = abs((40 if female else 30) * stream.normal())
    siblings = int(stream.exponential(3 * (1 + age) / (3 + age)))
    working = stream.chance(working_probability(age, female=female))
    employment = stream.exponential((20000 if female else 25000) * (0.5 + age / 60)) if working else 0.0
    income = employment + stream.exponential(50 + 150 * age)
    colour = stream.choice(COLOURS, colour_weights(age, income, female=female))
    return Person(female, age, siblings, income, colour)


def working_probability(age: float, *, female: bool) -> float:
    """How probably a person of this age and sex is employed."""
    highest, leaving = (0.8, 65) if female else (0.9, 60)
    return highest / ((1 + math.exp(20 - age)) * (1 + math.exp((age - leaving) / 5)))


def colour_weights(age: float, income: float, *, female: bool) -> tuple[float, ...]:
    """How much each colour is liked, in the order of `COLOURS`."""
    pink = 5.0 if female and age < 12 else 1.0
    blue = 1.0 if female else 4.0
    red = 3.0 if 15 <= age < 35 else 1.0
    green = 1 + 3 * income / (income + 20000)
    purple = 1 + age / 30 if female else 1.0
    return (pink, blue, red, green, purple)
