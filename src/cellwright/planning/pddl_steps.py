"""Between plans as we have them and plans as planning files have them, in the vocabulary of 2016.

Our steps name the tray for every part and leave out what follows from the state; planning files name changing
stations, kit trays and, where parts have names, parts. What is missing on either side is found in the problem.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cellwright.core.errors import BadInput
from cellwright.knowledge.pddl import Form, Names, PddlAction, PddlError, PddlStep, Problem
from cellwright.planning.actions import Action, Durations, Verb

__all__ = ["actions_of", "durations_by_name", "steps_of"]

HELD_TRAY = "endEffector-has-heldObject-kitTray"
HELD_PART = "endEffector-has-heldObject-part"
PLACES = ("endEffectorHolder", "partsVessel", "lbwekt", "workTable", "lbwk")


def durations_by_name(durations: Durations) -> dict[str, float]:
    """Action -> seconds, as planning files want them."""
    return {verb.value: durations.of(verb) for verb in Verb}


@dataclass
class _Scene:
    """What a plan's steps leave unsaid."""

    problem: Problem
    station_of: dict[str, str] = field(init=False)
    tray_of: dict[str, str] = field(init=False)
    kit_of: dict[str, str] = field(init=False)
    table_of: dict[str, str] = field(init=False)
    zone_of: dict[str, str] = field(init=False)
    fixed: set[str] = field(init=False)

    def __post_init__(self) -> None:
        domain = self.problem.domain
        if domain.vocabulary != "2016" or domain.form is Form.CLASSICAL:
            raise BadInput(f"steps of {domain.name} cannot be translated: use the vocabulary 2016, numeric or temporal")
        pairs = self.problem.pairs
        self.station_of = pairs("endEffectorHolder-has-physicalLocation-refObject-changingStation")
        self.tray_of = pairs("kit-has-kitTray")
        self.kit_of = {tray: kit for kit, tray in self.tray_of.items()}
        self.table_of = pairs("kit-has-physicalLocation-refObject-workTable")
        self.zone_of = pairs("place-is-in-zone")
        self.fixed = {atom.arguments[0] for atom in self.problem.relations if atom.name == "kit-is-stationary"}


class _Parts:
    """Which part is meant, where parts have names: the next one of the tray, until it is set down."""

    def __init__(self, problem: Problem) -> None:
        self._in_tray: dict[str, list[str]] = {}
        for part, tray in problem.pairs("part-has-physicalLocation-refObject-partsTray").items():
            self._in_tray.setdefault(tray, []).append(part)
        self._in_kit = problem.pairs("part-has-physicalLocation-refObject-kit")
        self._sku_of = problem.pairs("part-has-skuObject-sku")
        self._by_tool = problem.pairs(HELD_PART)
        self._of: dict[str, str] = {}

    def of(self, action: Action) -> str:
        if action.verb is Verb.LOOK_PART:
            if not self._in_tray.get(action.place):
                raise PddlError(f"plan: {action} finds no part in {action.place}")
            self._of[action.robot] = self._in_tray[action.place].pop(0)
        if action.verb is Verb.REMOVE_PART:
            inside = (p for p, kit in self._in_kit.items() if kit == action.kit and self._sku_of[p] == action.sku)
            self._of[action.robot] = next(inside, "")
        return self._of.get(action.robot) or self._by_tool.get(action.tool, "")

    def set_down(self, action: Action) -> None:
        part = self._of.pop(action.robot, "") or self._by_tool.pop(action.tool, "")
        if action.verb is Verb.RETURN_PART:
            self._in_tray.setdefault(action.place, []).append(part)


def steps_of(actions: Iterable[Action], problem: Problem, *, epsilon_s: float = 0.0) -> list[PddlStep]:
    """A plan of ours in the words of a problem.

    Args:
        actions: The plan.
        problem: In the numeric or the temporal form.
        epsilon_s: In the temporal form the plan's steps are moved apart by this much: planning files do not let one
            action use at an instant what another gives at that instant.
    """
    scene, parts = _Scene(problem), _Parts(problem)
    named = problem.domain.parts.value == "named"
    timed = problem.domain.form is Form.TEMPORAL
    held = problem.pairs(HELD_TRAY)
    table_of = dict(scene.table_of)
    steps = []
    for number, action in enumerate(sorted(actions, key=lambda action: action.start_s)):
        entry = problem.domain.action(action.verb)
        if action.verb is Verb.CREATE_KIT:
            table_of[action.kit] = action.place
        tray = held.pop(action.tool, "") if action.verb is Verb.RETURN_TRAY else scene.tray_of.get(action.kit, "")
        if action.verb is Verb.TAKE_TRAY:
            held[action.tool] = tray
        words = {
            "robot": action.robot,
            "endEffector": action.tool,
            "sku": action.sku,
            "kit": action.kit,
            "kitTray": tray,
            "changingStation": scene.station_of.get(action.place, ""),
            **dict.fromkeys(PLACES, action.place),
        }
        if action.verb in (Verb.PLACE_PART, Verb.REMOVE_PART):
            words["workTable"] = table_of.get(action.kit, action.place)
        if named and "part" in entry.parameters:
            words["part"] = parts.of(action)
        words["zone"] = scene.zone_of.get(words.get(entry.place, ""), "")
        if action.verb in (Verb.PLACE_PART, Verb.RETURN_PART):
            parts.set_down(action)
        start_s = action.start_s + number * epsilon_s if timed else None
        steps.append(_step(entry, words, start_s, action.duration_s))
    return steps


