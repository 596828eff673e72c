"""Running the server: a socket that is bound before anything is promised, uvicorn, and a way to stop it."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_network

import uvicorn
from fastapi import FastAPI

from redelve.challenge.server.connections import AT_ONCE, ConnectionLimits, bounded_protocol
from redelve.errors import LocationError, SpecError


@dataclass(frozen=True)
class ServingPlace:
    """Where the server listens. `proxies` are addresses whose word on the client's address is taken."""

    host: str = "127.0.0.1"
    port: int = 8000
    proxies: str | None = None
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)

    def __post_init__(self) -> None:
        for each in self.proxies.split(",") if self.proxies is not None else ():
            try:
                ip_network(each.strip(), strict=False)
            except ValueError:
                raise SpecError(
                    f'--proxies: "{each.strip()}" is no address of a proxy: give some such as 127.0.0.1 or '
                    "10.0.0.0/8, with commas; others could tell any address of their own"
                ) from None


def bound(place: ServingPlace) -> socket.socket:
    """A socket that listens; an error that tells what to do where that cannot be."""
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    try:
        return socket.create_server((place.host, place.port), family=family, backlog=512)
    except (OSError, OverflowError) as problem:
        raise LocationError(
            f"{place.host}:{place.port}: cannot listen there ({problem}): choose another --port or --host"
        ) from None


def address(listening: socket.socket) -> str:
    """The address to look at in a browser."""
    host, port = listening.getsockname()[:2]
    shown = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


def server_of(app: FastAPI, place: ServingPlace) -> uvicorn.Server:
    """Uvicorn, quiet about requests: their paths may hold links that work once."""
    logging.getLogger("redelve.challenge").setLevel(logging.INFO)
    limits = place.limits if place.proxies is None else replace(place.limits, by_address=None)
    config = uvicorn.Config(
        app,
        http=bounded_protocol(limits),
        backlog=AT_ONCE,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=place.proxies is not None,
        forwarded_allow_ips=place.proxies,
        timeout_graceful_shutdown=15,
    )
    return uvicorn.Server(config)


@contextmanager
def in_background(app: FastAPI, place: ServingPlace) -> Iterator[str]:
    """Run the server in a thread as long as the block lasts; its address."""
    listening = bound(place)
    server = server_of(app, place)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                raise LocationError("the server did not start: its log tells why")
            thread.join(0.01)
        yield address(listening)
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()
