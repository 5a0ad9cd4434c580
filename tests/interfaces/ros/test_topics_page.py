"""The guide's page of topics and services is what the cells offer."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "scripts" / "list-topics").exists(), reason="not a checkout")
def test_the_page_of_topics_is_up_to_date():
    made = subprocess.run([sys.executable, "scripts/list-topics"], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    page = (ROOT / "docs/guide/ros-topics.md").read_text(encoding="utf-8")
    assert page == made.stdout, "run: make regenerate"
