"""The page about a session: what it counts."""

import cellwright as cw
from cellwright.testing.session_page import write_page
from cellwright.testing.session_report import TestRow


def test_attempts_of_a_test_that_was_run_again_are_one_test(tmp_path):
    outcomes = [("always", "rerun"), ("always", "failed"), ("sometimes", "rerun"), ("sometimes", "flaky")]
    write_page([TestRow(f"test_it.py::test_{name}", outcome) for name, outcome in outcomes], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 of 2 tests failed" in page
    assert f"Made with cellwright {cw.__version__}, python" in page
    assert page.count("<code>test_it.py::test_always</code>") == 2
