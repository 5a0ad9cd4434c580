"""The guide's page of keys is what the schemas say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not (ROOT / "scripts" / "list-keys").exists(), reason="not a checkout")
def test_the_page_of_keys_is_up_to_date():
    made = subprocess.run([sys.executable, "scripts/list-keys"], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert (ROOT / "docs/guide/keys.md").read_text(encoding="utf-8") == made.stdout, "run: make regenerate"
