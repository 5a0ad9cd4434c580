"""The simulation: a cell as a world that moves, and the schedule of everything with a fixed rate."""

from cellwright.sim.backlash import Backlash, take_up
from cellwright.sim.contacts import BodyContact, body_contacts
from cellwright.sim.index import GripperIndex, MobileIndex, ObjectIndex, RobotIndex
from cellwright.sim.snapshot import Snapshot
from cellwright.sim.stepper import ScheduledCall, Stepper, TickOrder
from cellwright.sim.suction import Suction
from cellwright.sim.tool_mounts import CouplingOffset, ToolMounts
from cellwright.sim.truth import TruthPublisher
from cellwright.sim.world import World

__all__ = [
    "Backlash",
    "BodyContact",
    "CouplingOffset",
    "GripperIndex",
    "MobileIndex",
    "ObjectIndex",
    "RobotIndex",
    "ScheduledCall",
    "Snapshot",
    "Stepper",
    "Suction",
    "TickOrder",
    "ToolMounts",
    "TruthPublisher",
    "World",
    "body_contacts",
    "take_up",
]
