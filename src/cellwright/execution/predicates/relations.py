"""State relations on sensed poses: what holds, what does not, and what cannot be told from where things are seen.

Along z, which is up, and along the horizontal axes of the second object the extents are intervals. An object may be off
by some standard deviations of its sensed pose; a relation is true or false when it is so wherever in that range it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import acos, hypot, inf, sqrt

from cellwright.execution.predicates.rcc8 import Interval, normal_share, possible_rcc8, probability_of
from cellwright.execution.predicates.regions import Placed, Region, regions_of
from cellwright.execution.predicates.sensed import PredicateSettings, SensedState
from cellwright.execution.predicates.truth import Likely, Truth, all_likely, any_likely
from cellwright.execution.predicates.vocabulary import StateRelation, Vocabulary
from cellwright.knowledge import Evidence, PoseEstimate, ToolState, Unknown

__all__ = ["Relations", "SeatRelation"]

Vector3 = tuple[float, float, float]


@dataclass(frozen=True)
class SeatRelation:
    """The relation of an object to the nearest slot, or other space inside, of another.

    Attributes:
        room: Name of the room, such as a slot.
        beside_m: Horizontal distance of the axes.
        above_m: Height of its bottom over the room's.
        tilt_rad: Angle between its axis and the other's.
    """

    room: str
    beside_m: float
    above_m: float
    tilt_rad: float


class Relations:
    """Evaluates the ontology's relations between sensed objects."""

    def __init__(self, sensed: SensedState, settings: PredicateSettings, words: Vocabulary) -> None:
        self.sensed = sensed
        self.settings = settings
        self.words = words
        self._placed: dict[str, Placed | None] = {}
        self._tools: dict[str, ToolState] = {}
        self._regions: dict[tuple[str, str], tuple[Region, ...] | None] = {}
        self._found: dict[tuple[str, str, str], Likely] = {}

    def reset(self) -> None:
        """Forgets all cached poses and results: the next query reads what is sensed then."""
        self._placed.clear()
        self._tools.clear()
        self._regions.clear()
        self._found.clear()

    def doubt(self, name: str) -> str:
        """Returns the reason why nothing can be said of an object; empty when it is known where it is."""
        estimate = self.estimate(name)
        if estimate is None:
            unknown = self.sensed.estimate(name)
            return f"{name}: {unknown.reason}" if isinstance(unknown, Unknown) else f"{name} was never seen"
        if estimate.evidence is Evidence.DRAWN:
            return f"{name} was never seen"
        if self.sensed.tool(name) is None:
            return ""  # the longer ago it was seen, the less is known where it is
        age_s = self.sensed.now_s - estimate.time_s
        is_old = age_s > self.settings.tool_age_s
        return f"{estimate.source} last reported {name} {age_s:.1f} s ago" if is_old else ""

    def estimate(self, name: str) -> PoseEstimate | None:
        """Returns the pose of an object; that of a tool as its robot reports it."""
        placed = self._place(name)
        return None if placed is None else placed.estimate

    def _place(self, name: str) -> Placed | None:
        if name not in self._placed:
            tool = self._tool(name)
            estimate = self.sensed.estimate(name) if tool is None else _reported(tool)
            robot = tool.robot if tool else ""
            self._placed[name] = None if isinstance(estimate, Unknown) else Placed(estimate, robot)
        return self._placed[name]

    def _tool(self, name: str) -> ToolState | None:
        """Returns the state of a tool by its own or its robot's name; each robot is asked once."""
        tool = self.sensed.tool(name)
        return None if tool is None else self._tools.setdefault(tool.robot, tool)

    def _volumes(self, name: str, which: str) -> tuple[Region, ...] | None:
        if (name, which) not in self._regions:
            self._regions[name, which] = regions_of(self.sensed, name, which)
        return self._regions[name, which]

    def holds(self, relation: str, first: str, second: str) -> Truth:
        """Returns whether the first object stands in the relation to the second, both where they were seen last."""
        return self.likely(relation, first, second).value

    def likely(self, relation: str, first: str, second: str) -> Likely:
        """Returns the same with its probability."""
        key = relation, first, second
        if key not in self._found:
            self._found[key] = self._reckon(relation, first, second)
        return self._found[key]

    def _reckon(self, relation: str, first: str, second: str) -> Likely:
        wanted = self.words.relation(relation)
        named = any(axis is not None for axis in wanted.axes) or wanted.z_centre is not None
        values = [self._geometry(wanted, first, second)] if named else []
        if wanted.any_of:
            values.append(any_likely(self.likely(name, first, second) for name in wanted.any_of))
        values += [self.likely(name, first, second) for name in wanted.all_of]
        return all_likely(values)

    def _geometry(self, relation: StateRelation, first: str, second: str) -> Likely:
        mine = self._volumes(first, relation.first_region)
        others = self._volumes(second, relation.second_region)
        if mine == () or others == ():
            return Likely(Truth.FALSE, 0.0)
        here, there = self._place(first), self._place(second)
        if mine is None or others is None or here is None or there is None:
            return Likely(Truth.UNKNOWN, 0.5)
        if relation.is_near and self._apart(mine, here, others, there):
            return Likely(Truth.FALSE, 0.0)
        pairs = (_Pair(a, here, b, there, self.settings) for a in mine for b in others)
        return any_likely(pair.stands_in(relation) for pair in pairs)

    def _apart(self, mine: tuple[Region, ...], here: Placed, others: tuple[Region, ...], there: Placed) -> bool:
        """Returns whether two objects are too far apart to have anything to do with each other; a quick first look."""
        reach_m = max(region.reach_m for region in mine) + max(region.reach_m for region in others)
        spread = sum(
            sum(placed.estimate.variances[:2]) + placed.estimate.variances[5] * reach_m**2 for placed in (here, there)
        )
        distance_m = hypot(here.position[0] - there.position[0], here.position[1] - there.position[1])
        return distance_m > reach_m + self.settings.touch_m + self.settings.deviations * sqrt(spread)

    def seat(self, first: str, second: str) -> SeatRelation | None:
        """Returns the relation of the first object to the nearest space inside the second; None if either is unseen."""
        bodies, rooms = self._volumes(first, "body"), self._volumes(second, "inside")
        here, there = self._place(first), self._place(second)
        if not bodies or not rooms or here is None or there is None:
            return None
        pairs = [_Pair(bodies[0], here, room, there, self.settings) for room in rooms]
        nearest = min(pairs, key=lambda pair: pair.beside_m)
        cosine = sum(here.turn[axis][2] * there.turn[axis][2] for axis in range(3))
        tilt_rad = acos(min(max(cosine, -1.0), 1.0))
        return SeatRelation(nearest.room.name, nearest.beside_m, nearest.above_m, tilt_rad)

    def is_known(self, name: str) -> bool:
        """Returns whether it is known where an object is, and how large."""
        return self._place(name) is not None and self._volumes(name, "body") is not None

    def handle_width_m(self, name: str) -> float | None:
        """Returns the width of fingers that hold it; None when its extent is not known."""
        handles = self._volumes(name, "handle")
        return 2 * handles[0].half_m[0] if handles else None

    def rooms(self, name: str) -> int:
        """Returns the number of spaces, such as slots, inside an object."""
        return len(self._volumes(name, "inside") or ())

    def tell(self, first: str, second: str, relation: str) -> str:
        """Returns the place of the first object relative to the second as text: the evidence for a relation."""
        wanted = self.words.relation(relation)
        while wanted.any_of:
            wanted = self.words.relation(wanted.any_of[-1])
        mine = self._volumes(first, wanted.first_region)
        others = self._volumes(second, wanted.second_region)
        here, there = self._place(first), self._place(second)
        if mine == () or others == ():
            tool = self.sensed.tool(first if mine == () else second)
            at = f", {1000 * tool.width_m:.1f} mm apart" if tool else ""
            return f"{second if others == () else first} feels nothing between its fingers{at}"
        if mine is None or others is None or here is None or there is None:
            return f"the place or the extent of {first if mine is None or here is None else second} is not known"
        pair = min((_Pair(a, here, b, there, self.settings) for a in mine for b in others), key=lambda p: p.beside_m)
        return f"{first} is {pair.tell(second)}, {self.seen(first)}"

    def seen(self, name: str) -> str:
        """Returns the time and source of the last detection of an object as text."""
        estimate = self.estimate(name)
        if estimate is None or estimate.evidence is Evidence.DRAWN:
            return "never seen"
        if estimate.evidence is Evidence.FIXED:
            return f"by {estimate.source}"
        verb = "reported" if self.sensed.tool(name) else "seen"
        return f"{verb} {max(self.sensed.now_s - estimate.time_s, 0.0):.2f} s ago by {estimate.source}"


