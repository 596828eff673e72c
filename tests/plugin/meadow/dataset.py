"""A dataset: heights of a wave with noise, to be predicted from the place."""

from math import sin

from redelve.data.catalogue import Files
from redelve.data.catalogue.dataset_folder import PrototaskPlan, dataset_files
from redelve.seeds import generator

CASES = 256

SPECIFICATION = """\
Origin: artificial
Usage: development
Order: uninformative
Attributes:
 1 PLACE  u [-3,3]      # Where it was measured
 2 HEIGHT u (-Inf,Inf)  # How high it was
"""

SUMMARY = """\
A wave measured at 256 random places: its height is the sine of twice the
place, with Gaussian noise of standard deviation 0.2.
"""

HEIGHT = PrototaskPlan(
    inputs=(1,),
    targets=(2,),
    types={1: "real", 2: "real"},
    test_set_size=128,
    training_set_sizes=(16, 32),
    origin="artificial",
    maximum_instances=4,
)


def waves() -> Files:
    rng = generator("meadow", "waves")
    places = rng.uniform(-3, 3, CASES).round(3).tolist()
    noise = rng.normal(0, 0.2, CASES).tolist()
    rows = [(f"{x:.3f}", f"{sin(2 * x) + e:.3f}") for x, e in zip(places, noise, strict=True)]
    return dataset_files(rows, SPECIFICATION, {"height": HEIGHT}, {"Summary": SUMMARY})
