"""Translation between our plans and plans in PDDL, in the vocabularies of 2012, 2014 and 2016.

Our steps name the tray for every part and leave out what follows from the state; planning files name changing
stations, kit trays and, where parts have names, parts. What is missing on either side is found in the problem.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cellwright.core.errors import BadInput
from cellwright.knowledge.pddl import MAIN_VOCABULARY, Names, PddlAction, PddlError, PddlForm, PddlProblem, PddlStep
from cellwright.planning.actions import Action, Durations, Verb

__all__ = ["ParsedStep", "actions_of", "assemble_actions", "count_taken_parts", "durations_by_name", "steps_of"]

PREDICATES = {
    "2016": {
        "station": "endEffectorHolder-has-physicalLocation-refObject-changingStation",
        "tray": "kit-has-kitTray",
        "table": "kit-has-physicalLocation-refObject-workTable",
        "held tray": "kitTray-has-physicalLocation-refObject-endEffector",
        "held part": "part-has-physicalLocation-refObject-endEffector",
        "in tray": "part-has-physicalLocation-refObject-partsTray",
        "in kit": "part-has-physicalLocation-refObject-kit",
    },
    "2012": {
        "station": "endeffectorholder-location",
        "tray": "kit-made-of-kittray",
        "table": "kit-location-worktable",
        "held tray": "kittray-location-robot",
        "held part": "part-location-robot",
        "in tray": "part-location-partstray",
        "in kit": "part-location-kit",
    },
}
PREDICATES["2014"] = PREDICATES["2016"]
IMPLIED = (Verb.SET_GRASP, Verb.LOOK_SLOT)
"""Steps that older vocabularies do not have, and that need not be named: the robot takes them by itself."""
PLACES = ("endEffectorHolder", "partsVessel", "lbwekt", "workTable", "lbwk")


def durations_by_name(durations: Durations) -> dict[str, float]:
    """Returns action -> seconds, as planning files want them."""
    return {verb.value: durations.of(verb) for verb in Verb}


@dataclass
class _Scene:
    """The facts of a problem that a plan's steps only imply."""

    problem: PddlProblem
    words: Mapping[str, str] = field(init=False)
    station_of: dict[str, str] = field(init=False)
    tray_of: dict[str, str] = field(init=False)
    kit_of: dict[str, str] = field(init=False)
    table_of: dict[str, str] = field(init=False)
    zone_of: dict[str, str] = field(init=False)
    fixed: set[str] = field(init=False)

    def __post_init__(self) -> None:
        domain = self.problem.domain
        if domain.form is PddlForm.CLASSICAL:
            raise BadInput(f"steps of {domain.name} cannot be translated: use a form that is numeric or temporal")
        self.words = PREDICATES[domain.vocabulary]
        pairs = self.problem.pairs
        self.station_of = pairs(self.words["station"])
        self.tray_of = pairs(self.words["tray"])
        self.kit_of = {tray: kit for kit, tray in self.tray_of.items()}
        self.table_of = pairs(self.words["table"])
        self.zone_of = pairs("place-is-in-zone")
        self.fixed = {atom.arguments[0] for atom in self.problem.relations if atom.name == "kit-is-stationary"}


class _Parts:
    """The part that a step is about, where parts have names: the next one of the tray, until it is set down."""

    def __init__(self, problem: PddlProblem, words: Mapping[str, str]) -> None:
        self._in_tray: dict[str, list[str]] = {}
        for part, tray in problem.pairs(words["in tray"]).items():
            self._in_tray.setdefault(tray, []).append(part)
        self._in_kit = problem.pairs(words["in kit"])
        self._sku_of = problem.pairs("part-has-skuObject-sku")
        self._held_by = {hand: part for part, hand in problem.pairs(words["held part"]).items()}
        self._of: dict[str, str] = {}

    def of(self, action: Action) -> str:
        if action.verb is Verb.LOOK_PART:
            if not self._in_tray.get(action.place):
                raise PddlError(f"plan: {action} finds no part in {action.place}")
            self._of[action.robot] = self._in_tray[action.place].pop(0)
        if action.verb is Verb.REMOVE_PART:
            inside = (p for p, kit in self._in_kit.items() if kit == action.kit and self._sku_of[p] == action.sku)
            self._of[action.robot] = next(inside, "")
        return self._of.get(action.robot) or self._held_by.get(action.tool) or self._held_by.get(action.robot, "")

    def set_down(self, action: Action) -> None:
        part = self.of(action)
        self._of.pop(action.robot, None)
        for hand in (action.tool, action.robot):
            if self._held_by.get(hand) == part:
                del self._held_by[hand]
        if action.verb is Verb.RETURN_PART:
            self._in_tray.setdefault(action.place, []).append(part)


