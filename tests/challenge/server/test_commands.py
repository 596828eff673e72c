"""The commands: serve and worker as processes, submit as a client."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from redelve.challenge import Phases
from redelve.challenge.server import require, serving
from redelve.challenge.server.app import create_app
from redelve.challenge.server.client import Client, ServerRefused
from redelve.challenge.server.clock import ManualClock
from redelve.challenge.server.services import open_services
from redelve.challenge.server.serving import ServingPlace, bound, in_background
from redelve.challenge.server.settings import Settings
from redelve.cli.main import main
from redelve.errors import LocationError, OptionalPackageError, SpecError
from tests.challenge.server.bench import CHEAP, OPENS, PASSWORD, START, make_challenge, zipped

TOKEN, SERVER = "REDELVE_CHALLENGE_TOKEN", "REDELVE_CHALLENGE_SERVER"
FAR = OPENS.replace(year=9000)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A real server on a free port, with a worker."""
    make_challenge(folder / "challenge")
    settings = replace(Settings.for_folder(folder / "challenge"), passwords=CHEAP, poll_seconds=0.05)
    with in_background(create_app(settings, clock=ManualClock(START)), ServingPlace(port=0)) as url:
        yield url


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with served(tmp_path) as found:
        with Client(found) as client:
            monkeypatch.setenv(TOKEN, client.register("Ada", PASSWORD))
        monkeypatch.setenv(SERVER, found)
        yield found


def zip_file(folder: Path, data: bytes | None = None) -> str:
    from redelve.challenge import read_challenge

    path = folder / "answers.zip"
    path.write_bytes(zipped(read_challenge(folder / "challenge")) if data is None else data)
    return str(path)


