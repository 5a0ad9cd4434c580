"""Ground that everything stands on: poses, time, randomness, configuration, names, errors, messages, the bus."""

from cellwright.core.bus import Bus, Role, Subscription
from cellwright.core.clock import Clock
from cellwright.core.config import Cfg, Normal, Number, Uniform, draw, read_yaml
from cellwright.core.loop import SimulationLoop, WaitClock
from cellwright.core.offset_map import OffsetMap
from cellwright.core.pose import FramedPose, Pose
from cellwright.core.registry import Registry
from cellwright.core.ring import KinematicRing
from cellwright.core.rng import Streams

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
    "Registry",
    "Role",
    "SimulationLoop",
    "Streams",
    "Subscription",
    "Uniform",
    "WaitClock",
    "draw",
    "read_yaml",
]