def _step(entry: PddlAction, words: dict[str, str], start_s: float | None, duration_s: float) -> PddlStep:
    for role in entry.parameters:
        if not words.get(role):
            raise PddlError(f"plan: {entry.name} needs a {role}, which nothing names")
    lasting = entry.duration_s is not None
    return PddlStep(
        entry.name, tuple(words[role] for role in entry.parameters), start_s, duration_s if lasting else None
    )


def actions_of(
    steps: Sequence[PddlStep], problem: Problem, names: Names, durations: Durations | None = None
) -> tuple[Action, ...]:
    """A planner's plan as ours; steps without times follow one another.

    Raises:
        PddlError: A step with too few or too many arguments.
        UnknownName: An action or an object that the problem does not have.
    """
    scene, takes = _Scene(problem), durations or Durations()
    robots = [name for name, kind in problem.objects.items() if kind == "Robot"]
    placed_by: dict[str, tuple[str, str]] = {}
    looks_for: dict[str, str] = {}
    read = [_words(step, problem, names) for step in steps]
    actions, clock_s = list[Action](), 0.0
    for index, (step, (entry, words)) in enumerate(zip(steps, read, strict=True)):
        verb = Verb(entry.name)
        robot, tool, tray = (words.get(role, "") for role in ("robot", "endEffector", "kitTray"))
        if verb is Verb.PLACE_TRAY:
            placed_by[tray] = robot, tool
        if verb is Verb.CREATE_KIT:
            robot, tool = placed_by.get(tray, (robots[0], ""))
        kit = words.get("kit") or scene.kit_of.get(tray, "")
        if verb is Verb.LOOK_PART:
            looks_for[robot] = kit
        if verb is Verb.SET_GRASP:
            kit = looks_for.get(robot, "")
        place = next((words[role] for role in PLACES if role in words), "")
        table = ""
        if verb is Verb.LOOK_PART:
            place = _later(read[index:], Verb.TAKE_PART, {"robot": robot, "sku": words["sku"]}, "partsVessel")
        elif verb in (Verb.LOOK_SLOT, Verb.PLACE_PART, Verb.REMOVE_PART):
            place = words.get("workTable") or _later(
                read[index:], Verb.PLACE_PART, {"robot": robot, "kit": kit}, "workTable"
            )
            place = kit if kit in scene.fixed else place
        elif verb is Verb.TAKE_TRAY:
            table = _later(read[index:], Verb.PLACE_TRAY, {"kitTray": tray}, "workTable")
        sku = words.get("sku", "")
        if tray and not sku and verb is not Verb.CREATE_KIT:
            sku = problem.pairs("kitTray-has-skuObject-sku").get(tray, "")
        if verb is Verb.PLACE_KIT:
            sku = problem.pairs("kitTray-has-skuObject-sku").get(scene.tray_of.get(kit, ""), "")
        taken_s = takes.of(verb) if step.duration_s is None else step.duration_s
        start_s = clock_s if step.start_s is None else step.start_s
        actions.append(Action(verb, robot, tool, sku, place, kit, table, start_s, taken_s))
        clock_s += taken_s
    return tuple(actions)


def _words(step: PddlStep, problem: Problem, names: Names) -> tuple[PddlAction, dict[str, str]]:
    entry = problem.domain.action(step.name)
    if len(step.arguments) != len(entry.parameters):
        allowed = " ".join(entry.parameters)
        raise PddlError(f"plan: {step.name} has {len(step.arguments)} arguments, not those of ({allowed})")
    return entry, dict(zip(entry.parameters, (names.read(word) for word in step.arguments), strict=True))


def _later(steps: Iterable[tuple[PddlAction, dict[str, str]]], verb: Verb, match: dict[str, str], wanted: str) -> str:
    """An argument of the next step that does something with these objects; empty when there is none."""
    for entry, words in steps:
        if entry.name == verb and all(words.get(role) == name for role, name in match.items()):
            return words[wanted]
    return ""
