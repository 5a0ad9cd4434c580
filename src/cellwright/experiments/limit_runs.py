"""One disturbed trial of one controller, as a job for another process; its outcome as one row."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import yaml

from cellwright.core.errors import SimulationError
from cellwright.experiments.kitting_runs import PART_COUNTS
from cellwright.trials import run_trial
from cellwright.trials.cfg import EXTERNAL, TrialCfg
from cellwright.trials.report import Report

__all__ = ["OURS", "LimitJob", "LimitRow", "controllers", "disturbed_cell", "disturbed_faults", "run_limit"]

OURS, ORDER = "ours", "kit_m2l1"
EXAMPLES = Path(__file__).parents[3] / "examples" / "controllers"
LIMIT_S = 120.0  # an undisturbed kit takes a third of it
PACE = 8.0
DEG_PER_MM = 1.0  # a detector that errs more along the axes also errs more about them
SCALED = ("x_m", "y_m", "z_m")


@dataclass(frozen=True)
class LimitJob:
    """One trial to make: a controller, a disturbance and its level."""

    controller: str
    disturbance: str
    level: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class LimitRow:
    """The outcome of one trial.

    Attributes:
        controller: Whose.
        disturbance: What was disturbed; `none` for nothing.
        level: How much.
        seed: The layout, and everything else that is random.
        status: `done`, `partial`, `failed`, `false_done`, or `error` when physics broke.
        sim_s: The simulated duration.
        cpu_s: The processor time, without that of a program outside.
        reason: One line.
    """

    controller: str
    disturbance: str
    level: float
    seed: int
    status: str
    sim_s: float
    cpu_s: float
    reason: str

    @property
    def done(self) -> bool:
        """Whether the kit is done by the truth, and the controller says so."""
        return self.status == "done"


def controllers() -> dict[str, Path | None]:
    """Returns the controllers that can be tried: our own, and the examples, where they are installed."""
    found = sorted(EXAMPLES.glob("*.py")) if EXAMPLES.is_dir() else []
    return {OURS: None, **{path.stem: path for path in found}}


def disturbed_cell(disturbance: str, level: float) -> dict[str, Any]:
    """Returns the APRS cell as data, with random stock and disturbed detectors."""
    cell: dict[str, Any] = yaml.safe_load((files("cellwright.cells") / "aprs.yaml").read_text(encoding="utf-8"))
    for population in cell["populations"]:
        population |= {"shuffle": True, "count": PART_COUNTS[population["model"]]}
    for sensor in cell["sensors"]:
        if "camera" in sensor:
            sensor |= _of_detector(sensor, disturbance, level)
    return cell


def _of_detector(sensor: dict[str, Any], disturbance: str, level: float) -> dict[str, Any]:
    """Returns the keys of a detector that are changed."""
    if disturbance == "noise_mm":
        axes = SCALED if sensor["type"] == "logical_detector" else SCALED[:2]
        return {"noise": {**dict.fromkeys(axes, level / 1000), "yaw_deg": DEG_PER_MM * level}}
    if disturbance == "bias_mm":
        return {"bias_sd_m": level / 1000}
    key = {"delay_s": "delay_s", "miss": "miss", "needed_share": "min_share"}.get(disturbance)
    return {} if key is None else {key: level}


def disturbed_faults(disturbance: str, level: float) -> list[str]:
    """Returns the faults that disturb everything but detectors."""
    if disturbance == "friction":
        return [f"weak_gripper:at=0,robot={robot},factor=1,friction={level:g}" for robot in ("fanuc", "motoman")]
    return [f"heavy:at=0,factor={level:g}"] if disturbance == "mass" else []


def run_limit(job: LimitJob) -> LimitRow:
    """Runs the trial in a laboratory of its own; a controller outside is a process of its own, too."""
    start_s, path = process_time(), controllers()[job.controller]
    with TemporaryDirectory() as folder:
        cell = Path(folder) / "limits.yaml"
        cell.write_text(yaml.safe_dump(disturbed_cell(job.disturbance, job.level)), encoding="utf-8")
        trial = TrialCfg(
            trial="limits",
            cell=str(cell),
            seed=job.seed,
            time_limit_s=LIMIT_S,
            orders=[{"order": ORDER}],
            faults=disturbed_faults(job.disturbance, job.level),
            impossible="note",
        )
        try:
            report = run_trial(trial, "internal") if path is None else _outside(trial, path)
        except SimulationError as error:
            status, sim_s, reason = "error", float("nan"), str(error)
        else:
            status, sim_s, reason = report.status.value, report.time_s - report.start_s, report.reason
    return LimitRow(
        controller=job.controller,
        disturbance=job.disturbance,
        level=job.level,
        seed=job.seed,
        status=status,
        sim_s=sim_s,
        cpu_s=process_time() - start_s,
        reason=reason,
    )


def _outside(trial: TrialCfg, program: Path) -> Report:
    """Runs a trial with a program of the examples at its interfaces."""
    started: list[subprocess.Popen[bytes]] = []

    def start(addresses: dict[str, Any]) -> None:
        own = [addresses["control"]]
        if program.stem == "by_sockets":
            own = [addresses["crcl"]["fanuc"], addresses["vision"]["fanuc"]]
        quiet = subprocess.DEVNULL
        started.append(subprocess.Popen([sys.executable, str(program), *own], stdout=quiet, stderr=quiet))

    try:
        return run_trial(trial, EXTERNAL, pace=PACE, any_port=True, on_open=start)
    finally:
        for process in started:
            process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
