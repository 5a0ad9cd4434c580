"""Expected objects and settings of a tracker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cellwright.catalogue.seating import TRACKED_IN_SLOT
from cellwright.core.pose import Pose

__all__ = ["ExpectedObject", "TrackerCfg"]


class ExpectedObject(NamedTuple):
    """An object that is known before it is seen: its identity, once something is seen there.

    Attributes:
        name: The identity.
        sku: What it is.
        pose_in_world: Its nominal pose.
        sd_m: How far it may be from there.
        sd_rad: The same for its turn.
        sd_tilt_rad: The same for its lean.
        holder: The name under which the slots of a tray are known; its own by default, empty when they are unknown.
    """

    name: str
    sku: str
    pose_in_world: Pose
    sd_m: float = 0.01
    sd_rad: float = 0.1
    holder: str | None = None
    sd_tilt_rad: float = 0.1


@dataclass(frozen=True)
class TrackerCfg:
    """Settings of a tracker.

    Attributes:
        gate: Square of the Mahalanobis distance within which a detection is of an object that has not moved; 16.3 takes
            one in a thousand for a motion, which does no harm.
        bias_sd_m: How far two detectors may be off each other: cameras are mounted by hand.
        bias_sd_rad: The same for turns.
        drift_sd_m: By how much a thing's place becomes uncertain in one second, growing with the root of time.
        drift_sd_rad: The same for its turn.
        max_sd_m: Nothing becomes more uncertain than this.
        max_lean_rad: The same for leans.
        surface_sd_m: How far the height of what stands on a drawn surface may be off.
        max_speed_mps: The fastest that anything goes, in a gripper or pushed.
        min_score: Detections below are left out.
        confirm: How often something unexpected, or a lean, must be seen to count, and how often in a row a thing must
            be missed before another may be taken for it.
        forget_s: After how long something that has no name yet is forgotten, when it is in no detector's view.
        lasting: By how many frames more a thing must be seen turned, or as another kind, than as it is known, to be
            taken for that; recognition errs so in single frames.
        drop: After how many misses in a row a thing is no longer reported,
        absent: if that is as improbable as this while it is there, by how often the detector misses things.
        separation_m: Two things of a kind are not closer than this: the second detection is of the same one.
        aside_m: What one detector sees no farther than this aside from where another one does is the same object.
        unregistered_m: The same where just one of the two is registered by a calibration.
        stacked_m: A tray that is so much higher than another hides it,
        beside_m: unless it is farther beside it than this.
        in_slot_m: How far beside the middle of a slot a part may lie in it.
        above_slot_m: How far above its seat.
    """

    gate: float = 16.3
    bias_sd_m: float = 0.0007
    bias_sd_rad: float = 0.005
    drift_sd_m: float = 0.0002
    drift_sd_rad: float = 0.005
    max_sd_m: float = 0.01
    max_lean_rad: float = 0.2
    surface_sd_m: float = 0.0005
    max_speed_mps: float = 2.0
    min_score: float = 0.3
    confirm: int = 3
    forget_s: float = 1.0
    lasting: int = 8
    drop: int = 5
    absent: float = 1e-6
    separation_m: float = 0.01
    aside_m: float = 0.02
    unregistered_m: float = 0.035
    stacked_m: float = 0.008
    beside_m: float = 0.05
    in_slot_m: float = TRACKED_IN_SLOT.beside_m
    above_slot_m: float = TRACKED_IN_SLOT.above_m
