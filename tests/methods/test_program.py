"""Programs by DELVE's files: what they are given, what is read back, and that no target is in their reach."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from redelve.answers.answer import Answer
from redelve.errors import RedelveError, SpecError
from redelve.methods.adapters import confinement
from redelve.methods.adapters.program import Program
from redelve.methods.conformance.small_tasks import SmallTask, make_trial
from redelve.seeds import generator

Script = Callable[..., list[str]]
SECRET = "7482910.25"
MECHANISMS = [name for name in ("landlock", "namespace") if sys.platform == "linux"]


def answer(program: Program, trial: SmallTask) -> Answer:
    return program.learn(trial.training, generator("test")).predict(trial.inputs)


def guesses(program: Program, trial: SmallTask) -> list[float]:
    found = answer(program, trial).guesses
    assert found is not None
    return [float(value) for value in found.values[0]]


@pytest.fixture(params=MECHANISMS)
def confined(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name == "namespace" and not confinement.namespaces_work():
        pytest.skip("this machine has no user namespaces")
    if name == "landlock" and confinement.mechanism() != "landlock":
        pytest.skip("this machine has no Landlock")
    monkeypatch.setattr(confinement, "mechanism", lambda: name)
    return name


@pytest.fixture
def script(tmp_path: Path) -> Script:
    def write(text: str, name: str = "method.py") -> list[str]:
        path = tmp_path / "own" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return [sys.executable, str(path)] if name.endswith(".py") else ["/bin/sh", str(path)]

    return write


# What a program is given and what is read back


def test_a_line_of_awk_is_a_method() -> None:
    trial = make_trial("real")
    program = Program("awk '{ print $1 }' {test} > {guess}")
    found = guesses(program, trial)
    encoded = trial.training.encode()
    expected = encoded.decode_guesses(encoded.encode_inputs(trial.inputs)[:, 0])
    assert found == pytest.approx(expected.values[0], rel=1e-6)


def test_a_python_program_gets_delves_files_and_no_targets(script: Script) -> None:
    command = script(
        """
        import os, sys
        print(sorted(os.listdir(".")), sys.argv[1:], sorted(k for k in os.environ if "DELVE" in k))
        sys.exit(3)
        """
    )
    with pytest.raises(RedelveError) as raised:
        answer(Program([*command, "{train}", "{test}", "{guess}"], guesses="guess"), make_trial("real"))
    message = str(raised.value)
    assert 'program "method" ended with status 3' in message
    assert "['Coding-used', 'check.prior', 'normalize.0', 'test.0', 'train.0']" in message
    assert "['train.0', 'test.0', 'guess.0'] ['REDELVE_SEED']" in message


def test_the_files_are_those_of_mgendata() -> None:
    trial = make_trial("real", inputs=("real", "nominal", "binary"))
    told = _told("cat train.0 | head -1; cat Coding-used normalize.0 check.prior; wc -l < test.0", trial)
    assert told[0].split()[-1] == f"{trial.training.encode().targets[0, 0]:.9g}"
    assert told[1:4] == ["x1 nm-abs  scale=sqrt", "x2 1-of-n  scale=sqrt", "x3 -1/+1  scale=sqrt"]
    assert any(line.startswith("normalization options median 4 ") for line in told)
    assert "2 nlmh nominal" in told
    assert told[-1].strip() == "12"


def _told(shell: str, trial: SmallTask) -> list[str]:
    with pytest.raises(RedelveError) as raised:
        answer(Program(f"{shell}; exit 1"), trial)
    return str(raised.value).partition("it printed: ")[2].splitlines()


def test_encodings_can_be_chosen() -> None:
    program = Program("cat Coding-used; exit 1", codings={"x1": "copy", "y4": "nm-sqr"})
    with pytest.raises(RedelveError, match=r"x1 copy .*\n.*\n.*\ny4 nm-sqr"):
        answer(program, make_trial("real"))


def test_probabilities_and_guesses_for_a_loss_are_read() -> None:
    trial = make_trial("nominal")
    found = answer(
        Program("awk '{ print 1, 2, 5 }' test.0 > prob.0; awk '{print \"red\"}' test.0 > guess.Z.0"), trial
    )
    assert found.probabilities is not None
    assert found.probabilities.values[0] == pytest.approx([0.125, 0.25, 0.625])
    assert found.guesses_for["Z"].values[0].tolist() == [0.0] * 12


@pytest.mark.parametrize(
    ("shell", "complaint"),
    [
        ("true", "it wrote none of cguess.0"),
        ("echo 1 > cguess.0", "expected 12 lines, one per case, but got 1"),
        ("awk '{ print 1, 2 }' test.0 > cguess.0", "cguess.0, line 1: expected 1 values but got 2"),
        ("awk '{ print \"much\" }' test.0 > cguess.0", 'expected a number for y4 but got "much"'),
        ("awk '{ print 1 }' test.0 > prob.0", "prob.0 is for a single categorical target"),
        ("echo oh dear >&2; exit 7", 'program "echo" ended with status 7; it printed: oh dear'),
        ("kill -9 $$", "was ended by signal 9"),
    ],
)
def test_failures_are_told(shell: str, complaint: str) -> None:
    with pytest.raises(RedelveError) as raised:
        answer(Program(shell), make_trial("real"))
    assert complaint in str(raised.value)


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(RedelveError, match="can't find the program nosuchprogram"):
        answer(Program(["nosuchprogram"]), make_trial("real"))


def test_seeds_come_from_the_generator() -> None:
    trial, program = make_trial("real"), Program('awk -v s=$REDELVE_SEED "{ print s }" test.0 > guess.0')
    seeds = set()
    for number in (1, 1, 2):
        found = program.learn(trial.training, generator("seed", number)).predict(trial.inputs).guesses
        assert found is not None
        seeds.add(float(found.values[0][0]))
    assert len(seeds) == 2


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(RedelveError):
        answer(Program("mkdir a; touch a/b; chmod 0 a; exit 1"), make_trial("real"))
    assert list(tmp_path.iterdir()) == []


def test_the_directory_of_a_killed_job_is_removed_by_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    abandoned = tmp_path / f"{confinement.PREFIX}abandoned"
    abandoned.mkdir()
    (abandoned / "train.0").write_text("1\n")
    with confinement.job_directory() as living:
        for directory in (abandoned, living):
            os.utime(directory, (0, 0))
        with confinement.job_directory() as other:
            assert {path.name for path in tmp_path.iterdir()} == {living.name, other.name}
    assert list(tmp_path.iterdir()) == []


# Identity


def test_identity_follows_the_programs_own_files(script: Script, tmp_path: Path) -> None:
    first = Program([*script("print(1)"), "{train}"])
    assert first.identity["files"].keys() == {sys.executable, str(tmp_path / "own" / "method.py")}
    json.dumps(first.identity)
    second = Program([*script("print(2)"), "{train}"])
    assert first.digest != second.digest


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"command": []}, "a program needs a command"),
        ({"command": " "}, "a program needs a command"),
        ({"command": 5}, "a program needs a command"),
        ({"command": "x", "guesses": "ptarg"}, 'guesses is "ptarg"'),
        ({"command": "x", "takes": "real"}, 'takes is "real": choose one of all, numerical, categorical'),
        ({"command": "x", "confined": "no"}, 'confined is "no"'),
        ({"command": "x", "env_keep": ["DELVE_PATH"]}, '"DELVE_PATH" can\'t be kept'),
        ({"command": "x", "env_keep": "DELVE_PATH"}, '"DELVE_PATH" can\'t be kept'),
        ({"command": "x", "env_keep": 3}, "env_keep=3: give a text"),
        ({"command": "x", "reads": ["/etc", 3]}, "reads=3: give a text or a path"),
        ({"command": "x", "reads": ""}, "reads holds an empty text: leave it out"),
        ({"command": "x", "codings": 3}, "codings=3: give a dictionary"),
        ({"command": "x", "described": 3}, "described=3: give a text"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(RedelveError, match=complaint):
        Program(**settings)  # type: ignore[arg-type]


def test_a_text_is_one_path_or_variable_not_its_letters() -> None:
    made = Program("x", reads="/etc/passwd", env_keep="HOME")
    assert (made.reads, made.env_keep) == (("/etc/passwd",), ("HOME",))


def test_without_confinement_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "mechanism", lambda: None)
    trial = make_trial("real")
    with pytest.warns(UserWarning, match="not confined: this machine offers neither"):
        answer(Program("awk '{ print 0 }' test.0 > cguess.0"), trial)
    with pytest.raises(RedelveError, match='run it elsewhere, or give confined="if possible"'):
        answer(Program("true", confined=True), trial)
    answer(Program("awk '{ print 0 }' test.0 > cguess.0", confined=False), trial)


# Targets are out of reach

SPY = """
import ctypes, glob, os, sys
secret, places = sys.argv[1][::-1], sys.argv[2:]
seen = []

