"""schemathesis: requests drawn from the API's own description, right and wrong ones, get no 5xx."""

import contextlib
import warnings
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy

from redelve.challenge.server.audit import Actor
from tests.challenge.attacks.tools import Scene, scene
from tests.challenge.server.bench import ENDS, OPENS, PASSWORD, START

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of packages that it uses
    schemathesis = pytest.importorskip("schemathesis")
    from schemathesis.checks import not_a_server_error
    from schemathesis.generation import GenerationMode
    from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance]
MOMENTS = (OPENS - timedelta(days=1), START, ENDS)
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Scene]:
    with scene(tmp_path) as found:
        yield found


def account(played: Scene, number: int) -> dict[str, str]:
    """The header of a new account: what an operation revokes or uses up is its own."""
    accounts, now, address = played.services.accounts, played.bench.clock.now(), f"198.51.100.{number}"
    user = accounts.register(now, address, f"participant {number}", PASSWORD)
    tokens = [accounts.make_token(now, Actor(user, address), "")[1] for _ in range(2)]
    return {"Authorization": f"Bearer {tokens[0]}"}


def can_be_wrong(raw: dict[str, Any]) -> bool:
    """Whether something can be sent that the description forbids: any text will do for a name in a path."""
    kinds = [parameter["schema"].get("type") for parameter in raw.get("parameters", ())]
    return "requestBody" in raw or "integer" in kinds


def explore(played: Scene, moment: datetime, examples: int) -> Counter[tuple[str, int]]:
    """Send requests of all operations at a time of the challenge; how often each status came."""
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", played.bench.app)
    found: Counter[tuple[str, int]] = Counter()
    for number, result in enumerate(schema.get_all_operations()):
        operation = result.ok()
        headers = account(played, number)
        raw = schema.raw_schema["paths"][operation.path][operation.method]
        for mode in GenerationMode:
            if mode is GenerationMode.POSITIVE or can_be_wrong(raw):
                played.bench.clock.set(moment)
                found += sent(operation.as_strategy(generation_mode=mode), headers, examples)
    return found


def sent(cases: SearchStrategy[Any], headers: dict[str, str], examples: int) -> Counter[tuple[str, int]]:
    """Send so many requests of a kind, and check the answers; how often each status came."""
    found: Counter[tuple[str, int]] = Counter()

    @seed(7)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def send(case: Any) -> None:
        response = case.call(headers=headers)
        found[case.operation.label, response.status_code] += 1
        case.validate_response(response, checks=CHECKS)

    with contextlib.suppress(Unsatisfiable):
        send()
    return found


def test_no_request_that_schemathesis_draws_makes_the_server_fail(api: Scene) -> None:
    found = explore(api, START, 4)
    assert len({label for label, _ in found}) == 16
    assert not [key for key in found if key[1] >= 500]
    assert {status for _, status in found} >= {200, 401, 404, 422}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS, ids=["before the opening", "development", "after the end"])
def test_none_of_many_requests_makes_the_server_fail_in_any_phase(api: Scene, moment: datetime) -> None:
    api.bench.clock.set(moment)
    api.bench.work()
    found = explore(api, moment, 150)
    assert sum(found.values()) > 1000
    assert not [key for key in found if key[1] >= 500]
