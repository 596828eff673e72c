"""Where PROBEN1's files are: a folder of the user's, or downloaded from a mirror; always verified by content.

The servers that the report names (ftp.ira.uka.de, ftp.cs.cmu.edu) no longer offer them, so a mirror's
address must be given. The files may not be redistributed with redelve.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from redelve.data.catalogue.depot import Depot, depot_folder
from redelve.data.catalogue.downloads import TIMEOUT
from redelve.data.files import StrPath, find_file, open_bytes
from redelve.data.proben1.problem_names import Variant, is_name, parse_name
from redelve.errors import LocationError, SpecError

FOLDER = "REDELVE_PROBEN1"
LARGEST = 8 << 20
"""Bytes; the largest file, mushroom, has a little over two million."""


def locate(name: str, *, folder: StrPath | None = None) -> Path:
    """The data file of a variant: in `folder`, in the one that REDELVE_PROBEN1 names, or downloaded before.

    A folder may hold the files side by side or in the directories of PROBEN1's archive, compressed or not.
    A file that has not the content of PROBEN1's is refused.
    """
    variant = parse_name(name)
    places = list(_folders(folder))
    for place in places:
        found = _in_folder(place, variant)
        if found is not None:
            return verified(found, variant)
    looked = ", ".join(str(place) for place in places)
    raise LocationError(
        f"{variant.file}.dt is not in {looked}: set {FOLDER} to a folder with PROBEN1's files, or give the "
        f'address of a mirror, as in redelve.data.proben1.download("{variant.file}", server="https://…")'
    )


def at_hand(dataset: str) -> tuple[int, ...]:
    """Which of a dataset's three variants are at hand."""
    found = []
    for number in (1, 2, 3):
        try:
            locate(f"{dataset}{number}")
        except LocationError:
            continue
        found.append(number)
    return tuple(found)


def _folders(folder: StrPath | None) -> Iterator[Path]:
    if folder is not None:
        yield Path(folder)
        return
    if given := os.environ.get(FOLDER):
        yield Path(given)
    yield depot_folder() / "proben1"


def _in_folder(folder: Path, variant: Variant) -> Path | None:
    name = f"{variant.file}.dt"
    directory = variant.dataset.directory
    candidates = (folder / name, folder / directory / name, folder / "proben1" / directory / name)
    return next((found for candidate in candidates if (found := find_file(candidate)) is not None), None)


def verified(path: Path, variant: Variant) -> Path:
    """The same path, if its content is that of PROBEN1's file; how lines end does not matter."""
    found = _digest(path)
    if found != SHA256[variant.file]:
        raise LocationError(
            f"{path}: its content (SHA-256 {found[:16]}…) is not that of PROBEN1's {variant.file}.dt "
            f"({SHA256[variant.file][:16]}…): get the genuine file, or give the path itself to use it as a "
            "file of your own"
        )
    return path


def genuine(path: StrPath, name: str) -> Variant | None:
    """What a file given by its path is, if it is PROBEN1's own under its own name."""
    if not is_name(name):
        return None
    try:
        variant = parse_name(name)
    except SpecError:
        return None
    is_file = variant.order == "a" and str(variant) == name
    return variant if is_file and _digest(Path(path)) == SHA256[variant.file] else None


def _digest(path: Path) -> str:
    with open_bytes(path) as stream:
        return hashlib.sha256(stream.read(LARGEST + 1).replace(b"\r\n", b"\n")).hexdigest()


def download(name: str, *, server: str, offline: bool = False, timeout: float = TIMEOUT) -> Path:
    """The data file of a variant from a mirror, kept for good; its SHA-256 is that of PROBEN1's own file.

    `server` is the address of PROBEN1's directory there, which holds `glass/glass1.dt`; with other layouts
    give a pattern, as in "https://host/data/{file}.dt" ({directory} stands for glass).
    """
    variant = parse_name(name)
    pattern = server if "{file}" in server else f"{server.rstrip('/')}/{{directory}}/{{file}}.dt"
    url = pattern.replace("{directory}", variant.dataset.directory).replace("{file}", variant.file)
    depot = Depot(depot_folder(), url, LARGEST, timeout, offline)
    return depot.file(url, f"proben1/{variant.file}.dt", checksum=SHA256[variant.file]).path