def look(path):
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        found = os.read(file, 1 << 22)
        os.close(file)
    except OSError:
        return
    if secret.encode() in found:
        seen.append(path)

def walk(place):
    for folder, _, names in os.walk(place):
        for name in names[:50]:
            look(os.path.join(folder, name))

for name, value in os.environ.items():
    if secret in value:
        seen.append("environment " + name)
for place in places:
    walk(place)
    for name in ("mine.csv", "Dataset.data", "data/task/Dataset.data"):
        look(os.path.join(place, name))
up = os.getcwd()
while up != "/":
    up = os.path.dirname(up)
    try:
        listed = os.listdir(up)
    except OSError:
        continue
    for name in listed:
        look(os.path.join(up, name))
processes = [p for p in [os.getppid(), *range(1, 40)]] + [int(n) for n in places if n.isdigit()]
for process in processes:
    for name in ("environ", "cmdline", "mem", "maps"):
        if name == "mem":
            try:
                with open(f"/proc/{process}/mem", "rb"):
                    seen.append(f"opened memory of {process}")
            except OSError:
                pass
        else:
            look(f"/proc/{process}/{name}")
    for inside in ("fd", "cwd", "root", "map_files"):
        for link in glob.glob(f"/proc/{process}/{inside}/*"):
            look(link)
