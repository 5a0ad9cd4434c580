"""Execution: carries out plans over CRCL from sensed data alone; the simulator's truth is not used.

Its parts are imported when they are used: settings alone need no motion planner.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.execution.arm import Arm, ArmClient, HandReading
    from cellwright.execution.async_clock import AsyncClock, JobStep
    from cellwright.execution.executor import Executor
    from cellwright.execution.grasp_paths import GraspPath
    from cellwright.execution.outcome import (
        ActionRecord,
        Evaluated,
        KitReport,
        OrderReport,
        OrderStatus,
        SlotReport,
        Unobtainable,
    )
    from cellwright.execution.pick_motions import PickPlacePlan, PickPlaceSettings, StandingPart
    from cellwright.execution.pick_place import Hold, PathArm, PickPlace, PickPlacePhase, PlannedWay, StraightWay, Way
    from cellwright.execution.pick_plan import PickPlacePlanner
    from cellwright.execution.planned_pick_place import PlannedPickPlace
    from cellwright.execution.robot_hand import RobotHand
    from cellwright.execution.settings import ExecutionSettings, Latencies, Recipe, RecoveryMode

__all__ = [
    "ActionRecord",
    "Arm",
    "ArmClient",
    "AsyncClock",
    "Evaluated",
    "ExecutionSettings",
    "Executor",
    "GraspPath",
    "HandReading",
    "Hold",
    "JobStep",
    "KitReport",
    "Latencies",
    "OrderReport",
    "OrderStatus",
    "PathArm",
    "PickPlace",
    "PickPlacePhase",
    "PickPlacePlan",
    "PickPlacePlanner",
    "PickPlaceSettings",
    "PlannedPickPlace",
    "PlannedWay",
    "Recipe",
    "RecoveryMode",
    "RobotHand",
    "SlotReport",
    "StandingPart",
    "StraightWay",
    "Unobtainable",
    "Way",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".executor": "Executor",
        ".outcome": "ActionRecord Evaluated KitReport OrderReport OrderStatus SlotReport Unobtainable",
        ".arm": "Arm ArmClient HandReading",
        ".pick_place": "Hold PathArm PickPlace PickPlacePhase PlannedWay StraightWay Way",
        ".pick_motions": "PickPlacePlan PickPlaceSettings StandingPart",
        ".pick_plan": "PickPlacePlanner",
        ".planned_pick_place": "PlannedPickPlace",
        ".robot_hand": "RobotHand",
        ".settings": "ExecutionSettings Latencies Recipe RecoveryMode",
        ".grasp_paths": "GraspPath",
        ".async_clock": "AsyncClock JobStep",
    },
)
