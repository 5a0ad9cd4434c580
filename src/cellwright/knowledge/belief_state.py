"""The belief state: parts, slots, trays, hands, robots and places as they are believed to be at this moment.

It is the one thing that is read by planning, predicates, the executor, PDDL and the tracker's set-up. Poses are those
of the world model; everything else is read from the database once and then follows what belief writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from math import isnan
from typing import Protocol

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import UnknownName
from cellwright.core.kalman import predicted_variances
from cellwright.core.pose import Pose
from cellwright.knowledge.believed_objects import (
    BelievedObject,
    BelievedPart,
    BelievedSlot,
    Evidence,
    PoseEstimate,
    ToolState,
    Unknown,
)
from cellwright.knowledge.cell_relations import CellRelations
from cellwright.knowledge.database import Database
from cellwright.knowledge.held_pose import held_pose
from cellwright.knowledge.location_records import DRAWINGS
from cellwright.knowledge.path_resolver import PathResolver
from cellwright.knowledge.planning_ontology import PlanningOntology
from cellwright.knowledge.reach import reached_places
from cellwright.knowledge.relations_reader import read_relations
from cellwright.knowledge.slot_views import FrameView, SlotContent, SlotView, SlotViews
from cellwright.knowledge.transform_tree import TransformTree
from cellwright.knowledge.tray_layout import SlotPlace, design_slots, tray_layout
from cellwright.knowledge.world_model import WorldModel
from cellwright.orders import KitDesign

__all__ = ["BeliefState", "DetectorReport", "belief_state_of"]

Array = npt.NDArray[np.float64]

PRIOR: Array = np.array([0.01, 0.01, 0.01, 0.1, 0.1, 0.1]) ** 2  # of what no detector has seen: drawings are not exact
DRIFT: Array = (
    np.array([0.0002] * 3 + [0.002] * 2 + [0.005]) ** 2
)  # by which what nothing is near to becomes uncertain in a second
MOST: Array = np.array([0.01] * 3 + [0.2] * 2 + [np.pi]) ** 2
OUT_OF_SIGHT_S = 0.6  # a part that detectors look at is seen every tenth of a second, a little later
THE_DRAWINGS = "the drawings"
NEVER_SEEN = Unknown("no detector has seen it")
NO_POSE = Unknown("it has no pose")
IS_MISSING = Unknown("it should have been seen and was not")


class DetectorReport(Protocol):
    """The state of a detector, with a reason in one line."""

    @property
    def state(self) -> str:
        """The state in words."""

    @property
    def reason(self) -> str:
        """The reason; empty for a good one."""


class BeliefState:
    """The state of a cell as a controller believes it to be.

    Args:
        model: Its poses.
        ontology: The classes and relations to read; as packaged by default.
        supply: Whether parts that lie in vessels are read.

    Attributes:
        relations: What is not a matter of poses; `held` (tool -> object), `tool_of` (robot or holder -> tool),
            `tray_of` (kit -> tray), `part_sku` (vessel -> SKU), `handles` (tool -> SKUs), `stationary` follow it.
        missing: Parts and trays that should have been seen, in clear view, and were not; they are nowhere.
        view: What detectors with cameras can see; without, every slot of a tray that is seen counts as seen clearly.
        slot_views: When each slot was last seen clearly.
        detectors: Detector -> its state, as far as that was told.
        ordered: Kit -> what it shall become, where that is not what the database says.
        clock: Returns the cell's time; by default that of the last observation.
        report: Robot -> the last report of its tool; None when it reports none.
    """

    def __init__(self, model: WorldModel, ontology: PlanningOntology | None = None, *, supply: bool = True) -> None:
        self.model = model
        self._ontology = ontology
        self._supply = supply
        self.missing: set[str] = set()
        self.view: FrameView | None = None
        self.slot_views = SlotViews()
        self.detectors: dict[str, DetectorReport] = {}
        self.ordered: Mapping[str, KitDesign] = {}
        self.clock: Callable[[], float] = lambda: float(self.tree.seen_s.max(initial=0.0))
        self.report: Callable[[str], ToolState | None] = lambda _robot: None
        self._parts: dict[str, BelievedPart] = {}
        self._slots_in_world: dict[tuple[str, tuple[SlotPlace, ...]], list[BelievedSlot]] = {}
        self._free = list[BelievedPart]()
        self._not_free = set[str]()
        self.read()

    def read(self) -> None:
        """Reads from the database what is not a matter of poses, after others wrote there."""
        self.relations: CellRelations = read_relations(self.model.database, self._ontology, supply=self._supply)
        self._read = self.model.arrangement
        self.relations_changed()

    def relations_changed(self) -> None:
        """Follows a change of the relations that is in the database already."""
        relations = self.relations
        self.held = relations.ones("heldObject")
        self.tool_of = relations.ones("endEffector")
        self._robot_of = {tool: robot for robot, tool in relations.pairs("Robot", "endEffector")}
        self.tray_of = relations.ones("kitTray")
        self.part_sku = relations.ones("partSku")
        self.stationary = set(relations.flags["Kit", "stationary"])
        self.handles: dict[str, set[str]] = {}
        for sku, tool in relations.pairs("StockKeepingUnit", "usableEndEffector"):
            self.handles.setdefault(tool, set()).add(sku)
        self._solid = [n for n, kind in relations.kinds.items() if kind in relations.ontology.below["SolidObject"]]
        self._arranged = self._posed = -1

    @property
    def tree(self) -> TransformTree:
        """The poses of all objects that have one."""
        return self.model.tree

    @property
    def objects(self) -> dict[str, BelievedObject]:
        """Name -> object, in the order in which they were made."""
        if self._arranged != self.model.arrangement:
            self._arranged = self.model.arrangement
            relations, location = self.relations, self.relations.links["location"]
            if self._read != self.model.arrangement:  # objects were attached to others since
                parents = zip(self.tree.names, self.tree.parent.tolist(), strict=True)
                location |= {n: [self.tree.names[p]] for n, p in parents if p >= 0 and n in relations.kinds}
            one, kinds = relations.one, relations.kinds
            self._objects = {
                name: BelievedObject(name, kinds[name], one(name, "sku"), one(name, "location") or None)
                for name in self._solid
            }
        return self._objects

    def of_kind(self, *kinds: str) -> list[BelievedObject]:
        """Returns all objects of these classes."""
        return [thing for thing in self.objects.values() if thing.kind in kinds]

    def names(self) -> Iterable[str]:
        """Returns all objects that are not missing."""
        return [name for name in self._solid if not self.is_missing(name)] if self.missing else self._solid

    def kind(self, name: str) -> str:
        """Returns the object's class in the ontology; empty for none."""
        return self.relations.kinds.get(name, "")

    def sku(self, name: str) -> str:
        """Returns the SKU of an object; for a kit that of its tray; empty without one."""
        return self.relations.one(self.detected_as(name), "sku")

    def detected_as(self, name: str) -> str:
        """Returns the object that a detector sees of a thing: the tray of a kit, else the thing itself."""
        return self.tray_of.get(name, name)

    def is_missing(self, name: str) -> bool:
        """Returns whether a thing, or the tray of a kit, should have been seen and was not."""
        return name in self.missing or self.detected_as(name) in self.missing

    @property
    def now_s(self) -> float:
        """The cell's clock."""
        return self.clock()

    def has_pose(self, name: str) -> bool:
        """Returns whether a pose of the object is known at all."""
        return name in self.tree.index

    def pose(self, name: str) -> Pose:
        """Returns the believed pose of an object in the world."""
        return Pose.from_matrix(self.tree.in_world[self._row(name)])

    def point(self, name: str) -> Array | Unknown:
        """Returns the position of an object's origin."""
        row = self.tree.index.get(name)
        return NO_POSE if row is None else self.tree.in_world[row][:3, 3]

    def _row(self, name: str) -> int:
        row = self.tree.index.get(name)
        return int(self.tree.indices([name])[0]) if row is None else row  # which says what names there are

    def source(self, name: str) -> str:
        """Returns the sensor that saw an object last; empty when none did."""
        row = self._row(name)
        evidence: str = self.model.evidence[row]
        return "" if evidence == DRAWINGS or isnan(self.model.variances[row, 0]) else evidence

    def seen_s(self, name: str) -> float | Unknown:
        """Returns the time at which an object was last seen."""
        return float(self.tree.seen_s[self._row(name)]) if self.source(name) else NEVER_SEEN

    def variances(self, name: str) -> Array:
        """Returns variances of x, y, z (m2) and roll, pitch, yaw (rad2) along and about the world's axes, now.

        They grow from when it was last seen: a little, as nothing is quite still.
        """
        row = self._row(name)
        known: Array = self.model.variances[row]
        if not self.source(name):
            return np.fmax(known, PRIOR)
        waited_s = np.array([self.now_s - float(self.tree.seen_s[row])])
        grown: Array = predicted_variances(known[None], waited_s, DRIFT, MOST)[0]
        return grown

    def sd_m(self, name: str) -> float:
        """Returns the standard deviation of an object's place in the plane, along the worse axis, now."""
        return float(np.sqrt(self.variances(name)[:2].max()))

    def deviation_m(self, name: str) -> float | Unknown:
        """Returns the standard deviation of an object's position along the worst axis, as it is stored."""
        row = self.tree.index.get(name)
        found = np.nan if row is None else self.model.deviations_m[row]
        return Unknown("nothing is stored about it") if np.isnan(found) else float(found)

    def estimate(self, name: str) -> PoseEstimate | Unknown:
        """Returns the pose of an object with all that is known of it; by its tool when it was carried out of sight."""
        row = self.tree.index.get(name)
        if row is None or self.is_missing(name):
            return NO_POSE if row is None else IS_MISSING
        matrix, tray = self.tree.in_world[row], self.detected_as(name)
        if not self.relations.one(tray, "sku") or tray not in self.tree.index:
            return PoseEstimate(matrix, (0.0,) * 6, Evidence.FIXED, 0.0, THE_DRAWINGS)
        variances, source = tuple(self.variances(tray).tolist()), self.source(tray)
        time_s = float(self.tree.seen_s[self.tree.index[tray]])
        if not source:
            return PoseEstimate(matrix, variances, Evidence.DRAWN, time_s, THE_DRAWINGS)
        evidence = Evidence.FELT if self.kind(source) == "Robot" else Evidence.SEEN
        seen = PoseEstimate(matrix, variances, evidence, time_s, source)
        is_hidden = self.held and self.now_s - time_s > OUT_OF_SIGHT_S
        return (self._carried(row) if is_hidden else None) or seen

    def _carried(self, row: int) -> PoseEstimate | None:
        """Returns the pose of what a hand holds, or of what lies on that, by the hand; None for what none carries."""
        tree, held = self.tree, {thing: tool for tool, thing in self.held.items()}
        held.update({tray: held[kit] for kit, tray in self.tray_of.items() if kit in held})
        at = row
        while at >= 0 and tree.names[at] not in held:
            at = int(tree.parent[at])
        tool = self.tool(held[tree.names[at]]) if at >= 0 else None
        name = tree.names[at]
        felt = held_pose(tool, self.kind(name), self.sku(name), tree.in_world[at]) if tool else None
        if felt is None or at == row:
            return felt
        matrix = felt.matrix @ np.linalg.inv(tree.in_world[at]) @ tree.in_world[row]
        return PoseEstimate(matrix, felt.variances, felt.evidence, felt.time_s, felt.source)

    # ------------------------------------------------------------ parts, slots and trays

    def part(self, name: str) -> BelievedPart:
        """Returns a part as it was seen last, wherever it is."""
        self._follow()
        if name not in self._parts:
            matrix = self.tree.in_world[self._row(name)]
            self._parts[name] = BelievedPart(name, self.objects[name].sku, matrix, self.sd_m(name))
        return self._parts[name]

    def parts(self, sku: str | None = None) -> list[BelievedPart]:
        """Returns the parts that are somewhere and in no hand."""
        self._follow()
        gripped = {*self.held.values(), *self.missing}
        if gripped != self._not_free:
            self._not_free = gripped
            names = [thing.name for thing in self.of_kind("Part") if thing.name in self.tree.index]
            self._free = [self.part(name) for name in names if name not in gripped]
        return self._free if sku is None else [part for part in self._free if part.sku == sku]

    def trays(self) -> list[str]:
        """Returns every tray that can be seen, those of kits included."""
        return [tray.name for tray in self.of_kind("PartsTray", "KitTray") if tray.name in self.tree.index]

    def slots_of_tray(self, tray: str) -> list[BelievedSlot]:
        """Returns the slots of a parts tray."""
        return self._slots(tray, tray_layout(self.objects[tray].sku).slots)

    def slots_of_kit(self, kit: str, design: KitDesign) -> list[BelievedSlot]:
        """Returns the slots of a kit of that design."""
        return self._slots(kit, design_slots(design))

    def slots_on_kit_tray(self, kit: str) -> list[BelievedSlot]:
        """Returns the slots of the tray of a kit, whatever that shall become."""
        tray = self.tray_of.get(kit)
        return self._slots(kit, tray_layout(self.objects[tray].sku).slots) if tray and self.has_pose(kit) else []

    def slot(self, owner: str, name: str) -> BelievedSlot:
        """Returns a slot of a parts tray, or of the tray of a kit, by its name."""
        slots = self.slots_on_kit_tray(owner) if owner in self.tray_of else self.slots_of_tray(owner)
        found = {slot.name: slot for slot in slots}
        if name not in found:
            raise UnknownName("slot", name, found, owner)
        return found[name]

    def part_in(self, slot: BelievedSlot, parts: Iterable[BelievedPart] | None = None) -> BelievedPart | None:
        """Returns the part in a slot: the nearest."""
        inside = [part for part in (self.parts() if parts is None else parts) if slot.holds(part)]
        return min(inside, key=lambda part: part.across_m(slot.position), default=None)

    def last_clear_s(self, owner: str, slot: str) -> float | Unknown:
        """Returns when a slot of a tray or kit was last seen clearly, with something in it or not."""
        clear_s = float(self.slot_views.clear_s(owner, slot)[0])
        return clear_s if np.isfinite(clear_s) else Unknown("it was never seen clearly")

    def slot_view(self, owner: str, slot: BelievedSlot | str, since_s: float = -np.inf) -> SlotView:
        """Returns what is in a slot of a tray or kit: empty only if it was clear in some frames since a time."""
        place = self.slot(owner, slot) if isinstance(slot, str) else slot
        part, clear_s = self.part_in(place), self.slot_views.clear_s(owner, place.name)
        if part is not None:
            return SlotView(SlotContent.FILLED, part.name, float(clear_s[0]))
        if clear_s[-1] >= since_s and np.isfinite(clear_s[-1]):
            return SlotView(SlotContent.EMPTY, "", float(clear_s[0]))
        seen = f"was last seen clearly at {clear_s[0]:.2f} s" if np.isfinite(clear_s[0]) else "was never seen clearly"
        return SlotView(SlotContent.UNKNOWN, "", float(clear_s[0]), f"{place.name} of {owner} {seen}")

    def _slots(self, owner: str, slots: tuple[SlotPlace, ...]) -> list[BelievedSlot]:
        self._follow()
        key = owner, slots
        if key not in self._slots_in_world:
            pose = self.pose(owner)
            self._slots_in_world[key] = [
                BelievedSlot(slot.name, slot.sku, pose @ slot.pose_part_in_tray) for slot in slots
            ]
        return self._slots_in_world[key]

    def _follow(self) -> None:
        """Forgets what was computed from poses that have changed."""
        if self._posed != self.model.version:
            self._posed = self.model.version
            self._parts.clear()
            self._slots_in_world.clear()
            self._not_free = {""}

    def tool(self, name: str) -> ToolState | None:
        """Returns the state of a tool as its robot reports it, by the name of either; None without a report."""
        if self.kind(name) == "Robot":
            return self.report(name)
        robot = next(
            (robot for robot, tool in self.tool_of.items() if tool == name and self.kind(robot) == "Robot"), ""
        )
        return self.report(robot) if robot else None

    def size_m(self, name: str) -> tuple[float, float, float] | None:
        """Returns the extent of an object without a SKU, its origin at the middle of its bottom."""
        return self.relations.sizes.get(name)

    def capacity(self, box: str) -> int | Unknown:
        """Returns the number of kits that a box takes."""
        return self.relations.capacity[box]

    def wanted(self, kit: str) -> Mapping[str, int]:
        """Returns SKU -> number of parts that a kit shall have."""
        design = self.ordered.get(kit) or self.relations.design(kit)
        return {} if design is None else design.parts

    def related(self, path: str, first: str) -> Collection[str]:
        """Returns the objects at the end of an ontology path from an object."""
        links, relations = dict(self.relations.links), self.relations
        if "reach" in path:
            links["reach"] = reached_places(self.objects.values(), self.tree, relations.boxes)
        return PathResolver(links, relations.kinds).follow(first, path)


def belief_state_of(source: Source, ontology: PlanningOntology | None = None, *, supply: bool = True) -> BeliefState:
    """Returns the belief state of what holds one; without `supply`, of a database only what planning files need."""
    if isinstance(source, BeliefState):
        return source
    model = source if isinstance(source, WorldModel) else WorldModel(source, parts=supply)
    return BeliefState(model, ontology, supply=supply)


Source = BeliefState | WorldModel | Database
