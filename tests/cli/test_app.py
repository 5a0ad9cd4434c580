"""The command as a whole: help, version, usage errors, interruption, pipes, broken installations."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from importlib import import_module

import pytest

from cellwright import __version__
from cellwright.cli.app import COMMANDS, short_help
from cellwright.record import read_log


def test_version(cellwright):
    assert cellwright("--version") == (0, f"{__version__}\n", "")


def test_alone_it_shows_help(cellwright):
    ended = cellwright()
    assert (ended.code, ended.out) == (2, "")
    for command in COMMANDS:
        assert f"\n  {command} " in ended.err
    assert cellwright("--help").out.strip() == ended.err.strip()


@pytest.mark.parametrize("command", [[], ["run"], ["trial"], ["log"], ["log", "perceive"], ["experiment"]])
def test_help_waits_for_no_laboratory(command):
    code = (
        f"import sys; from cellwright.cli.app import _run; _run({[*command, '--help']}); "
        "assert not {'sqlalchemy', 'mujoco', 'cellwright.lab'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_overview_says_what_the_command_says(name):
    module = import_module(f"cellwright.cli.{name}")
    said = module.app.info.help if hasattr(module, "app") else inspect.getdoc(getattr(module, name))
    assert short_help(name) == (said or "nothing")


@pytest.mark.parametrize("group", ["cell", "model", "log"])
def test_group_alone_shows_its_help(cellwright, group):
    ended = cellwright(group)
    assert ended.code == 2
    assert f"Usage: cellwright {group}" in ended.err


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS), ["cell", "show"], ["log", "compare"]])
def test_help_fits_the_terminal(cellwright, command):
    ended = cellwright(*command, "--help")
    assert ended.code == 0
    assert ended.out.startswith(f"Usage: {' '.join(['cellwright', *command])}")
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rum"], "No such command 'rum'. Did you mean 'run'?"),
        (["cell", "chek"], "Did you mean 'check'?"),
        (["--bogus"], "No such option: --bogus (see 'cellwright --help')"),
        (["run", "--sed", "7"], "No such option: --sed"),
        (["run", "--seed"], "Option '--seed' requires an argument"),
        (["run", "--seed", "x"], "Invalid value for '--seed'"),
        (["run", "--seed", "1.5"], "Invalid value for '--seed'"),
        (["run", "--realtime=yes"], "--realtime"),
        (["run", "aprs", "more"], "(more) (see 'cellwright run --help')"),
        (["cell", "show"], "Missing argument 'CELL'"),
        (["cell", "export", "aprs"], "Missing option '--out'"),
        (["cell", "export", "aprs", "--out", "x", "--format", "stl"], "Invalid value for '--format': 'stl' is not"),
        (["cell", "picture", "aprs", "--width", "0"], "Invalid value for '--width'"),
        (["cell", "picture", "aprs", "--height", "99999"], "Invalid value for '--height'"),
        (["log", "show"], "Missing argument 'FILE'"),
    ],
)
def test_usage_errors_are_one_line(refused, arguments, words):
    assert words in refused(*arguments)


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60)


WITHOUT_MUJOCO = "import sys; sys.modules['mujoco'] = None; from cellwright.cli import main; main(sys.argv[1:])"


def test_doctor_works_where_nothing_else_does():
    done = python(WITHOUT_MUJOCO, "doctor")
    assert done.returncode == 1
    assert done.stderr == ""
    assert "missing; pip install" in " ".join(done.stdout.split())


def test_missing_package_is_one_line_that_names_the_doctor():
    done = python(WITHOUT_MUJOCO, "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert "mujoco" in done.stderr
    assert "cellwright doctor" in done.stderr
    assert done.stderr.count("\n") == 2, "one line that says what is about to be built, one that says why it is not"


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """A run that is interrupted while the gear is being taken."""
    folder = tmp_path_factory.mktemp("interrupted")
    command = [sys.executable, "-m", "cellwright", "run", "--realtime", "--json", "--record", "run.mcap"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    run = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stderr is not None
    progress = [run.stderr.readline() for _ in range(4)]
    assert "set-grasp" in progress[-1], progress
    log = folder / "run.mcap"
    until_s, before = time.monotonic() + 20, log.stat().st_size
    while log.stat().st_size == before and time.monotonic() < until_s:  # a chunk per simulated second
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=30)
    return run.returncode, out, err, folder


@pytest.mark.slow
def test_interruption_ends_with_130_and_one_line(interrupted):
    code, out, err, _ = interrupted
    assert code == 130
    assert out == ""
    assert err.splitlines()[-1] == "cellwright: interrupted"
    assert len(err.splitlines()) <= 2


@pytest.mark.slow
def test_interruption_leaves_a_complete_log_and_no_picture(interrupted):
    folder = interrupted[3]
    log = read_log(folder / "run.mcap")
    assert log.problem == ""
    start_s, end_s = (time_ns / 1e9 for time_ns in log.span_ns)
    assert start_s < 0.1
    assert 1.0 <= end_s < 10  # a busy machine may be behind the wall clock
    assert not (folder / "out" / "run.png").exists()


@pytest.mark.slow
def test_reader_who_leaves_is_no_error(interrupted):
    """`cellwright log replay ... | head -1`"""
    log = interrupted[3] / "run.mcap"
    command = [sys.executable, "-m", "cellwright", "log", "replay", str(log), "--speed", "0"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stderr is not None
    assert "/orders" in run.stdout.readline()
    run.stdout.close()
    assert run.stderr.read() == ""
    assert run.wait(timeout=30) == 0
