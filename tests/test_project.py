"""What a checkout promises: two commands, locked packages, honest skips."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TARGETS = {
    "compiled",
    "setup",
    "viewer",
    "pictures",
    "test-viewer",
    "run",
    "test",
    "test-peers",
    "test-long",
    "lint",
    "format",
    "lock",
    "regenerate",
    "bench",
    "docs",
    "clean",
    "help",
}

needs_checkout = pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="not a checkout")


def make(*arguments: str, cwd: Path) -> str:
    """What make prints, untouched by the make that may have started the tests."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=True
    ).stdout


def normalised(requirement: str) -> str:
    return re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-").replace(".", "-")


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_lock_holds_pins_and_hashes_and_no_place(lock):
    text = lock.read_text(encoding="utf-8")
    for word in ("://", "--index-url", "--extra-index-url", "--find-links", "--trusted-host", "file:", " @ "):
        assert word not in text
    assert not re.search(r"(?<![\w.])/(?:home|root|tmp|opt|work|Users)/", text)
    entries = re.split(r"\n(?=\S)", re.sub(r"^\s*#.*\n?", "", text, flags=re.MULTILINE).strip())
    assert len(entries) > 20
    for entry in entries:
        assert re.match(r"[\w.-]+==\S+ \\\n\s+--hash=sha256:[0-9a-f]{64}", entry), entry[:80]


@pytest.mark.parametrize(("lock", "groups"), [("run.txt", []), ("dev.txt", ["dev", "docs", "plots", "mariadb"])])
def test_lock_covers_the_declared_packages(lock, groups):
    pinned = {normalised(line) for line in (ROOT / "requirements" / lock).read_text().splitlines() if "==" in line}
    declared = list(PROJECT["dependencies"])
    for group in groups:
        declared += PROJECT["optional-dependencies"][group]
    assert {normalised(requirement) for requirement in declared} <= pinned


def test_both_locks_agree():
    def versions(name: str) -> dict[str, str]:
        return dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements" / name).read_text(), flags=re.MULTILINE))

    run, dev = versions("run.txt"), versions("dev.txt")
    assert run.items() <= dev.items()


@needs_checkout
def test_help_lists_every_target():
    shown = make(cwd=ROOT)
    assert set(re.findall(r"^  make ([\w-]+)  ", shown, flags=re.MULTILINE)) == TARGETS


@needs_checkout
def test_second_run_does_not_touch_pip(tmp_path):
    for name in (
        "Makefile",
        "pyproject.toml",
        "requirements",
        "scripts",
        "viewer/package.json",
        "viewer/tsconfig.json",
        "viewer/build.mjs",
        "viewer/src",
    ):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, tmp_path / name)
    first = make("-n", "run", cwd=tmp_path)
    assert "--require-hashes -r requirements/dev.txt" in first
    (tmp_path / ".venv").mkdir()
    for stamp in (".locked", ".ready", ".viewer"):
        (tmp_path / ".venv" / stamp).touch()
    second = make("-n", "run", cwd=tmp_path)
    assert second.replace(":", "").split() == [".venv/bin/cellwright", "run"]


@needs_checkout
def test_setup_without_a_fit_python_says_so_in_one_line():
    done = subprocess.run(
        ["sh", "scripts/find-python"],
        cwd=ROOT,
        env={**os.environ, "PYTHON": "no-such-python"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "3.11" in done.stderr


@needs_checkout
@pytest.mark.parametrize(("wish", "code"), [("if-possible", 0), ("", 1)])
def test_a_viewer_without_node_is_told_in_one_line(tmp_path, wish, code):
    command = [shutil.which("sh"), "scripts/build-viewer", *filter(None, [wish])]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == code
    told = done.stdout + done.stderr
    assert told.count("\n") == 1
    assert "Node.js 20" in told


SKIPS = """
import pytest

@pytest.mark.peer
def test_missing():
    pytest.skip("libegl1 is missing")

@pytest.mark.peer
def test_not_to_be_had():
    pytest.skip("not in Debian: rclpy")

@pytest.mark.peer
@pytest.mark.xfail
def test_known():
    assert False

def test_no_peer():
    pytest.skip("optional data")
"""


@pytest.mark.parametrize(("ci", "outcome"), [("true", "1 failed, 2 skipped, 1 xfailed"), ("", "3 skipped, 1 xfailed")])
def test_skipped_peer_fails_in_ci(tmp_path, ci, outcome):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = peer\n")
    (tmp_path / "test_it.py").write_text(SKIPS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, env={**os.environ, "CI": ci}, capture_output=True, text=True)
    assert outcome in done.stdout, done.stdout
    assert ("test_missing: skipped in CI (libegl1 is missing)" in done.stdout) == bool(ci)


def test_licence_and_changelog_are_there():
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
