"""Changing tools over CRCL: to the holder, lock or unlock, away; and what is believed of tools afterwards.

Whether a tool is on a robot is what the robot itself reports: its changer has switches, and a tool tells its name.
Where holders are is known from the drawings, or from a calibration; what of that is wrong is felt (`holder_way`).
"""

from __future__ import annotations

from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.holder_way import JOINT_SPEED_RADPS, HolderOffset, HolderWay
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import Evaluated
from cellwright.execution.predicates import Truth
from cellwright.knowledge.belief_writer import note_tool
from cellwright.planning import Action, Verb

__all__ = ["CHANGES", "change_tool", "tool_conditions"]

CHANGES = (Verb.ATTACH, Verb.DETACH)


async def change_tool(manipulator: Manipulator, action: Action) -> str:
    """Attaches or detaches a tool; says what was done.

    Raises:
        StepFailed: The robot did not get there, or its changer found no tool; nothing is believed otherwise then.
    """
    if manipulator.held:
        raise StepFailed(
            FailureKind.WRONG, f"{manipulator.name} holds {manipulator.held}: a hand must be empty to be changed"
        )
    attach, believed = action.verb is Verb.ATTACH, manipulator.believed
    holder, base = believed.pose(action.place), believed.pose(manipulator.name)
    known = manipulator.holders.setdefault(action.place, HolderOffset(action.place))
    known.follow(manipulator.heights.above_m(holder.position))
    way = HolderWay(manipulator.arm, manipulator.hand, holder, base, action.tool, known)
    # From above other places the way to where it turns may lead through holders.
    await manipulator.withdraw(JOINT_SPEED_RADPS)
    await way.come()
    try:
        await way.change(lock=attach)
    except StepFailed:
        await way.rise()
        raise
    note_tool(manipulator.belief, action.robot, action.tool, None if attach else action.place, action.place)
    manipulator.tool = action.tool if attach else ""
    await way.leave()
    await manipulator.withdraw(JOINT_SPEED_RADPS)  # which is aside when other robots work below
    return f"{action.tool} is {'on ' + action.robot if attach else 'in ' + action.place}"


def tool_conditions(manipulator: Manipulator, action: Action, *, after: bool) -> list[Evaluated]:
    """Returns the conditions of a tool change, before or after it, by what the robot reports."""
    attach = action.verb is Verb.ATTACH
    on_robot = attach is after
    reported = manipulator.hand.reading.gripper if manipulator.hand.reading is not None else ""
    tools = manipulator.believed.tool_of
    when = "effect" if after else "precondition"
    says = f"{action.robot} reports {reported or 'no tool'}"
    stored = tools.get(action.place)

    def row(predicate: str, objects: tuple[str, ...], value: bool, evidence: str) -> Evaluated:
        return Evaluated(predicate, objects, str(Truth.of(value)), evidence, when, float(value))

    on, there = (action.robot, action.tool), (action.place, action.tool)
    written = f"the database has {stored or 'nothing'} in {action.place}"
    if on_robot:
        return [
            row("robot-has-endEffector", on, reported == action.tool, says),
            row("not endEffectorHolder-has-endEffector", there, stored is None, written),
        ]
    return [
        row("robot-has-no-endEffector", (action.robot,), not reported, says),
        row("endEffectorHolder-has-endEffector", there, stored == action.tool, written),
    ]