class _Pair:
    """Two volumes at their sensed poses."""

    def __init__(self, mine: Region, here: Placed, room: Region, there: Placed, settings: PredicateSettings) -> None:
        self.mine = mine
        self.here = here
        self.room = room
        self.there = there
        self.settings = settings

    @cached_property
    def axes(self) -> tuple[Vector3, Vector3, Vector3]:
        """The horizontal axes of the second object, and up."""
        turn = self.there.turn
        x, y = turn[0][0], turn[1][0]
        if hypot(x, y) < 0.1:  # its x axis is upright: take the other one
            x, y = turn[1][1], -turn[0][1]
        length = hypot(x, y)
        x, y = (x / length, y / length) if length > 0.1 else (1.0, 0.0)
        return (x, y, 0.0), (-y, x, 0.0), (0.0, 0.0, 1.0)

    def extents(self, axis: int) -> tuple[Interval, Interval]:
        """Returns the extents of both along an axis."""
        direction = self.axes[axis]
        return self.mine.interval(self.here, direction), self.room.interval(self.there, direction)

    def deviation_m(self, axis: int) -> float:
        """Returns the standard deviation of their difference along an axis, from both poses and their yaws."""
        if self.here.robot and self.here.robot == self.there.robot:
            return 0.0  # a tool and the flange that it is on: one report is of both
        variance = 0.0
        for placed, region in ((self.here, self.mine), (self.there, self.room)):
            known = placed.estimate.variances
            variance += sum(weight * weight * known[k] for k, weight in enumerate(self.axes[axis]))
            if axis < 2:
                variance += known[5] * (region.centre_m[0] ** 2 + region.centre_m[1] ** 2)
        return sqrt(variance)

    def stands_in(self, relation: StateRelation) -> Likely:
        """Returns whether they stand in a relation, with the probability by the deviations of both poses."""
        values: list[Likely] = []
        for axis in (2, 0, 1):
            allowed, centre = relation.axes[axis], relation.z_centre if axis == 2 else None
            if allowed is None and centre is None:
                continue
            mine, other = self.extents(axis)
            deviation_m, touch_m = self.deviation_m(axis), self.settings.touch_m
            shift_m = self.settings.deviations * deviation_m
            if allowed is not None:
                found = possible_rcc8(mine, other, touch_m, shift_m)
                value = _judge(found <= allowed, found.isdisjoint(allowed))
                values.append(Likely.of(value, probability_of(allowed, mine, other, touch_m, deviation_m)))
            if centre is not None:
                higher_m = (mine.centre - other.centre) * (1.0 if centre == "plus" else -1.0)
                is_higher = normal_share(-inf, higher_m / deviation_m) if deviation_m > 0.0 else float(higher_m > 0.0)
                values.append(Likely.of(_judge(higher_m > shift_m, higher_m < -shift_m), is_higher))
            if values[-1].value is Truth.FALSE:
                return values[-1]
        return all_likely(values)

    @property
    def beside_m(self) -> float:
        """The horizontal distance of the middles."""
        mine, other = self.here.point(self.mine.centre_m), self.there.point(self.room.centre_m)
        return hypot(mine[0] - other[0], mine[1] - other[1])

    @property
    def above_m(self) -> float:
        """The height of the first one's bottom over the second one's."""
        mine, other = self.extents(2)
        return mine.low - other.low

    def tell(self, second: str) -> str:
        """Returns the place of the first as text."""
        if self.room.name:
            where = f"{self.room.name} of {second}"
            return f"{1000 * self.beside_m:.1f} mm beside {where} and {1000 * self.above_m:.1f} mm above its bottom"
        apart = [max(a.low - b.high, b.low - a.high) for a, b in (self.extents(0), self.extents(1))]
        if max(apart) > self.settings.touch_m:
            return f"{1000 * max(apart):.1f} mm beside {second}"
        mine, other = self.extents(2)
        if mine.centre >= other.centre:
            return f"{1000 * (mine.low - other.high):.1f} mm above {second}"
        return f"{1000 * (other.low - mine.high):.1f} mm below {second}"


def _reported(tool: ToolState) -> PoseEstimate:
    spread = tool.sd_m**2
    variances = (spread, spread, spread, 0.0, 0.0, 0.0)
    return PoseEstimate(tool.pose_tool_in_world.matrix, variances, Evidence.SEEN, tool.time_s, tool.robot)


def _judge(certainly: bool, never: bool) -> Truth:
    return Truth.TRUE if certainly else Truth.FALSE if never else Truth.UNKNOWN
