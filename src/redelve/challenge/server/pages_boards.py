"""Leaderboards as pages and as tables to download."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from redelve.challenge.server import jobs
from redelve.challenge.server.refusals import not_found
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import Stage
from redelve.challenge.server.texts import spreadsheet_safe
from redelve.challenge.server.visible import Boards, progress_of_end
from redelve.challenge.server.web import Serving, Visiting, page

router = APIRouter(include_in_schema=False)
OVERALL = (
    "place",
    "participant",
    "entry",
    "rank_sum",
    "mean_rank",
    "mean_value",
    "least",
    "most",
    "may_be_best",
)
DATASET = (
    *("rank", "participant", "entry", "value", "value_error", "ber", "ber_error", "auc", "auc_error"),
    *("error_rate", "guess", "guess_error", "weight", "score"),
    *("first", "last", "group", "may_be_best", "p_value"),
)


def boards_of(request: Request) -> Boards:
    """The boards of the app."""
    found: Boards = request.app.state.boards
    return found


def shown_board(request: Request, services: Services) -> tuple[dict[str, Any], bool]:
    """The board to show, and whether it is the final one."""
    final = boards_of(request).final() if services.stage() is Stage.ENDED else None
    return (final, True) if final is not None else (boards_of(request).development(), False)


@router.get("/leaderboard")
def overall(request: Request, services: Serving, who: Visiting) -> HTMLResponse:
    """Everybody who answered for all datasets, by the sum of ranks."""
    board, is_final = shown_board(request, services)
    values = _shared(services, board, is_final) | {"rows": board["overall"], "dataset": None}
    return page(request, "leaderboard.html", who, values)


@router.get("/leaderboard/{dataset}")
def of_dataset(request: Request, services: Serving, who: Visiting, dataset: str) -> HTMLResponse:
    """The ranks on one dataset."""
    board, is_final = shown_board(request, services)
    if dataset not in board["datasets"]:
        raise not_found("such dataset")
    values = _shared(services, board, is_final) | {"rows": board["datasets"][dataset], "dataset": dataset}
    return page(request, "leaderboard.html", who, values)


def _shared(services: Services, board: dict[str, Any], is_final: bool) -> dict[str, Any]:
    with services.database.reading() as session:
        waiting = progress_of_end(session) if services.stage() is Stage.ENDED and not is_final else 0
        unscored = jobs.given_up(session, jobs.FINAL) if is_final else 0
    shared = {"board": board, "is_final": is_final, "waiting": waiting, "unscored": unscored}
    return shared | {"names": services.challenge.names}


@router.get("/tables/overall.csv")
def overall_table(request: Request, services: Serving) -> Response:
    """The overall table."""
    board, _ = shown_board(request, services)
    ranks = [f"rank_{name}" for name in services.challenge.names]
    rows = [
        [*(row[key] for key in OVERALL), *(row["ranks"].get(name) for name in services.challenge.names)]
        for row in board["overall"]
    ]
    return table([*OVERALL, *ranks], rows, "overall.csv")


@router.get("/tables/{dataset}.csv")
def dataset_table(request: Request, services: Serving, dataset: str) -> Response:
    """The table of a dataset."""
    board, _ = shown_board(request, services)
    if dataset not in board["datasets"]:
        raise not_found("such dataset")
    rows = [[row.get(key) for key in DATASET] for row in board["datasets"][dataset]]
    return table(DATASET, rows, f"{dataset}.csv")


def table(names: Sequence[str], rows: Sequence[Sequence[object]], file: str) -> Response:
    """A table in CSV; no text in it can be taken for a formula."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(names)
    for row in rows:
        writer.writerow([spreadsheet_safe(value) if isinstance(value, str) else value for value in row])
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)
