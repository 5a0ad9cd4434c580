"""One seed, one log, byte for byte: across processes, hash seeds and paces."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cellwright.lab import Lab
from cellwright.record import compare, read_log

pytestmark = pytest.mark.slow

ORDER = """
order: one
kits: {one: 1}
designs: {one: {tray: sku_kit_m2l1_vessel, parts: {sku_part_medium_gear: 1}}}
"""


def start(folder: Path, name: str, hash_seed: str, *options: str) -> subprocess.Popen[str]:
    (folder / "one.yaml").write_text(ORDER, encoding="utf-8")
    run = ["run", "--order", "one.yaml", "--seed", "7", "--no-picture", "--record", name]
    command = [sys.executable, "-m", "cellwright", *run, *options]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(folder: Path, **runs: subprocess.Popen[str]) -> dict[str, Path]:
    for name, run in runs.items():
        out, err = run.communicate(timeout=300)
        assert run.returncode == 0, f"{name}: {out}{err}"
        assert "done: 1 parts" in out
    return {name: folder / f"{name}.mcap" for name in runs}


@pytest.fixture(scope="module")
def logs(tmp_path_factory) -> dict[str, Path]:
    """The same order in two processes that differ in their hash seed."""
    folder = tmp_path_factory.mktemp("runs")
    own = ["--database", "other.db"]
    return finished(folder, first=start(folder, "first.mcap", "0"), other=start(folder, "other.mcap", "1", *own))


def test_runs_in_other_processes_give_the_same_bytes(logs):
    assert logs["first"].stat().st_size > 50_000
    assert logs["first"].read_bytes() == logs["other"].read_bytes()


@pytest.mark.long
def test_the_wall_clocks_pace_gives_the_same_bytes(logs, tmp_path):
    paced = finished(tmp_path, paced=start(tmp_path, "paced.mcap", "2", "--realtime"))
    assert logs["first"].read_bytes() == paced["paced"].read_bytes()


def test_python_api_gives_the_same_bytes_as_the_command(logs, tmp_path, monkeypatch):
    monkeypatch.chdir(logs["first"].parent)
    with Lab.from_cell("aprs", seed=7) as lab:
        lab.record(tmp_path / "api.mcap")
        assert lab.run("one.yaml").done
    assert (tmp_path / "api.mcap").read_bytes() == logs["first"].read_bytes()


def test_another_seed_gives_another_run(logs, tmp_path):
    with Lab.from_cell("aprs", seed=8) as lab:
        lab.record(tmp_path / "other.mcap")
        lab.advance(0.5)
    result = compare(read_log(logs["first"]), read_log(tmp_path / "other.mcap"))
    assert not result.equal
    assert result.first is not None
    assert result.first.time_ns < 500_000_000


def test_log_says_what_it_depends_on(logs):
    metadata = read_log(logs["first"]).metadata
    assert metadata["cell"] == "aprs"
    assert metadata["seed"] == "7"
    assert {"cellwright", "mujoco-core", "numpy", "python", "model", "fidelity"} <= set(metadata)
