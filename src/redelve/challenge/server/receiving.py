"""From a request to an entry: the same way for pages and API."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect

from redelve.challenge.server import entries, uploads
from redelve.challenge.server.audit import Actor
from redelve.challenge.server.database_tables import Entry
from redelve.challenge.server.entries import Offer
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.services import Services

LOG = logging.getLogger("redelve.challenge.server")
PIECE = 1 << 20
INTERRUPTED = Refusal(400, "interrupted", "The upload was interrupted: send it again.")
UNKEPT = Refusal(
    503, "no_room", "The server cannot keep the file just now: tell the organiser, try again later."
)


async def receive_entry(
    services: Services, actor: Actor, stream: AsyncIterator[bytes], offer: Offer
) -> tuple[Entry, bool]:
    """Take a file and make an entry of it; False if this upload was known already."""
    assert actor.user is not None
    offer = offer.checked()
    before = await run_in_threadpool(entries.known, services, actor.user, offer.client_key)
    if before is not None:
        try:
            entries.check_same(before, await uploads.digest_of(stream))
        except ClientDisconnect:
            raise INTERRUPTED from None
        return before, False
    await run_in_threadpool(entries.check_may_submit, services, actor)
    try:
        receiver = uploads.Receiver(services.settings.uploads, services.challenge.limits.megabytes << 20)
        async with asyncio.timeout(services.settings.upload_seconds):
            stored, received = await uploads.receive(stream, receiver, services.clock)
    except TimeoutError:
        raise Refusal(408, "too_slow", "The upload took too long: try again on a better line.") from None
    except ClientDisconnect:
        raise INTERRUPTED from None
    except OSError as problem:
        LOG.error("an entry could not be kept in %s: %s", services.settings.uploads, problem.strerror)
        raise UNKEPT from None
    is_kept = False
    try:
        entry, is_kept = await run_in_threadpool(entries.submit, services, actor, stored, received, offer)
    finally:
        if not is_kept:
            uploads.discard(services.settings.uploads, stored)
    return entry, is_kept


async def pieces(file: UploadFile) -> AsyncIterator[bytes]:
    """The bytes of a file that came with a form."""
    while piece := await file.read(PIECE):
        yield piece
