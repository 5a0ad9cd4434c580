"""The plugin's settings: folders, what is emptied, what is refused."""

from __future__ import annotations

import json

import pytest

from cellwright.testing.evidence import MARK, empty_output, slug_of, take_test_folder
from cellwright.testing.folder_lock import FolderLock
from cellwright.testing.settings import KeepSettings, in_folder, marked_settings, read_settings


def test_folders_are_named_after_their_tests():
    assert slug_of("tests/test_a.py::TestX::test_b[x-1/ä]") == "tests-test_a-py-TestX-test_b-x-1-a"
    long = slug_of(f"tests/test_a.py::test_b[{'x' * 300}]")
    assert len(long) == 120
    assert long != slug_of(f"tests/test_a.py::test_b[{'x' * 301}]")


def test_two_tests_never_share_a_folder(tmp_path):
    names = [take_test_folder(tmp_path, "t.py::test[a/b]").name, take_test_folder(tmp_path, "t.py::test[a-b]").name]
    assert names == ["t-py-test-a-b", "t-py-test-a-b-2"]
    assert take_test_folder(tmp_path, "t.py::test[a/b]", retry=1).name == "t-py-test-a-b-retry1"


def test_only_folders_of_tests_are_removed(tmp_path):
    for name in ("ours", "theirs", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "ours" / MARK).write_text(json.dumps({"cellwright": "1.0"}))
    (tmp_path / "theirs" / MARK).write_text(json.dumps({"name": "a cell of somebody"}))
    (tmp_path / "broken" / MARK).write_text("{")
    (tmp_path / "junit.xml").write_text("<x/>")
    empty_output(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "junit.xml", "theirs"]


@pytest.mark.parametrize(
    ("value", "of_failed", "of_passed"),
    [("on", True, True), ("off", False, False), ("retain-on-failure", True, False)],
)
def test_what_is_kept(tmp_path, value, of_failed, of_passed):
    settings = marked_settings(KeepSettings(tmp_path), {"trace": value})
    assert settings.keeps("trace", failed=True) is of_failed
    assert settings.keeps("trace", failed=False) is of_passed


@pytest.mark.parametrize("marker", [{"trace": "only-on-failure"}, {"picture": True}, {"traces": "on"}])
def test_a_marker_that_says_something_else_is_refused(tmp_path, marker):
    with pytest.raises(pytest.UsageError, match=r"^marker cellwright: "):
        marked_settings(KeepSettings(tmp_path), marker)


class Asked:
    """A session with these options."""

    def __init__(self, folder, **options):
        self.invocation_params = type("Params", (), {"dir": folder})
        self._options = options

    def getoption(self, name):
        return self._options.get(name.removeprefix("--cellwright-"))

    def getini(self, _name):
        return None


@pytest.mark.parametrize(
    ("worker", "asked", "address"),
    [("", "", "127.0.0.1:8080"), ("gw2", "", "127.0.0.1:8082"), ("gw0", "65535", "127.0.0.1:65535"),
     ("gw1", "65535", "127.0.0.1:65534"), ("gw3", "0", "127.0.0.1:0")],
)  # fmt: skip
def test_each_worker_has_a_port_of_its_own(tmp_path, monkeypatch, worker, asked, address):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    assert read_settings(Asked(tmp_path, view=asked)).view == address


def test_slow_motion_is_a_factor_and_no_milliseconds(tmp_path):
    assert read_settings(Asked(tmp_path, slowmo="4")).speed == 0.25
    with pytest.raises(pytest.UsageError, match=r"from 1 to 100 \(a factor, no milliseconds\), got '500'"):
        read_settings(Asked(tmp_path, slowmo="500"))


def test_the_page_of_a_session_moves_with_its_folder(tmp_path):
    own = in_folder(read_settings(Asked(tmp_path, report="")), tmp_path / "other")
    assert own.report == tmp_path / "other/report.html"
    elsewhere = in_folder(read_settings(Asked(tmp_path, report="mine/page.html")), tmp_path / "other")
    assert elsewhere.report == tmp_path / "mine/page.html"


def test_of_two_sessions_each_has_a_folder_of_its_own(tmp_path):
    pytest.importorskip("fcntl", reason="this system has no locks on files")
    first = FolderLock(tmp_path / "results")
    second = FolderLock(tmp_path / "results")
    assert (first.folder, second.folder) == (tmp_path / "results", tmp_path / "results-2")
    first.release()
    third = FolderLock(tmp_path / "results")
    assert third.folder == tmp_path / "results"
    for one in (second, third):
        one.release()
