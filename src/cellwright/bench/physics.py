"""`cellwright bench physics`: speed of the laboratory, friction against theory, success, repeatability, size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from cellwright.bench.creep import swing_creep_m
from cellwright.bench.first_job import identical_runs, successes
from cellwright.bench.holding import DROP_M, SLIP_M, HeldGear, creep_um_per_s, limit_force_n
from cellwright.bench.install_size import install_size_mb
from cellwright.bench.lab_speed import SpeedPairs, measure_awake, measure_idle, measure_pairs
from cellwright.bench.peer import has_peer, measure_peer
from cellwright.bench.physics_mobiles import MOBILE_TARGETS, mobile_figures
from cellwright.bench.replay import SEGMENT_S, capture
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.bench.sight_cost import sight_cost
from cellwright.cells import load_cell
from cellwright.core.statistics import wilson_low

__all__ = ["physics"]

CELL = "aprs"


@dataclass(frozen=True)
class _Effort:
    """The number of repetitions of each measurement."""

    pairs: int = 31
    awake_segments: int = 5
    peer_segments: int = 9
    peer_awake_segments: int = 3
    jobs: int = 30
    runs: int = 10
    hold_s: float = 5.0


QUICK = _Effort(pairs=3, awake_segments=1, peer_segments=1, peer_awake_segments=1, jobs=2, runs=2, hold_s=1.0)


@BENCHES.register("physics")
def physics(conditions: MeasurementConditions) -> Measurement:
    """Measures speed against raw physics and a peer, friction, rolling, the first job, repeatability, size."""
    effort = QUICK if conditions.quick else _Effort()
    metrics = {
        **_speed(conditions, effort),
        **_rovi(conditions, effort),
        **mobile_figures(conditions),
        **_friction(conditions, effort),
        **_jobs(conditions, effort),
        "env.mb": install_size_mb(),
    }
    targets: Mapping[str, Mapping[str, float]] = {
        "aprs.lab_to_raw": {"min": 0.7},
        "aprs.lab_to_raw_recording": {"min": 0.55},
        "aprs.real_time_factor": {"min": 20},
        "creep_mm": {"max": 0.1},
        "sight.cost": {"max": 0.1},
        "coulomb.error": {"max": 0.02},
        **MOBILE_TARGETS,
        "env.mb": {"max": 600},
        "determinism.identical_runs": {"min": effort.runs},
    }
    return Measurement(metrics, targets)


def _speed(conditions: MeasurementConditions, effort: _Effort) -> dict[str, float]:
    cell, seed, say = load_cell(CELL), conditions.seed, conditions.say
    if not has_peer():
        say("PyBullet is not installed (pip install 'cellwright[bench]'): the comparison with it is left out")
    say(f"capturing {effort.pairs} s of patrol")
    segments = capture(cell, seed, effort.pairs)
    say("the laboratory beside raw physics")
    plain = measure_pairs(cell, seed, segments)
    say(_range(plain))
    say("the same, recording")
    with TemporaryDirectory() as folder:
        recording = measure_pairs(cell, seed, segments, Path(folder) / "bench.mcap")
    say(_range(recording))
    say("the same with everything awake")
    awake_s = measure_awake(cell, seed, effort.awake_segments)
    metrics = {
        "aprs.raw_steps_per_s": plain.raw_steps_per_s,
        "aprs.lab_to_raw": plain.ratio,
        "aprs.lab_to_raw_recording": recording.ratio,
        "aprs.python_ms_per_sim_s": plain.python_ms_per_sim_s,
        "aprs.real_time_factor": plain.real_time_factor,
        "aprs.awake_real_time_factor": SEGMENT_S / float(np.median(awake_s)),
        "sight.cost": _sight(conditions, effort),
    }
    if not has_peer():
        return metrics
    say("raw physics beside PyBullet")
    metrics["aprs.to_pybullet"] = measure_peer(CELL, seed, effort.peer_segments, sleep=True)
    metrics["aprs.to_pybullet_awake"] = measure_peer(CELL, seed, effort.peer_awake_segments, sleep=False)
    return metrics


def _sight(conditions: MeasurementConditions, effort: _Effort) -> float:
    conditions.say("the laboratory with and without line of sight")
    return sight_cost(load_cell(CELL), conditions.seed, effort.pairs)


def _rovi(conditions: MeasurementConditions, effort: _Effort) -> dict[str, float]:
    """Measures the second cell: its one arm on patrol, and at rest."""
    cell, seed = load_cell("rovi"), conditions.seed
    conditions.say("the same with the cell rovi")
    count = max(1, effort.pairs // 3)
    moving = measure_pairs(cell, seed, capture(cell, seed, count))
    return {
        "rovi.raw_steps_per_s": moving.raw_steps_per_s,
        "rovi.lab_to_raw": moving.ratio,
        "rovi.python_ms_per_sim_s": moving.python_ms_per_sim_s,
        "rovi.real_time_factor": moving.real_time_factor,
        "rovi.idle_real_time_factor": SEGMENT_S / float(np.median(measure_idle(cell, seed, count))),
        "rovi.awake_real_time_factor": SEGMENT_S / float(np.median(measure_awake(cell, seed, effort.awake_segments))),
    }


def _range(pairs: SpeedPairs) -> str:
    low, high = np.percentile(pairs.raw_s / pairs.lab_s, [10, 90])
    return f"  ratio {pairs.ratio:.2f}, of single pairs {low:.2f} to {high:.2f}"


def _friction(conditions: MeasurementConditions, effort: _Effort) -> dict[str, float]:
    conditions.say("friction against its theory")
    held = HeldGear()
    errors = {
        distance_m: abs(limit_force_n(held, distance_m) / held.theory_force_n - 1) for distance_m in (SLIP_M, DROP_M)
    }
    conditions.say("creep in the hand in swings at full speed")
    hands = {"fanuc": "medium_gear_1", "motoman": "medium_gear_5"}
    swung_m = [swing_creep_m(load_cell(CELL), robot, gear) for robot, gear in hands.items()]
    return {
        "creep_mm": 1000 * max(swung_m),
        "coulomb.error": errors[SLIP_M],
        "coulomb.drop_error": errors[DROP_M],
        "hold.creep_um_per_s": creep_um_per_s(held, effort.hold_s),
    }


def _jobs(conditions: MeasurementConditions, effort: _Effort) -> dict[str, float]:
    conditions.say(f"the first job with {effort.jobs} seeds")
    done = successes(range(conditions.seed, conditions.seed + effort.jobs), conditions.say)
    conditions.say(f"the first job {effort.runs} times with one seed")
    return {
        "grasp.success": done / effort.jobs,
        "grasp.success_low": wilson_low(done, effort.jobs),
        "grasp.n": effort.jobs,
        "determinism.identical_runs": identical_runs(conditions.seed, effort.runs),
    }
