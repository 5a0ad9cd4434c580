"""Planning files are the same bytes in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def written(folder: Path, hash_seed: str) -> dict[str, bytes]:
    command = [sys.executable, "-m", "cellwright", "plan", "kitting", "--order", "kit_m2l1", "--pddl", str(folder)]
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": hash_seed}, check=True, capture_output=True)
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*.pddl"))}


@pytest.mark.slow
def test_planning_files_do_not_depend_on_the_process(tmp_path):
    first, *others = [written(tmp_path / seed, seed) for seed in ("1", "2", "3")]
    assert len(first) >= 12
    assert all(other == first for other in others)