class TestSubmit:
    def test_it_waits_for_the_score(
        self, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["challenge", "submit", zip_file(tmp_path), "-l", "first"]) == 0
        out = capsys.readouterr().out
        assert "entry 1 is complete and scored on the validation cases" in out
        assert re.search(r"ada +validation BER 0\.\d{4} ± 0\.\d{4}", out)

    def test_it_tells_what_to_mend(
        self, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["challenge", "submit", zip_file(tmp_path, b"no zip")]) == 1
        error = capsys.readouterr().err
        assert "this is no zip file" in error
        assert "entry 1 was refused" in error

    def test_the_token_may_lie_in_a_file(
        self, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        import os

        (tmp_path / "token").write_text(os.environ[TOKEN] + "\n")
        monkeypatch.delenv(TOKEN)
        path = zip_file(tmp_path)
        assert main(["challenge", "submit", path, "-n", "-t", str(tmp_path / "token")]) == 0
        assert main(["challenge", "submit", path]) == 1
        assert f"no token: set {TOKEN}" in capsys.readouterr().err

    def test_a_wrong_token_and_a_wrong_server_are_told(
        self, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv(TOKEN, "redelve_wrong")
        assert main(["challenge", "submit", zip_file(tmp_path)]) == 1
        assert "Send a valid token" in capsys.readouterr().err
        monkeypatch.setattr("redelve.challenge.server.client.time.sleep", lambda _: None)
        for server in ("http://127.0.0.1:1", "nonsense", "http://[", "ftp://x"):
            assert main(["challenge", "submit", zip_file(tmp_path), "-s", server]) == 1
            assert "server" in capsys.readouterr().err

    def test_a_missing_file_is_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["challenge", "submit", "nothing.zip", "-s", "http://x"]) == 1
        assert "nothing.zip: there is no such file" in capsys.readouterr().err


class TestClient:
    def test_a_broken_connection_makes_no_second_entry(
        self, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The answer to the first upload gets lost; the client sends it again."""
        import os

        path = Path(zip_file(tmp_path))
        with Client(url, os.environ[TOKEN]) as client:
            post, calls = client._http.post, []

            def lossy(*given: object, **options: object) -> httpx.Response:
                answer = post(*given, **options)  # type: ignore[arg-type]
                calls.append(answer.status_code)
                if len(calls) == 1:
                    raise httpx.ReadError("lost")
                return answer

            monkeypatch.setattr(client._http, "post", lossy)
            entry = client.submit(path)
            assert calls == [201, 200]
            assert [one["id"] for one in client.get("/api/v1/entries")] == [entry["id"]]

    def test_refusals_carry_their_reason(self, url: str) -> None:
        with Client(url) as client, pytest.raises(ServerRefused, match="is taken") as caught:
            client.register("ada", PASSWORD)
        assert caught.value.code == "name_taken"


@pytest.mark.parametrize("proxies", ["*", "nonsense", "127.0.0.1,", "127.0.0.1,10.0.0.0/99"])
def test_proxies_are_addresses(proxies: str) -> None:
    """With * anybody could tell any address, and try passwords without end."""
    with pytest.raises(SpecError, match="is no address of a proxy: give some"):
        ServingPlace(proxies=proxies)
    assert ServingPlace(proxies="127.0.0.1, 10.0.0.0/8,::1").proxies


def test_a_port_that_is_taken_is_told() -> None:
    with bound(ServingPlace(port=0)) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(LocationError, match="choose another --port"):
            bound(ServingPlace(port=port))


def test_a_missing_package_is_told_with_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "redelve.challenge.server.find_spec", lambda name: None if name == "uvicorn" else name
    )
    with pytest.raises(OptionalPackageError, match=r"needs uvicorn: pip install 'redelve\[challenge\]'"):
        require()


def test_redelve_and_its_commands_load_no_package_of_the_server() -> None:
    code = (
        "import sys, redelve, redelve.cli.main, redelve.challenge, redelve.challenge.server;"
        "import redelve.cli.challenge_data, redelve.cli.challenge_entries, redelve.cli.challenge_server;"
        "assert not {'fastapi', 'sqlalchemy', 'alembic', 'argon2', 'uvicorn', 'httpx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["serve"], 2),
        (["serve", "nowhere"], 1),
        (["serve", "nowhere", "-p", "x"], 2),
        (["worker", "nowhere"], 1),
        (["demo", "x"], 2),
    ],
)
def test_wrong_uses_are_told(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["challenge", *words]) == code
    assert capsys.readouterr().err.startswith(f"redelve challenge {words[0]}: ")


class TestWhatServeTells:
    @pytest.fixture
    def told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> Callable[..., str]:
        """What is printed until the server would run."""

        class Idle:
            def run(self, sockets: list[socket.socket]) -> None:
                for each in sockets:
                    each.close()

        monkeypatch.setattr(serving, "server_of", lambda *_: Idle())
        make_challenge(tmp_path / "challenge")

        def start(*options: str) -> str:
            assert main(["challenge", "serve", str(tmp_path / "challenge"), "-p", "0", *options]) == 0
            return capsys.readouterr().out

        return start

    def become_organiser(self, folder: Path, name: str, secret: str) -> None:
        services = open_services(replace(Settings.for_folder(folder / "challenge"), passwords=CHEAP))
        services.accounts.use_invitation(services.now(), "", secret, name, PASSWORD)
        services.close()

    def test_a_link_until_there_is_an_organiser_and_later_on_demand(
        self, told: Callable[..., str], tmp_path: Path
    ) -> None:
        assert "/link/" in told()
        self.become_organiser(tmp_path, "Olga", told().rpartition("/link/")[2].strip())
        assert "/link/" not in told()
        self.become_organiser(tmp_path, "Otto", told("--organiser").rpartition("/link/")[2].strip())

    def test_behind_a_proxy_the_link_has_no_host_of_this_machine(self, told: Callable[..., str]) -> None:
        (link,) = [line for line in told("--https").splitlines() if "/link/" in line]
        assert "http://" not in link

    def test_test_labels_that_are_not_there_yet(self, told: Callable[..., str], tmp_path: Path) -> None:
        assert "test.labels" not in told()
        (tmp_path / "challenge/secret/nova_test.labels").unlink()
        assert "nova_test.labels is not there (1 such files)" in told()


@contextmanager
def process(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A command of its own, stopped by its id at the end."""
    command = [
        sys.executable,
        "-c",
        "import sys; from redelve.cli.main import main; sys.exit(main())",
        *words,
    ]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield started
    finally:
        if started.poll() is None:
            started.kill()
        started.wait()
        assert started.stdout is not None
        started.stdout.close()


@pytest.mark.slow
def test_serve_and_worker_run_as_processes_and_a_killed_worker_is_no_harm(tmp_path: Path) -> None:
    """A worker is killed as it starts; another does the work; both stop when they are told to."""
    phases = Phases(OPENS, FAR, FAR.replace(year=9001))
    make_challenge(tmp_path / "challenge", phases=phases)
    folder = str(tmp_path / "challenge")
    with process("challenge", "serve", folder, "--port", "0", "--workers", "0") as server:
        assert server.stdout is not None
        url = re.search(r"http://\S+:\d+", server.stdout.readline())
        warning = server.stdout.readline()
        link = re.search(r"http://\S+/link/\S+", server.stdout.readline())
        assert url is not None
        assert "validation_feedback" in warning  # the challenge lasts for thousands of years
        assert link is not None
        with Client(url[0]) as nobody:
            token = nobody.register("Ada", PASSWORD)
        with Client(url[0], token) as client:
            entry = client.submit(Path(zip_file(tmp_path)))
            assert client.get(f"/api/v1/entries/{entry['id']}")["state"] == "received"
            with process("challenge", "worker", folder) as worker:
                worker.send_signal(signal.SIGKILL)
                worker.wait()
            with process("challenge", "worker", folder) as worker:
                assert client.wait(entry["id"], seconds=90)["state"] == "scored"
                worker.send_signal(signal.SIGTERM)
                assert worker.wait(30) == 0
        server.send_signal(signal.SIGINT)
        assert server.wait(30) in (0, 130)


@pytest.mark.slow
def test_the_demonstration_runs_from_beginning_to_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["challenge", "demo"]) == 0
    out = capsys.readouterr().out
    places = re.findall(r"^ +(\d)  (Bayes|Logistic|Overconfident Ridge)", out, re.MULTILINE)
    assert {name for _, name in places} == {"Bayes", "Logistic", "Overconfident Ridge"}
    assert places[0][0] == "1"
    assert "refused" in out
    assert "5 files of validation labels" in out