for link in glob.glob("/proc/*/environ"):
    look(link)
libc = ctypes.CDLL(None)
for process in {p for p in processes if p > 40 or p == os.getppid()}:
    if process > 1 and libc.ptrace(0x4206, process, None, None) == 0:
        seen.append(f"traced {process}")
for descriptor in range(3, 256):
    try:
        if secret.encode() in os.pread(descriptor, 1 << 20, 0):
            seen.append(f"descriptor {descriptor}")
    except OSError:
        pass
print("SEEN", seen)
with open("test.0") as test, open("cguess.0", "w") as guesses:
    for line in test:
        guesses.write("0\\n")
sys.exit(9 if seen else 0)
"""


@pytest.fixture
def treasure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The secret wherever a user's targets may be, and where the spy should look for it."""
    home, work, delve = tmp_path / "home", tmp_path / "work", tmp_path / "delve"
    for folder in (home, work, delve / "data" / "task", delve / "methods"):
        folder.mkdir(parents=True)
    (work / "mine.csv").write_text(f"x,y\n1,{SECRET}\n")
    (delve / "data" / "task" / "Dataset.data").write_text(f"1 {SECRET}\n")
    (home / "Dataset.data").write_text(f"1 {SECRET}\n")
    monkeypatch.chdir(work)
    monkeypatch.setenv("REDELVE_HOME", str(home))
    monkeypatch.setenv("DELVE_PATH", str(delve))
    monkeypatch.setenv("TARGETS", SECRET)
    return [str(home), str(work), str(delve), str(tmp_path), str(os.getpid())]


def test_a_spy_finds_no_targets(confined: str, script: Script, treasure: list[str]) -> None:
    command = script(SPY)
    with (Path(treasure[1]) / "mine.csv").open() as held:  # open here, so that /proc/<pid>/fd has it
        found = answer(Program([*command, SECRET[::-1], *treasure], confined=True), make_trial("real"))
        assert held.readable()
    assert len(found) == 12


def test_the_spy_would_find_them_if_it_were_not_confined(script: Script, treasure: list[str]) -> None:
    command = script(SPY)
    places = [place for place in treasure if not place.isdigit()]
    with pytest.raises(RedelveError, match=r"SEEN .*Dataset\.data"):
        answer(Program([*command, SECRET[::-1], *places], confined=False), make_trial("real"))


def test_a_shell_script_finds_no_targets(confined: str, script: Script, treasure: list[str]) -> None:
    home, work, delve = treasure[:3]
    command = script(
        f"""
        for place in .. ../.. {home} {work} {delve} "$HOME" "$OLDPWD" "$TARGETS"; do
            ls "$place" 2>/dev/null | grep -E 'mine|Dataset' && exit 5
            cat "$place"/* 2>/dev/null | grep 7482910 && exit 6
        done
        cat {work}/mine.csv {home}/Dataset.data 2>/dev/null | grep 7482910 && exit 6
        cat /proc/{os.getpid()}/environ 2>/dev/null | grep 7482910 && exit 7
        cat /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n' | grep 7482910 && exit 8
        env | grep -E '7482910|DELVE_PATH|REDELVE_HOME' && exit 9
        cp {work}/mine.csv stolen 2>/dev/null && exit 10
        ln {work}/mine.csv stolen 2>/dev/null && exit 11
        echo written > {work}/mine.csv && exit 12
        awk '{{ print 0 }}' test.0 > cguess.0
        """,
        "method.sh",
    )
    assert len(answer(Program(command, confined=True), make_trial("real"))) == 12
    assert SECRET in (Path(work) / "mine.csv").read_text()