SHA256 = {
    "building1": "2772b20fb4209cd2e9eeb1f19e388b7c85cf93bd71dec882c5954be16806bec1",
    "building2": "ccd4e42053f2e2c6e530261ced9ab94f059a3a9486964d6517836ae65e634b35",
    "building3": "d2e3d327c11d7c663afff12f5b4448ce2bde87d833c1a46353af79ea1ad4c3cf",
    "cancer1": "5b52fa97d1db5af5f4b31563ae19c536abb500f36012623b61ec1ec149d634c9",
    "cancer2": "129420f1b468043d0d57cedb4ddd569f40123de5067cf6e9285d85069229b082",
    "cancer3": "b74cc1523d4d2c7d85a67fef10144c9d3c8d14fb057e2b9d7153d097e134df59",
    "card1": "8f40ae157636053793e5ff0b4534ef177a8e46facbb23f6671a5ca0a4911dfb3",
    "card2": "cbe3509cb7249576a5cc86ab5266e88bafd10516b71364a1d39ce3982baafe2d",
    "card3": "8ac5e2924a4dfe78c106713c1080f1ab073f17d5bb7a07f6be19773886412103",
    "diabetes1": "861ce702681972348e0b9337485fb5c08f66616ed8eb50423498f817dd32ea1e",
    "diabetes2": "caf2cce2f67aed21f27176665923d431a7102d9f730a54a95e17ccdefd6b1ea9",
    "diabetes3": "5e1d89089264e31ad02a273d0bb3a7836f30da2bdbf8b24554e2e504339d4b32",
    "flare1": "d4b2b0b0db8624c458aacdbaafa938f8eb20c5e1edd159963e799af07a704b51",
    "flare2": "75a74cc96e48457bff87cdb05caa967c94ad577aca750fd88de64a8ce2809740",
    "flare3": "b090ce4a652af4b674ad42213921afab579791371bcf3995d3d34b5f0f8b7b11",
    "gene1": "02fd78c25ece0908b93246e4292ef18d13b7f11bd5f35e358a33da3be2a46273",
    "gene2": "403026b8dc0472553853bb984cd6f3e4f14e56a8e66aca9b5c9daf791b86e10d",
    "gene3": "49505cb738c4e8987c3b57f78f1dd1e75e307b560e61b3220fd097b2684ebfe7",
    "glass1": "9d6181819d162c766e2924012c9654d154b45af97690286635e25d3cb75ccc88",
    "glass2": "b4b74cac6d299caec7dd7ff031d69f0651fe0a92e1b49e850b07ce23e2c3e59c",
    "glass3": "9322eb386da9d1350fed6a67e00f83ab77d014a7c3f175b106ac07937654304b",
    "heart1": "99d1d2069241709ca3371a341539f920086f0c8ae55683153c5d71714e802c62",
    "heart2": "10007f49633070f6e092e92b387bf39523360ec9c8a45b6a6ad0434fc6fb2219",
    "heart3": "815f05e9ff7bad9eefed028cb9a348b702c44824b2d88d711b9449a81099ecc8",
    "hearta1": "b05e8fdd71d84d800acdad66f50de0a671126e18bb079643d56f933f6646a837",
    "hearta2": "2fdbd3ec0c42d6582cf832bfdffdd7af1edce13319b06b38d0cf9903640f5b13",
    "hearta3": "3eb47eac7912cd827ecf291817b6d7b0b6053a6cafe59ba2ea1fab60343d001b",
    "heartac1": "7683a58507c71fe4c0dcefdaf4c51c2d4d3bc6d640603fce4a86629121a6b8a0",
    "heartac2": "b9a5943567af3735ab82381110dd123e71ebbd1b21e4f8c153aeb0e55537d72c",
    "heartac3": "39214d106353f2e3daf6df636ddff2d914d5c6c8a5bb2896ea64802ca66bd638",
    "heartc1": "f43c54fce87934a777a51035d4ea7f4b4ae460d9599362c34f0e23787536b8d5",
    "heartc2": "725c5615fddc41463923e264e4a357704b74195abb809ca7027b48ea5ee37c84",
    "heartc3": "78e45f3aa02162fd4db293ce031151af20fd9428b4a3002bf28666b44e7e7d85",
    "horse1": "7d81df6dac069f50f1458b04e441c58d15702e545111e55e9b782296600e3470",
    "horse2": "cb8f79bc8b64d170fd7c3bba6db841703b0ce5cef248546e2d1c36ff3058b5f3",
    "horse3": "0a15601ed717d98993131c6d686072bab7d046acf696c3417f219f416f058871",
    "mushroom1": "f7d44860f2cf7dd0b6cfda8e044b5286006274fc70dd47cbcd9ad2a211b2e1f5",
    "mushroom2": "4b342551f12d27c8794cae267edd15921d776849372c65f0e3249b03e80ea619",
    "mushroom3": "b1b49f2f19edae5a30381adfa5e56aad076297692e1484e5732577c4621bbefc",
    "soybean1": "411d1e0f3789d64057e7f9e4bc265029a88f6ff16a84e6d3555cdce9d67214d0",
    "soybean2": "c2f5818993f1e3040f055b9081bf4ea0ac823227581e0095676093e34318f627",
    "soybean3": "519c5ff92c4c1544a69df3693307db7e14730790f7797271dc9cfb9546a4d549",
    "thyroid1": "9bb69756a08b96d8ca51823ee8ad53379b702ab5bdc21b43f44af80e68f82e97",
    "thyroid2": "6758b97d8c36fbf29fb0694d55ec0b616b179b3240da6d2f460b77a9a0466d1c",
    "thyroid3": "0174bc78c161ac8c531cf7add9e9f9dd53f71384b354433efb1c0bf9d54a3d66",
}
"""Of the forty-five data files of PROBEN1 (Prechelt 1994), as its archive has them."""
