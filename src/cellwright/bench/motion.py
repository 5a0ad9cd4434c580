"""`cellwright bench motion`: speed of path planning, of inverse kinematics, and of controllers."""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.bench.result import BENCHES, Measurement, MeasurementConditions
from cellwright.core.extras import need_extra

__all__ = ["motion"]

TARGETS: Mapping[str, Mapping[str, float]] = {
    "plan.success": {"min": 1},
    "plan.median_ms": {"max": 5},
    "plan.p95_ms": {"max": 40},
    "plan.to_ompl": {"min": 2},
    "ik.ur5_us": {"max": 20},
    "ik.lrmate_us": {"max": 20},
    "control.pid_rtf": {"min": 30},
    "control.computed_torque_rtf": {"min": 20},
    "control.cartesian_rtf": {"min": 10},
}


@BENCHES.register("motion")
def motion(conditions: MeasurementConditions) -> Measurement:
    """Measures a UR5 among boxes, the inverse kinematics of three arms, two arms under three controllers.

    Raises:
        MissingExtra: without the packages that compile, and the planner that ours is compared with.
    """
    need_extra("the bench 'motion'", "motion", "numba", "ompl")
    # Here and not above: other commands need not wait for them.
    from cellwright.bench import motion_control, motion_kinematics, motion_planning

    seed, say, quick = conditions.seed, conditions.say, conditions.quick
    plan = motion_planning.measure(*((20, 4) if quick else (400, 20)), seed=seed, say=say)
    inverse = motion_kinematics.measure(*((3,) if quick else (25,)), seed=seed, say=say)
    control = motion_control.measure(*((2, 1) if quick else (12, 5)), seed=seed, say=say)
    return Measurement({**plan, **inverse, **control}, TARGETS)
