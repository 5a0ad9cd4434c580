"""The oracle: whether a state can still become the wanted kits, planned from the truth.

It answers for a perfect controller with the cell's own robots and tools: one that finds whatever a detector's camera
can see once no arm is in the way, that takes away what covers a thing, that presses gears upright, and whose every
grasp succeeds that has room.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.judge.hand_monitor import HandMonitor
from cellwright.judge.takers import SightTest
from cellwright.judge.tool_inventory import ReachTest
from cellwright.judge.true_state import TrueState
from cellwright.orders import KitDesign, Order, OrderLine
from cellwright.planning import CellState, PlanRequest, PlanResult, PlanStatus, plan, validate_timed
from cellwright.sim import World

__all__ = ["ReachTest", "Recoverability", "SightTest", "judge_recoverable"]


@dataclass(frozen=True)
class Recoverability:
    """The answer of the oracle.

    Attributes:
        recoverable: Whether the wanted kits can be completed with what is left.
        reason: Why not, or with how many steps.
        lost: Part or tray -> why no robot can take it.
        before: Part, tray or table -> what the plan needs to have taken away from it before.
        pressed: Gears that a hand can take only after it has pressed them upright.
        state: The true state as a planner sees one: parts counted where a robot can take them. None when that is not
            even asked.
        plan: What the planner made of it.
    """

    recoverable: bool
    reason: str
    lost: Mapping[str, str] = field(default_factory=dict)
    state: CellState | None = None
    plan: PlanResult | None = None
    before: Mapping[str, frozenset[str]] = field(default_factory=dict)
    pressed: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        steps = [str(action) for action in self.plan.actions] if self.plan else []
        before = {name: sorted(covers) for name, covers in self.before.items()}
        words = {"recoverable": self.recoverable, "reason": self.reason, "lost": dict(self.lost)}
        return {**words, "before": before, "pressed": list(self.pressed), "plan": steps}


def judge_recoverable(
    world: World,
    wanted: Mapping[str, KitDesign],
    reaches: ReachTest,
    *,
    hand_monitor: HandMonitor | None = None,
    robots: Collection[str] | None = None,
    sees: SightTest | None = None,
) -> Recoverability:
    """Returns whether the wanted kits can be completed from the true state.

    Args:
        world: What is really there.
        wanted: Kit tray -> what it shall become.
        reaches: Tests whether a robot reaches a point, or a pose of its tool.
        hand_monitor: The objects in hands; without one they are taken to be empty.
        robots: Those in service; all when not given.
        sees: Tests whether a controller can see a thing; without it, it sees everything.
    """
    reading = TrueState(world, wanted, reaches, hand_monitor, robots, sees)
    if reading.hopeless:
        return Recoverability(False, "; ".join(reading.hopeless), reading.lost)
    counts: dict[str, int] = {}
    for design in wanted.values():
        counts[design.name] = counts.get(design.name, 0) + 1
    designs = {design.name: design for design in wanted.values()}
    order = Order("wanted", tuple(OrderLine(designs[name], count) for name, count in counts.items()))
    state = reading.state()
    request = PlanRequest(state, (order,))
    result = plan(request)
    if result.status not in (PlanStatus.SOLVED, PlanStatus.OPTIMAL) or result.unfinished:
        why = "; ".join(result.reasons) or f"the planner says {result.status}"
        lost = "".join(f"; {part}: {reason}" for part, reason in reading.lost.items())
        return Recoverability(False, why + lost, reading.lost, state, result)
    verdict = validate_timed(request, result)
    if not verdict.valid:
        return Recoverability(False, f"the plan does not hold: {verdict.reason}", reading.lost, state, result)
    used = " ".join(str(action) for action in result.actions)
    needed = {*wanted, *used.replace(")", "").split()}
    before = {name: covers for name, covers in reading.before.items() if name in needed}
    words = [f"{', '.join(sorted(covers))} is taken away from {name} before" for name, covers in before.items()]
    words += [f"{tray} is taken out of {box} before" for tray, box in reading.taken_out.items()]
    reason = "; ".join([f"a plan of {len(result.actions)} steps completes it", *words])
    pressed = tuple(sorted(reading.takers.pressed & reading.takers.of.keys()))
    return Recoverability(True, reason, reading.lost, state, result, before, pressed)
