"""The simulation: a cell as a world that moves, and the schedule of everything with a fixed rate."""

from cellwright.sim.backlash import Play, take_up
from cellwright.sim.contacts import Touch, touches
from cellwright.sim.grasp_lock import GraspLock
from cellwright.sim.index import ObjectIndex, RobotIndex, ToolIndex
from cellwright.sim.snapshot import Snapshot
from cellwright.sim.stepper import Order, Stepper, Ticking
from cellwright.sim.truth import TruthPublisher
from cellwright.sim.world import World

__all__ = [
    "GraspLock",
    "ObjectIndex",
    "Order",
    "Play",
    "RobotIndex",
    "Snapshot",
    "Stepper",
    "Ticking",
    "ToolIndex",
    "Touch",
    "TruthPublisher",
    "World",
    "take_up",
    "touches",
]
