"""Ground that everything stands on: poses, time, randomness, configuration, names, errors, messages, the bus.

The names are imported when they are used: the errors alone need neither NumPy nor pydantic, and a command's help
needs nothing but them.
"""

from typing import TYPE_CHECKING

from cellwright._lazy import lazy_names

if TYPE_CHECKING:
    from cellwright.core.bus import Bus, Role, Subscription
    from cellwright.core.clock import Clock
    from cellwright.core.config import Cfg, Normal, Number, Uniform, draw, read_yaml
    from cellwright.core.loop import SimulationLoop, WaitClock
    from cellwright.core.offset_map import OffsetMap
    from cellwright.core.pose import FramedPose, Pose
    from cellwright.core.pose_offsets import PoseOffsets
    from cellwright.core.registry import Registry
    from cellwright.core.ring import KinematicRing
    from cellwright.core.rng import RandomStreams

__all__ = [
    "Bus",
    "Cfg",
    "Clock",
    "FramedPose",
    "KinematicRing",
    "Normal",
    "Number",
    "OffsetMap",
    "Pose",
    "PoseOffsets",
    "RandomStreams",
    "Registry",
    "Role",
    "SimulationLoop",
    "Subscription",
    "Uniform",
    "WaitClock",
    "draw",
    "read_yaml",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".bus": "Bus Role Subscription",
        ".clock": "Clock",
        ".config": "Cfg Normal Number Uniform draw read_yaml",
        ".loop": "SimulationLoop WaitClock",
        ".offset_map": "OffsetMap",
        ".pose": "FramedPose Pose",
        ".pose_offsets": "PoseOffsets",
        ".registry": "Registry",
        ".ring": "KinematicRing",
        ".rng": "RandomStreams",
    },
)
