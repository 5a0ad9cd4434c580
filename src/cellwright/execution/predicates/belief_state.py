"""Belief and the robots' reports, as predicates see them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from math import inf

from sqlalchemy import select
from sqlalchemy.orm import aliased

from cellwright.core.pose import Pose
from cellwright.execution.predicates.sensed import PoseEstimate, ToolState
from cellwright.knowledge import Belief, records
from cellwright.knowledge.pddl import planning_ontology
from cellwright.knowledge.pddl.paths import PathResolver
from cellwright.knowledge.pddl.snapshot import read_snapshot

__all__ = ["BelievedState"]

DRAWINGS = "the drawings"


class BelievedState:
    """The current belief as a `SensedState`.

    What is not a matter of poses (kinds, sizes, which tool is on which robot) is read when it is made, when new
    objects come into the belief, and on `refresh`.

    Args:
        belief: What is believed.
        now_s: The cell's clock.
        report: Robot -> the last report of its tool; None when it reports none.
        wanted: Kit -> SKU -> number, where it is not what the database's designs say.
    """

    def __init__(
        self,
        belief: Belief,
        now_s: Callable[[], float],
        report: Callable[[str], ToolState | None],
        wanted: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        self.belief, self._clock, self._report, self._wanted = belief, now_s, report, dict(wanted or {})
        self.refresh()

    def refresh(self) -> None:
        """Reads anew what does not come from sensors."""
        database = self.belief.world_model.database
        ontology = planning_ontology()
        self._facts = read_snapshot(database, ontology)
        self._follower = PathResolver(self._facts.links, self._facts.kinds)
        self._robot_of = {tool: robot for robot in self._robots() for tool in self._facts.to(robot, "endEffector")}
        solid = ontology.below["SolidObject"]
        self._names = [name for name, kind in self._facts.kinds.items() if kind in solid]
        self._sensed = set(self.belief.objects())
        things, shape = aliased(records.NoSkuObject, flat=True), aliased(records.BoxyShape, flat=True)
        columns = (shape.shape_length, shape.shape_width, shape.shape_height)
        question = select(things.name, *columns).join(shape, things.internal_shape_id == shape.id)
        with database.session() as session:
            found = [(name, x, y, z) for name, x, y, z in session.execute(question) if x and y and z]
        self._sizes: dict[str, tuple[float, float, float]] = {name: (x, y, z) for name, x, y, z in found}

    def _robots(self) -> list[str]:
        return [name for name, kind in self._facts.kinds.items() if kind == "Robot"]

    @property
    def now_s(self) -> float:
        """The cell's clock."""
        return self._clock()

    def names(self) -> Iterable[str]:
        """Returns all solid objects."""
        if self._sensed != set(self.belief.objects()):
            self.refresh()
        return self._names

    def kind(self, name: str) -> str:
        """Returns the object's class."""
        return self._facts.kinds.get(name, "")

    def sku(self, name: str) -> str:
        """Returns the SKU of an object; for a kit that of its tray."""
        return self._facts.one(self._tray(name), "sku")

    def size_m(self, name: str) -> tuple[float, float, float] | None:
        """Returns the extent of an object without a SKU."""
        return self._sizes.get(name)

    def estimate(self, name: str) -> PoseEstimate | None:
        """Returns the pose at which it was seen last, or its nominal pose."""
        tree = self.belief.world_model.tree
        row = tree.index.get(name)
        if row is None:
            return None
        pose, tray = Pose.from_matrix(tree.in_world[row]), self._tray(name)
        if tray not in self._sensed:
            return PoseEstimate(pose, (0.0, 0.0, 0.0, 0.0), inf, DRAWINGS)
        x, y, z, yaw = self.belief.covariance(tray).diagonal().tolist()
        age_s = self.belief.age_s(tray, 0.0)
        seen_s = None if age_s == inf else -age_s
        return PoseEstimate(pose, (x, y, z, yaw), seen_s, self.belief.source(tray) or DRAWINGS)

    def tool(self, name: str) -> ToolState | None:
        """Returns the state of a tool as its robot reports it, by the name of either."""
        robot = self._robot_of.get(name, name if self.kind(name) == "Robot" else "")
        return self._report(robot) if robot else None

    def related(self, path: str, first: str) -> Collection[str]:
        """Returns the objects at the end of a path, by the database."""
        return self._follower.follow(first, path)

    def wanted(self, kit: str) -> Mapping[str, int]:
        """Returns SKU -> number of parts in the design of a kit."""
        if kit in self._wanted:
            return self._wanted[kit]
        return self._facts.designs.get(self._facts.design_of.get(kit, ""), Counter())

    def capacity(self, box: str) -> int | None:
        """Returns the number of kits that a box takes."""
        return self._facts.capacity.get(box)

    def _tray(self, name: str) -> str:
        """Returns the tray that a kit is built on, which is what is seen of it; any other object itself."""
        return self._facts.one(name, "kitTray") or name if self.kind(name) == "Kit" else name