def count_taken_parts(actions: Iterable[Action]) -> Counter[tuple[str, str]]:
    """Returns kit and parts tray -> the number of parts that a plan takes for it there."""
    taken, origin = Counter[tuple[str, str]](), dict[str, str]()
    for action in sorted(actions, key=lambda action: action.start_s):
        if action.verb is Verb.TAKE_PART:
            origin[action.robot] = action.place
        elif action.verb is Verb.PLACE_PART and action.robot in origin:
            taken[action.kit, origin.pop(action.robot)] += 1
    return taken


def steps_of(actions: Iterable[Action], problem: PddlProblem, *, epsilon_s: float = 0.0) -> list[PddlStep]:
    """Returns a plan of ours in the vocabulary of a problem.

    Args:
        actions: The plan.
        problem: In the numeric or the temporal form.
        epsilon_s: In the temporal form the plan's steps are moved apart by this much: planning files do not let one
            action use at an instant what another gives at that instant.
    """
    scene = _Scene(problem)
    parts = _Parts(problem, scene.words)
    named = problem.domain.parts.value == "named"
    timed = problem.domain.form is PddlForm.TEMPORAL
    held = {hand: tray for tray, hand in problem.pairs(scene.words["held tray"]).items()}
    origin = {hand: vessel for vessel, hand in problem.pairs(scene.words["held part"]).items()}
    entries = {entry.verb: entry for entry in problem.domain.actions}
    table_of = dict(scene.table_of)
    steps = []
    for number, action in enumerate(sorted(actions, key=lambda action: action.start_s)):
        entry = entries.get(action.verb)
        if entry is None:
            if action.verb in IMPLIED:
                continue
            raise PddlError(f"plan: the words of {problem.domain.vocabulary} have none for {action.verb}")
        if action.verb is Verb.TAKE_PART:
            origin[action.robot] = action.place
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
        if action.verb is not Verb.PLACE_TRAY and action.verb is not Verb.CREATE_KIT:
            words["workTable"] = action.table or table_of.get(action.kit, action.place)
        if action.verb is Verb.PLACE_PART:  # which tray it came from; where parts have names, the part knows
            words["partsVessel"] = origin.get(action.robot, "")
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
    steps: Sequence[PddlStep], problem: PddlProblem, names: Names, durations: Durations | None = None
) -> tuple[Action, ...]:
    """Returns a planner's plan as ours; steps without times follow one another.

    Raises:
        PddlError: A step with too few or too many arguments.
        UnknownName: An action or an object that the problem does not have.
    """
    if problem.domain.vocabulary != MAIN_VOCABULARY:
        raise BadInput(f"steps of {problem.domain.name} cannot be read back: use the vocabulary {MAIN_VOCABULARY}")
    scene = _Scene(problem)
    robots = [name for name, kind in problem.objects.items() if kind == "Robot"]
    skus = problem.pairs("kitTray-has-skuObject-sku")
    read = [
        ParsedStep(Verb(entry.name), words, step) for step in steps for entry, words in [_words(step, problem, names)]
    ]
    return assemble_actions(read, scene.tray_of, skus, scene.fixed, robots[0], durations)