def test_a_link_to_targets_is_not_followed(confined: str, tmp_path: Path) -> None:
    targets = tmp_path / "targets.0"
    targets.write_text("1.0\n" * 12)
    with pytest.raises((RedelveError, OSError)):
        answer(Program(f"ln -s {targets} cguess.0"), make_trial("real"))


def test_a_pipe_does_not_make_us_wait(confined: str) -> None:
    with pytest.raises(RedelveError, match="must be a plain file"):
        answer(Program("mkfifo cguess.0"), make_trial("real"))


def test_its_own_files_and_what_it_may_read_are_readable(
    confined: str, script: Script, tmp_path: Path
) -> None:
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra" / "helper.txt").write_text("5")
    command = script(
        """
        import sys
        value = open(sys.argv[1]).read()
        open("guess.0", "w").write("".join(value + "\\n" for _ in open("test.0")))
        """
    )
    words = [*command, f"{tmp_path}/extra/../extra/helper.txt"]
    assert set(guesses(Program(words, reads=[tmp_path / "extra"]), make_trial("real"))) == {5.0}


def test_a_program_is_found_through_links(confined: str, script: Script, tmp_path: Path) -> None:
    script("""open("guess.0", "w").write("".join("4\\n" for _ in open("test.0")))""")
    (tmp_path / "away").symlink_to("own")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "further").symlink_to(tmp_path / "away")
    (tmp_path / "python").symlink_to(sys.executable)
    words = [str(tmp_path / "python"), str(tmp_path / "deeper" / "further" / "method.py")]
    assert set(guesses(Program(words), make_trial("real"))) == {4.0}


def test_numpy_works_inside(confined: str, script: Script) -> None:
    command = script(
        """
        import numpy as np
        train, test = np.loadtxt("train.0"), np.loadtxt("test.0")
        weights = np.linalg.lstsq(train[:, :-1], train[:, -1], rcond=None)[0]
        np.savetxt("cguess.0", test @ weights)
        """
    )
    assert len(answer(Program(command), make_trial("real"))) == 12


# Nothing is left running


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def wait_for(path: Path) -> int:
    for _ in range(200):
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{path} never came")


def sleeper(tmp_path: Path) -> str:
    """A grandchild in a session of its own, which tells its process number."""
    return f"setsid sh -c 'echo $$ > {tmp_path}/shared/pid; exec sleep 60' &"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


@pytest.mark.skipif(sys.platform != "linux", reason="process numbers are looked up in /proc")
def test_what_a_program_leaves_running_is_ended(tmp_path: Path, shared: Path) -> None:
    waiting = f"while [ ! -s {shared}/pid ]; do sleep 0.05; done"
    shell = f"{sleeper(tmp_path)} {waiting}; awk '{{print 0}}' test.0 > cguess.0"
    answer(Program(shell, confined=False), make_trial("real"))
    assert not alive(wait_for(shared / "pid"))


@pytest.mark.skipif(sys.platform != "linux", reason="process numbers are looked up in /proc")
def test_a_program_ends_with_the_process_that_runs_it(tmp_path: Path, shared: Path) -> None:
    code = textwrap.dedent(
        f"""
        from redelve.methods.adapters.program import Program
        from redelve.methods.conformance.small_tasks import make_trial
        from redelve.seeds import generator
        trial = make_trial("real")
        program = Program({f"{sleeper(tmp_path)} echo $$ > {shared}/main; sleep 60"!r}, confined=False)
        program.learn(trial.training, generator("x")).predict(trial.inputs)
        """
    )
    with subprocess.Popen([sys.executable, "-c", code]) as runner:
        processes = [wait_for(shared / "main"), wait_for(shared / "pid")]
        assert all(map(alive, processes))
        runner.send_signal(signal.SIGKILL)
        runner.wait()
    for _ in range(100):
        if not any(map(alive, processes)):
            return
        time.sleep(0.05)
    raise AssertionError("the program outlived the process that ran it")


def test_unknown_codings_are_refused() -> None:
    with pytest.raises((RedelveError, SpecError), match="nosuch"):
        answer(Program("true", codings={"nosuch": "copy"}), make_trial("real"))
