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
    "setup",
    "run",
    "test",
    "test-peers",
    "test-long",
    "lint",
    "format",
    "lock",
    "bench",
    "docs",
    "clean",
    "help",
}

needs_checkout = pytest.mark.skipif(not (ROOT / "Makefile").exists(), reason="not a checkout")


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


@pytest.mark.parametrize(("lock", "groups"), [("run.txt", []), ("dev.txt", ["dev", "docs", "plots"])])
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
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^  make ([\w-]+)  ", shown, flags=re.MULTILINE)) == TARGETS


@needs_checkout
def test_second_run_does_not_touch_pip(tmp_path):
    for name in ("Makefile", "pyproject.toml", "requirements", "scripts"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    first = subprocess.run(["make", "-n", "run"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "--require-hashes -r requirements/dev.txt" in first
    (tmp_path / ".venv").mkdir()
    for stamp in (".locked", ".ready"):
        (tmp_path / ".venv" / stamp).touch()
    second = subprocess.run(["make", "-n", "run"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
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


@pytest.mark.parametrize(
    ("reason", "ci", "outcome"),
    [
        ("libegl1 is missing", "true", "1 failed"),
        ("libegl1 is missing", "", "1 skipped"),
        ("not in Debian: rclpy", "true", "1 skipped"),
    ],
)
def test_skipped_peer_fails_in_ci(tmp_path, reason, ci, outcome):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = peer\n")
    (tmp_path / "test_it.py").write_text(
        f"import pytest\n@pytest.mark.peer\ndef test_gl():\n    pytest.skip({reason!r})\n"
        "@pytest.mark.peer\n@pytest.mark.xfail\ndef test_xfail():\n    assert False\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, env={**os.environ, "CI": ci}, capture_output=True, text=True)
    assert outcome in done.stdout, done.stdout
    assert "1 xfailed" in done.stdout


def test_skip_outside_peer_tests_is_no_failure(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text("import pytest\ndef test_other():\n    pytest.skip('optional data')\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, env={**os.environ, "CI": "true"}, capture_output=True, text=True)
    assert "1 skipped" in done.stdout


def test_licence_and_changelog_are_there():
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
