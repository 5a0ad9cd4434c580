"""Settings of an executor: the lab's recipe, recovery from failures, and the time that computing takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from cellwright.catalogue.seating import SEEN_SEATED, SlotTolerance
from cellwright.core.errors import UnknownName
from cellwright.core.pose import Pose

__all__ = ["ExecutionSettings", "Latencies", "Recipe", "RecoveryMode"]


class RecoveryMode(StrEnum):
    """The reaction to a predicate that should be true and is not."""

    NONE = "none"
    """The run ends, as in the kitting paper."""
    RETRY = "retry"
    """A fresh look, and the same action again with another grasp."""
    FULL = "full"
    """The same; then a new plan from what is believed, without what failed; the rest is finished."""

    @classmethod
    def named(cls, name: str) -> Self:
        """Returns a mode by name; raises UnknownName."""
        if name not in list(cls):
            raise UnknownName("recovery", name, [mode.value for mode in cls])
        return cls(name)


@dataclass(frozen=True)
class Recipe:
    """The constants of the lab's own executor; what is not from there is estimated.

    Attributes:
        approach_m: How far above a part or a slot slow motion begins.
        fast_mps: Speed of travel.
        carry_mps: Speed of travel with a tray that hangs from cups, and perhaps parts in it.
        slow_mps: Speed of the last way down, and of the first way up with a part.
        careful_mps: The same after something slipped.
        acceleration_mps2: Of the tool.
        settle_s: Before and after the fingers move.
        release_m: How high above its seat a part is let go; the lab's 5 mm lets light gears jump.
        clearance_m: Between whatever travels and the highest thing on the tables.
        contact_n: A change of the force at the wrist that stops a hand on its last way down; the inertia of a tool
            with what it holds is 1.5 N at most.
        grip_tolerance_m: By how much the width of a held part may differ from the drawing: rubber pads give way.
        inserts_by_force: Whether plugs go into straight slots by the forces at the wrist, where a sensor tells them;
            otherwise they are let go inside the slot.
        upright_rad: Parts that lean more are taken only when there is nothing better.
        max_tilt_rad: Parts that lean more are not grasped; a gear that lies on its cone leans by 35 to 38 degrees.
    """

    approach_m: float = 0.05
    fast_mps: float = 0.5
    carry_mps: float = 0.25
    slow_mps: float = 0.12
    careful_mps: float = 0.05
    acceleration_mps2: float = 1.5
    settle_s: float = 0.05
    release_m: float = 0.002
    clearance_m: float = 0.015
    contact_n: float = 6.0
    grip_tolerance_m: float = 0.0025
    inserts_by_force: bool = True
    upright_rad: float = math.radians(20.0)
    max_tilt_rad: float = math.radians(42.0)


@dataclass(frozen=True)
class Latencies:
    """The time that computing takes in the cell; estimated."""

    planning_s: float = 0.2
    predicates_s: float = 0.01
    database_s: float = 0.01


@dataclass(frozen=True)
class ExecutionSettings:
    """All settings of an executor.

    Attributes:
        recovery: What to do when something goes wrong.
        recipe: How to move.
        latencies: The time that computing takes.
        planner: A name of `planning.TASK_PLANNERS`; by default as many robots need.
        retries: How often an action is repeated.
        replans: How often a new plan is made.
        look_limit_s: How long to wait for them.
        in_slot_m: How far from the middle of its slot a part may be seen and count as seated: the 1 mm of the judge
            and what detectors are off.
        seated_m: The same for its height.
        time_limit_s: After so long nothing new is begun.
        tool_models: What robots call a tool -> its name in the catalogue, where they differ.
        force_sensors: Robot -> its name of the sensor at its wrist.
        tool_offsets: Robot -> the pose of its tool's point as it was measured, in the frame of the one it reports.
        flat_detectors: Detectors that measure neither heights nor leans, by the drawings.
        verify_s: How long a part that does not look seated is looked at before that is believed.
    """

    recovery: RecoveryMode = RecoveryMode.FULL
    recipe: Recipe = field(default_factory=Recipe)
    latencies: Latencies = field(default_factory=Latencies)
    planner: str | None = None
    retries: int = 2
    replans: int = 12
    look_limit_s: float = 30.0
    in_slot_m: float = SEEN_SEATED.beside_m
    seated_m: float = SEEN_SEATED.above_m
    verify_s: float = 1.5
    time_limit_s: float = 900.0
    tool_models: Mapping[str, str] = field(default_factory=dict)
    force_sensors: Mapping[str, str] = field(default_factory=dict)
    tool_offsets: Mapping[str, Pose] = field(default_factory=dict)
    flat_detectors: frozenset[str] = frozenset()

    @property
    def seated(self) -> SlotTolerance:
        """The limits within which a part is seen to be seated."""
        return SlotTolerance(self.in_slot_m, self.seated_m, SEEN_SEATED.tilt_rad)
