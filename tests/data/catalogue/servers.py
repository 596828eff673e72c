"""A web server on this machine, and little copies of the places that redelve downloads from."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answers:
    """What a server answers to each path, and which paths it was asked for."""

    pages: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    status: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def json(self, path: str, value: object) -> None:
        self.pages[path] = json.dumps(value).encode()


@contextlib.contextmanager
def serving() -> Iterator[Answers]:
    """A server that is gone when the block ends."""
    answers = Answers()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.asked.append(self.path)
            body = answers.pages.get(self.path)
            self.send_response(answers.status.get(self.path, 404 if body is None else 200))
            headers = {"Content-Length": str(len(body or b""))} | answers.headers.get(self.path, {})
            for name, value in headers.items():
                if value:
                    self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body or b"")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        answers.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield answers
        finally:
            server.shutdown()
            thread.join()


ARFF = b"""\
% a dataset of nobody's
@relation flowers
@attribute id numeric
@attribute length real
@attribute 'the class' {red, blue}
@data
1, 5.1, red
2, 4.9, blue
3, 4.7, red
4, 4.6, blue
"""
SPLITS = b"""\
@relation splits
@attribute type {TRAIN,TEST}
@attribute rowid numeric
@attribute repeat numeric
@attribute fold numeric
@data
TRAIN,0,0,0
TRAIN,1,0,0
TEST,2,0,0
TEST,3,0,0
TRAIN,2,0,1
TRAIN,3,0,1
TEST,0,0,1
TEST,1,0,1
"""


def put_openml(answers: Answers) -> None:
    """Dataset 61 and task 59, with the fields that OpenML's API has."""
    answers.pages["/download/61/flowers.arff"] = ARFF
    answers.pages["/splits/59.arff"] = SPLITS
    description = {
        "id": "61",
        "name": "flowers",
        "version": "1",
        "format": "ARFF",
        "licence": "Public",
        "url": f"{answers.url}/download/61/flowers.arff",
        "default_target_attribute": "the class",
        "row_id_attribute": "id",
        "ignore_attribute": ["id"],
        "citation": "Nobody (1936)",
        "md5_checksum": hashlib.md5(ARFF, usedforsecurity=False).hexdigest(),
    }
    features = [
        {"index": "0", "name": "id", "data_type": "numeric"},
        {"index": "1", "name": "length", "data_type": "numeric"},
        {"index": "2", "name": "the class", "data_type": "nominal", "nominal_value": ["red", "blue"]},
    ]
    procedure = {"id": "1", "type": "crossvalidation", "data_splits_url": f"{answers.url}/splits/59.arff"}
    inputs = [
        {"name": "source_data", "data_set": {"data_set_id": "61", "target_feature": "the class"}},
        {"name": "estimation_procedure", "estimation_procedure": procedure},
        {"name": "evaluation_measures", "evaluation_measures": {"evaluation_measure": "accuracy"}},
    ]
    answers.json("/data/61", {"data_set_description": description})
    answers.json("/data/features/61", {"data_features": {"feature": features}})
    answers.json("/task/59", {"task": {"task_id": "59", "task_type_id": "1", "input": inputs}})


def put_uci(answers: Answers) -> None:
    """Dataset 53, with the fields that UCI's API has."""
    described = {
        "uci_id": 53,
        "name": "Flowers",
        "repository_url": "https://archive.ics.uci.edu/dataset/53/flowers",
        "data_url": f"{answers.url}/static/public/53/data.csv",
        "target_col": ["class"],
        "year_of_dataset_creation": 1936,
        "dataset_doi": "10.24432/C56C76",
        "creators": ["Nobody"],
        "variables": [
            {"name": "number", "role": "ID", "type": "Integer"},
            {"name": "length", "role": "Feature", "type": "Continuous"},
            {"name": "class", "role": "Target", "type": "Categorical"},
        ],
    }
    answers.json("/api/dataset?name=the%20flowers", {"status": 200, "data": described})
    answers.json("/api/dataset?id=53", {"status": 200, "data": described})
    answers.json("/api/dataset?id=54", {"status": 200, "data": described | {"data_url": None}})
    answers.json("/api/dataset?id=55", {"status": 404, "statusText": "no such dataset"})
    answers.pages["/static/public/53/data.csv"] = b"number,length,class\n1,5.1,red\n"


DELVE_FILES = {
    "flowers/Dataset.spec": b"Origin: artificial\nUsage: development\nOrder: uninformative\nAttributes:\n"
    b" 1 length u [0,Inf) # Length\n 2 class u red blue # Class\n",
    "flowers/Dataset.data.gz": gzip.compress(b"5.1 red\n4.9 blue\n4.7 red\n", mtime=0),
    "flowers/class/Prototask.spec": b"Cases: all\nInputs: 1\nOrder: retain\nOrigin: artificial\nTargets: 2\n"
    b"Test-Set-Size: 1\nTraining-Set-Sizes: 1\nTest-Set-Selection: common\nMaximum-Number-Of-Instances: 2\n",
    "flowers/class/std.prior": b"1 NLMH real\n2 NLMH binary\n",
}


def tar(files: Mapping[str, bytes], *others: tarfile.TarInfo, mode: str = "w:gz") -> bytes:
    """A tar file; `others` are members without content, such as links."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in others:
            archive.addfile(member)
    return buffer.getvalue()
