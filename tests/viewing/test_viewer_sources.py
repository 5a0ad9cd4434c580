"""The viewer's sources: their types check, their own tests pass, the page is one file without addresses."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cellwright.viewing.page import viewer_page

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.peer,
    pytest.mark.skipif(
        shutil.which("node") is None or shutil.which("npm") is None, reason="not in Debian 12: Node.js 20 with npm"
    ),
]


def test_types_check_and_the_viewers_own_tests_pass():
    done = subprocess.run(["make", "test-viewer"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^# fail 0$", done.stdout, re.MULTILINE), done.stdout
    assert int(re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)[1]) > 2


def test_the_page_carries_all_it_needs_and_the_licences_of_its_libraries():
    subprocess.run(["make", "viewer"], cwd=ROOT, check=True, capture_output=True)
    page = viewer_page()
    assert not re.search(r"""(?:src|href)=["'](?!data:)""", page.replace("<script>", "", 1).partition("<script>")[0])
    assert "default-src 'none'" in page
    for words in ("three\n", "uplot\n", "Permission is hereby granted"):
        assert words in page.rpartition("</script>")[2]