class ParsedStep(NamedTuple):
    """A step with its objects by role: `robot`, `endEffector`, `kit`, `partsVessel` and so on."""

    verb: Verb
    words: Mapping[str, str]
    step: PddlStep


def assemble_actions(
    read: Sequence[ParsedStep],
    tray_of: Mapping[str, str],
    tray_skus: Mapping[str, str],
    fixed: Collection[str],
    first_robot: str,
    durations: Durations | None = None,
) -> tuple[Action, ...]:
    """Returns the steps as ours: what a step only implies is found in those before and after it.

    Args:
        read: The steps.
        tray_of: Kit -> its kit tray.
        tray_skus: Kit tray -> its SKU.
        fixed: Kits that stay where they are.
        first_robot: The robot that creates a kit whose tray no step has placed.
        durations: The duration of each step, where the plan does not say.
    """
    takes, kit_of = durations or Durations(), {tray: kit for kit, tray in tray_of.items()}
    placed_by: dict[str, tuple[str, str]] = {}
    looks_for: dict[str, str] = {}
    actions, clock_s = list[Action](), 0.0
    for index, (verb, words, step) in enumerate(read):
        robot, tool, tray = (words.get(role, "") for role in ("robot", "endEffector", "kitTray"))
        if verb is Verb.PLACE_TRAY:
            placed_by[tray] = robot, tool
        if verb is Verb.CREATE_KIT:
            robot, tool = placed_by.get(tray, (first_robot, ""))
        kit = words.get("kit") or kit_of.get(tray, "")
        if verb is Verb.LOOK_PART:
            looks_for[robot] = kit
        if verb is Verb.SET_GRASP:
            kit = looks_for.get(robot, "")
        place = "" if verb is Verb.SET_GRASP else next((words[role] for role in PLACES if role in words), "")
        table = ""
        if verb is Verb.LOOK_PART:
            wanted = {"robot": robot, "sku": words["sku"]}
            place = words.get("partsVessel") or _later(read[index:], Verb.TAKE_PART, wanted, "partsVessel")
        elif verb in (Verb.LOOK_SLOT, Verb.PLACE_PART, Verb.REMOVE_PART):
            place = words.get("workTable") or _later(
                read[index:], Verb.PLACE_PART, {"robot": robot, "kit": kit}, "workTable"
            )
            place = kit if kit in fixed else place
        elif verb is Verb.TAKE_TRAY:
            table = _later(read[index:], Verb.PLACE_TRAY, {"kitTray": tray}, "workTable")
        sku = words.get("sku", "")
        if tray and not sku and verb is not Verb.CREATE_KIT:
            sku = tray_skus.get(tray, "")
        if verb in (Verb.TAKE_KIT, Verb.PLACE_KIT):
            sku = sku or tray_skus.get(tray_of.get(kit, ""), "")
        taken_s = takes.of(verb) if step.duration_s is None else step.duration_s
        start_s = clock_s if step.start_s is None else step.start_s
        where = {"place": place, "kit": kit, "table": table}
        actions.append(Action(verb, robot, tool, sku, **where, start_s=start_s, duration_s=taken_s))
        clock_s += taken_s
    return tuple(actions)


def _words(step: PddlStep, problem: PddlProblem, names: Names) -> tuple[PddlAction, dict[str, str]]:
    entry = problem.domain.action(step.name)
    if len(step.arguments) != len(entry.parameters):
        allowed = " ".join(entry.parameters)
        raise PddlError(f"plan: {step.name} has {len(step.arguments)} arguments, not those of ({allowed})")
    return entry, dict(zip(entry.parameters, (names.read(word) for word in step.arguments), strict=True))


def _later(steps: Iterable[ParsedStep], verb: Verb, match: dict[str, str], wanted: str) -> str:
    """Returns an argument of the next step that does something with these objects; empty when there is none."""
    for parsed in steps:
        if parsed.verb is verb and all(parsed.words.get(role) == name for role, name in match.items()):
            return parsed.words.get(wanted, "")
    return ""
