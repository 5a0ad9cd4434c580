"""Belief for a robot that takes things: parts, slots, heights, all in the world frame."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from cellwright.core.pose import Pose
from cellwright.execution.outline import is_over, tray_gap_m
from cellwright.execution.part_poses import PartPose, SlotPose
from cellwright.knowledge import Belief, TransformTree
from cellwright.knowledge.belief_facts import BeliefFacts, read_facts
from cellwright.knowledge.tray_layout import SlotPlace, design_slots, tray_layout
from cellwright.orders import KitDesign

__all__ = ["CellView"]

Array = npt.NDArray[np.float64]

NEAR_M = 0.25  # beyond what a robot reaches, nothing is in its way
BESIDE_M = 0.001  # a part that stands nearer to a tray than this may touch it: detectors err by a third of it
ON_FLOOR_M = 0.005  # a tray that is seen so near to the floor of a box stands on it
COVERS_M = 0.05  # trays on top of each other are nearer than this; those side by side are not
HIGHEST_M = 0.20  # above a tray; what is believed to be higher hangs in a hand


class CellView:
    """Belief at this moment; facts that change seldom are read again only when objects came or changed their places.

    Attributes:
        gone: Parts and trays that should have been seen at the last look and were not; they are nowhere.
    """

    def __init__(self, belief: Belief) -> None:
        self.belief = belief
        self.gone: set[str] = set()
        self._facts: BeliefFacts | None = None
        self._names: list[str] | None = None
        self._tree: TransformTree | None = None
        self._seen: dict[str, PartPose] = {}
        self._seated: dict[tuple[str, tuple[tuple[str, str], ...]], list[SlotPose]] = {}

    @property
    def facts(self) -> BeliefFacts:
        """The facts of the database, with current poses."""
        tree = self.belief.world_model.tree
        if self._facts is None or self._names is not tree.names:
            self._facts, self._names = read_facts(self.belief.world_model), tree.names
        self._facts.tree = tree
        return self._facts

    def refresh(self) -> None:
        """Discards cached facts, after something was written into the database."""
        self._facts = None

    def pose(self, name: str) -> Pose:
        """Returns the believed pose of an object."""
        tree = self.belief.world_model.tree
        return Pose.from_matrix(tree.in_world[tree.indices([name])[0]])

    def part(self, name: str) -> PartPose:
        """Returns a part, wherever it is."""
        self._follow()
        if name not in self._seen:
            tree = self.belief.world_model.tree
            sd_m = float(np.sqrt(self.belief.covariance(name).diagonal()[:3].max()))
            self._seen[name] = PartPose(name, self.facts.things[name].sku, tree.in_world[tree.index[name]], sd_m)
        return self._seen[name]

    def parts(self, sku: str | None = None) -> list[PartPose]:
        """Returns the parts that are somewhere and in no hand."""
        held = set(self.facts.held.values())
        return [
            self.part(thing.name)
            for thing in self.facts.of_kind("Part")
            if thing.name not in held
            and thing.name not in self.gone
            and thing.name in self.facts.tree.index
            and (sku is None or thing.sku == sku)
        ]

    def trays(self) -> list[str]:
        """Returns every tray that can be seen, those of kits included."""
        return [t.name for t in self.facts.of_kind("PartsTray", "KitTray") if t.name in self.facts.tree.index]

    def box_of(self, kit: str) -> str:
        """Returns the box for finished kits that a kit is seen to be in; empty when it is in none."""
        for box in self.facts.capacity:
            if box not in self.facts.sizes or box not in self.facts.tree.index:
                continue
            length_m, width_m, _ = self.facts.sizes[box]
            x, y, z = np.abs((self.pose(box).inverse() @ self.pose(kit)).position)
            if x <= length_m / 2 and y <= width_m / 2 and z <= ON_FLOOR_M:
                return box
        return ""

    def is_gone(self, name: str) -> bool:
        """Returns whether a thing, or the tray of a kit, should have been seen at the last look and was not."""
        return name in self.gone or self.detected_as(name) in self.gone

    def is_movable(self, tray: str) -> bool:
        """Returns whether robots carry a tray about: a kit tray of no kit, or of one that does not stay where it is."""
        thing = self.facts.things[tray]
        return thing.kind == "KitTray" and (thing.reference or "") not in self.facts.stationary

    def is_covered(self, tray: str) -> bool:
        """Returns whether another tray lies on it: no detector above sees it then."""
        here = self.pose(tray).position
        apart = [self.pose(other).position - here for other in self.trays() if other != tray]
        return any(z > 0.0 and np.hypot(x, y) < COVERS_M for x, y, z in apart)

    def size_m(self, name: str) -> tuple[float, float, float]:
        """Returns the extent of a table, or of the space in a box, from its origin up."""
        return self.facts.sizes[name]

    def carried(self) -> frozenset[str]:
        """Returns trays in hands, and the parts on them."""
        found: set[str] = set()
        for thing in self.facts.held.values():
            tray = self.detected_as(thing)
            if self.facts.things[tray].kind != "KitTray" or tray not in self.facts.tree.index:
                continue
            found.add(tray)
            length_m, width_m, height_m = tray_layout(self.facts.things[tray].sku).size_m
            from_world = self.pose(tray).inverse()
            for part in self.parts():
                x, y, z = np.abs(from_world.apply(part.position))
                if x <= length_m / 2 and y <= width_m / 2 and z <= height_m + HIGHEST_M / 2:
                    found.add(part.name)
        return frozenset(found)

    def detected_as(self, place: str) -> str:
        """Returns the object that a detector sees of a place: the tray of a kit, else the thing itself."""
        return self.facts.tray_of.get(place, place)

    def seats_of_tray(self, tray: str) -> list[SlotPose]:
        """Returns the slots of a parts tray."""
        return self._seats(tray, tray_layout(self.facts.things[tray].sku).slots)

    def seats_of_kit(self, kit: str, design: KitDesign) -> list[SlotPose]:
        """Returns the slots of a kit of that design."""
        return self._seats(kit, design_slots(design))

    def seats_on_kit_tray(self, kit: str) -> list[SlotPose]:
        """Returns the slots of the tray of a kit, whatever that shall become."""
        tray = self.facts.tray_of.get(kit)
        if not tray or kit not in self.facts.tree.index:
            return []
        return self._seats(kit, tray_layout(self.facts.things[tray].sku).slots)

    def in_seat(self, seat: SlotPose, parts: Iterable[PartPose] | None = None) -> PartPose | None:
        """Returns the part in a slot: the nearest."""
        inside = [part for part in (self.parts() if parts is None else parts) if seat.holds(part)]
        return min(inside, key=lambda part: part.across_m(seat.position), default=None)

    def is_loose(self, part: PartPose) -> bool:
        """Returns whether a part lies in no slot of a parts tray and of no kit."""
        for tray in self.facts.of_kind("PartsTray"):
            if tray.name in self.facts.tree.index and any(seat.holds(part) for seat in self.seats_of_tray(tray.name)):
                return False
        kits = [kit.name for kit in self.facts.of_kind("Kit")]
        return not any(seat.holds(part) for kit in kits for seat in self.seats_on_kit_tray(kit))

    def extras(self, kit: str, parts: Iterable[PartPose]) -> list[PartPose]:
        """Returns parts that lie on the tray of a kit, or lean on it, and in none of its slots."""
        tray = self.facts.tray_of.get(kit, "")
        if not tray or kit not in self.facts.tree.index:
            return []
        size_m = length_m, width_m, height_m = tray_layout(self.facts.things[tray].sku).size_m
        from_world = self.pose(kit).inverse()
        found = []
        for part in parts:
            x, y, z = from_world.apply(part.position)
            beside_m = np.hypot(max(abs(x) - length_m / 2, 0.0), max(abs(y) - width_m / 2, 0.0))
            if beside_m >= part.reach_m + BESIDE_M or z >= height_m + HIGHEST_M / 2 or not self.is_loose(part):
                continue
            pose = from_world @ part.pose_in_world
            if is_over(part.sku, pose, size_m) or tray_gap_m(part.sku, pose, size_m) < BESIDE_M:
                found.append(part)
        return found

    def reaches(self, robot: str, point: Array) -> bool:
        """Returns whether a point lies between the places that the robot is known to reach; an estimate."""
        boxes = self.facts.boxes.get(robot)
        if boxes is None:
            return False
        low, high = boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)
        return bool(((low <= point) & (point <= high)).all())

    def top_m(self, robot: str) -> float:
        """Returns the height of the highest thing that stands where the robot works."""
        boxes = self.facts.boxes.get(robot)
        if boxes is None:
            return 0.0
        low, high = boxes[:, 0].min(axis=0)[:2] - NEAR_M, boxes[:, 1].max(axis=0)[:2] + NEAR_M
        tops, carried = [], self.carried() if self.facts.held else frozenset()
        for tray in self.trays():
            if tray in carried:
                continue
            point = self.facts.tree.in_world[self.facts.tree.index[tray]][:3, 3]
            if ((low <= point[:2]) & (point[:2] <= high)).all():
                tops.append(float(point[2]) + tray_layout(self.facts.things[tray].sku).size_m[2])
        tray_top_m = max(tops, default=0.0)
        for part in self.parts():
            point = part.position
            if part.name in carried:
                continue
            if ((low <= point[:2]) & (point[:2] <= high)).all() and part.top_m <= tray_top_m + HIGHEST_M:
                tops.append(part.top_m)
        return max(tops, default=0.0)

    def base(self, robot: str) -> Pose:
        """Returns the nominal pose of a robot's base."""
        return self.pose(robot)

    def tool(self, robot: str) -> str:
        """Returns the tool on a robot's flange; empty without one."""
        return self.facts.tool_of.get(robot, "")

    def _seats(self, owner: str, slots: Iterable[SlotPlace]) -> list[SlotPose]:
        self._follow()
        wanted = tuple(slots)
        key = owner, tuple((slot.name, slot.sku) for slot in wanted)
        if key not in self._seated:
            pose = self.pose(owner)
            self._seated[key] = [SlotPose(slot.name, slot.sku, pose @ slot.pose_part_in_tray) for slot in wanted]
        return self._seated[key]

    def _follow(self) -> None:
        """Forgets what was computed from poses that have changed."""
        tree = self.belief.world_model.tree
        if self._tree is not tree:
            self._tree, self._seen, self._seated = tree, {}, {}
