"""The steps of a plan, in the vocabulary of NIST's planning files of 2016, and what each of them needs.

Three steps are ours, because those files never plan from a state in which something went wrong: `return-part` and
`return-kitTray` put back what is held, `remove-part` takes a wrong part out of a kit. Unlike there, every flag belongs
to one robot and is used up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["MOVES", "NEEDS", "Action", "Durations", "Verb"]


class Verb(StrEnum):
    """The kinds of steps."""

    ATTACH = "attach-endEffector"
    DETACH = "detach-endEffector"
    TAKE_TRAY = "take-kitTray"
    PLACE_TRAY = "place-kitTray"
    RETURN_TRAY = "return-kitTray"
    CREATE_KIT = "create-kit"
    LOOK_PART = "look-for-part"
    SET_GRASP = "set-grasp"
    TAKE_PART = "take-part"
    RETURN_PART = "return-part"
    REMOVE_PART = "remove-part"
    LOOK_SLOT = "look-for-slot"
    PLACE_PART = "place-part"
    TAKE_KIT = "take-kit"
    PLACE_KIT = "place-kit"


NEEDS: Mapping[Verb, tuple[str, ...]] = MappingProxyType(
    {
        Verb.ATTACH: ("the robot has no tool", "the holder has the tool"),
        Verb.DETACH: ("the robot has the tool", "the hand is empty", "the holder is empty"),
        Verb.TAKE_TRAY: ("the tool handles the tray", "the hand is empty", "a tray is there", "the table is free"),
        Verb.PLACE_TRAY: ("the robot holds the tray", "the table is free or kept for this kit"),
        Verb.RETURN_TRAY: ("the robot holds the tray", "the stack is of that SKU"),
        Verb.CREATE_KIT: ("the kit's tray is on the table",),
        Verb.LOOK_PART: ("the tool handles the part", "the hand is empty", "a part is there", "the kit exists"),
        Verb.SET_GRASP: ("the robot has found the part",),
        Verb.TAKE_PART: ("the part is found", "the grasp is set", "a part is there", "the kit exists"),
        Verb.RETURN_PART: ("the robot holds the part", "the parts tray is of that SKU and has room"),
        Verb.REMOVE_PART: ("the tool handles the part", "the hand is empty", "the kit holds it in a wrong slot"),
        Verb.LOOK_SLOT: ("the robot holds the part", "the kit exists", "a slot for the part is open"),
        Verb.PLACE_PART: ("the robot holds the part", "the slot is found", "a slot for the part is open"),
        Verb.TAKE_KIT: ("the tool handles the tray", "the hand is empty", "the kit is full"),
        Verb.PLACE_KIT: ("the robot holds the kit", "the outlet has room"),
    }
)
"""Verb -> what must be true when it starts, besides a robot in service that reaches the place."""

MOVES: frozenset[Verb] = frozenset(Verb) - {Verb.CREATE_KIT, Verb.LOOK_PART, Verb.SET_GRASP, Verb.LOOK_SLOT}
"""Verbs for which the robot goes into the place's zone; it has left it again when the step ends."""


class Action(NamedTuple):
    """One step.

    Attributes:
        verb: The kind of step.
        robot: The robot that does it.
        tool: The tool on the robot, or that is attached or detached.
        sku: The part's or the kit tray's SKU.
        place: The holder, stack, table, parts tray or outlet.
        kit: The kit that it is for.
        table: For `take-kitTray` the table that is kept for the kit.
        start_s: Its start, from the beginning of the plan.
        duration_s: Its duration.
    """

    verb: Verb
    robot: str
    tool: str = ""
    sku: str = ""
    place: str = ""
    kit: str = ""
    table: str = ""
    start_s: float = 0.0
    duration_s: float = 0.0

    @property
    def end_s(self) -> float:
        """The end, from the beginning of the plan."""
        return self.start_s + self.duration_s

    def __str__(self) -> str:
        """Returns the step as the papers' plan files have it."""
        named = (self.robot, self.tool, self.sku, self.place, self.kit, self.table)
        return f"({self.verb} {' '.join(word for word in named if word)})"


@dataclass(frozen=True)
class Durations:
    """The duration of each step, in seconds; the defaults are estimated for an arm of the APRS lab's size."""

    attach_s: float = 8.0
    detach_s: float = 8.0
    take_tray_s: float = 6.0
    place_tray_s: float = 6.0
    create_kit_s: float = 0.0
    look_part_s: float = 1.0
    set_grasp_s: float = 0.5
    take_part_s: float = 4.0
    return_part_s: float = 4.0
    remove_part_s: float = 4.0
    look_slot_s: float = 1.0
    place_part_s: float = 4.5
    take_kit_s: float = 6.0
    place_kit_s: float = 6.0

    @property
    def part_s(self) -> float:
        """The duration of bringing one part from its tray into a kit."""
        return self.fetch_part_s + self.held_part_s

    @property
    def fetch_part_s(self) -> float:
        """The duration of taking a part from its tray into the hand."""
        return self.look_part_s + self.set_grasp_s + self.take_part_s

    @property
    def held_part_s(self) -> float:
        """The duration of putting a part that is already held into a kit."""
        return self.look_slot_s + self.place_part_s

    @property
    def lay_s(self) -> float:
        """The duration of laying a kit tray from its stack onto a table."""
        return self.take_tray_s + self.place_tray_s + self.create_kit_s

    @property
    def clear_s(self) -> float:
        """The duration of clearing a finished kit from its table to an outlet."""
        return self.take_kit_s + self.place_kit_s

    @property
    def change_s(self) -> float:
        """The duration of changing one tool for another."""
        return self.attach_s + self.detach_s

    def of(self, verb: Verb) -> float:
        """Returns the duration of one step."""
        return float(getattr(self, _FIELDS[verb]))


_FIELDS: Mapping[Verb, str] = {
    verb: f"{verb.name.lower()}_s" if verb is not Verb.RETURN_TRAY else "place_tray_s" for verb in Verb
}
