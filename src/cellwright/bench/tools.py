"""`cellwright bench tools`: grasps, trays and tool changes by random trials, and breaking loads of suction cups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cellwright.bench.processes import run_trials
from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.bench.tools_rig import break_load_kg
from cellwright.catalogue.vacuum import VACUUM_TOOLS
from cellwright.core.gravity import GRAVITY_MPS2
from cellwright.core.statistics import wilson_low

__all__ = ["tools"]

TRIALS, QUICK_TRIALS = 100, 2
ACCELERATIONS_MPS2 = (0.1, 0.5, 1.0, 2.0, 5.0)
KINDS = {
    "robotiq": ("tools_grasps", "robotiq_trials"),
    "vacuum": ("tools_grasps", "vacuum_trials"),
    "traytool": ("tools_trays", "tray_trials"),
}
KINDS_OF_CHANGE = {"toolchange": ("tools_changes", "change_trials")}


@BENCHES.register("tools")
def tools(conditions: MeasurementConditions) -> Measurement:
    """Measures rates of success, and the largest error of a cup's breaking load against its rating."""
    count = QUICK_TRIALS if conditions.quick else TRIALS
    metrics: dict[str, float] = {}
    for name, (module, function) in (KINDS | KINDS_OF_CHANGE).items():
        problems = run_trials(name, module, function, conditions, count)
        done = problems.count("")
        metrics |= {f"{name}.success": done / count, f"{name}.success_low": wilson_low(done, count), f"{name}.n": count}
    errors = _break_errors(ACCELERATIONS_MPS2[:1] if conditions.quick else ACCELERATIONS_MPS2)
    metrics |= {"vacuum.break_error": max(errors.values()), **errors}
    targets: Mapping[str, Mapping[str, float]] = {
        "robotiq.success": {"min": 0.99},
        "vacuum.success": {"min": 0.99},
        "traytool.success": {"min": 0.99},
        "toolchange.success": {"min": 1.0},
        "vacuum.break_error": {"max": 0.2},
    }
    return Measurement(metrics, targets)


def _break_errors(accelerations_mps2: Sequence[float]) -> dict[str, float]:
    """Returns cup -> the largest error of its breaking load, against rating x gravity / (gravity + acceleration)."""
    found = {}
    for name, figures in VACUUM_TOOLS.items():
        shares = [
            break_load_kg(figures, a) * (GRAVITY_MPS2 + a) / (GRAVITY_MPS2 * figures.load_kg)
            for a in accelerations_mps2
        ]
        found[f"vacuum.break_error_{name}"] = max(abs(share - 1) for share in shares)
    return found
