"""External plan files as steps of ours: in the forms of 2012, 2014 and 2016, by the classes of their arguments.

The published forms differ in their actions' names and arguments, and in what they only imply. So nothing here goes by
the place of an argument: an object's name says what it is, and what is missing follows from the steps around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cellwright.core.errors import BadInput, UnknownName
from cellwright.knowledge import BeliefState
from cellwright.knowledge.pddl import PddlStep
from cellwright.planning.actions import Action, Durations, Verb
from cellwright.planning.pddl_steps import ParsedStep, assemble_actions

__all__ = ["ExternalPlan", "translate_plan"]

OLDER = {
    "remove-endeffector": Verb.DETACH,
    "put-kittray": Verb.PLACE_TRAY,
    "put-part": Verb.PLACE_PART,
    "put-kit": Verb.PLACE_KIT,
}
"""The names of actions in 2012, where they differ by more than capitals."""
VERBS = {verb.value.lower(): verb for verb in Verb} | OLDER
KINDS = {
    "Robot": "robot",
    "Kit": "kit",
    "KitTray": "kitTray",
    "PartsTray": "partsVessel",
    "PartsBin": "partsVessel",
    "Part": "part",
    "WorkTable": "workTable",
    "EndEffectorHolder": "endEffectorHolder",
    "EndEffectorChangingStation": "changingStation",
    "LargeBoxWithEmptyKitTrays": "lbwekt",
    "LargeBoxWithKits": "lbwk",
}
OF_PARTS = (
    Verb.LOOK_PART, Verb.SET_GRASP, Verb.TAKE_PART, Verb.LOOK_SLOT, Verb.PLACE_PART, Verb.RETURN_PART, Verb.REMOVE_PART,
)  # fmt: skip
NEEDS = {
    Verb.ATTACH: ("robot", "endEffector", "endEffectorHolder"),
    Verb.DETACH: ("robot", "endEffector", "endEffectorHolder"),
    Verb.TAKE_TRAY: ("robot", "lbwekt"),
    Verb.PLACE_TRAY: ("robot", "workTable"),
    Verb.RETURN_TRAY: ("robot", "lbwekt"),
    Verb.CREATE_KIT: ("kit", "workTable"),
    Verb.LOOK_PART: ("robot", "sku"),
    Verb.SET_GRASP: ("robot", "sku"),
    Verb.TAKE_PART: ("robot", "sku", "partsVessel"),
    Verb.RETURN_PART: ("robot", "partsVessel"),
    Verb.REMOVE_PART: ("robot", "sku", "kit"),
    Verb.LOOK_SLOT: ("robot", "kit"),
    Verb.PLACE_PART: ("robot", "kit"),
    Verb.TAKE_KIT: ("robot", "kit"),
    Verb.PLACE_KIT: ("robot", "kit", "lbwk"),
}
"""What each step must name; tools, stations and trays follow from the state."""


@dataclass(frozen=True)
class ExternalPlan:
    """A plan that another program made.

    Attributes:
        where: The name of its file.
        steps: Line and step.
        renamed: Name in the plan -> name in the cell.
    """

    where: str
    steps: tuple[tuple[int, PddlStep], ...]
    renamed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses another name for what the plan does not name."""
        mentioned = {word for _, step in self.steps for word in step.arguments}
        for old, new in self.renamed.items():
            if old not in mentioned:
                raise UnknownName(f"name in {self.where}", old, mentioned, f"--rename {old}={new}")

    def kits(self, believed: BeliefState) -> list[str]:
        """Returns the kits of the cell that it names."""
        words = [self.renamed.get(word, word).lower() for _, step in self.steps for word in step.arguments]
        return [thing.name for thing in believed.of_kind("Kit") if thing.name.lower() in words]

    def new_kits(self, believed: BeliefState) -> list[str]:
        """Returns the kits that it makes, in the order in which it does."""
        made = [step.arguments[0] for _, step in self.steps if step.name.lower() == "create-kit" and step.arguments]
        known = {thing.name.lower() for thing in believed.of_kind("Kit")}
        return [kit.lower() for kit in dict.fromkeys(made) if kit.lower() not in known]


def translate_plan(
    plan: ExternalPlan, believed: BeliefState, kits: Sequence[str] = (), durations: Durations | None = None
) -> tuple[Action, ...]:
    """Returns the steps as ours; which part of a kind is taken is decided when the robot looks for it.

    Args:
        plan: The external plan.
        believed: The belief.
        kits: The names of new kits here, in the order in which the plan makes them.
        durations: The duration of each step.

    Raises:
        BadInput: A step that is none, or that names nothing of the cell where it must.
    """
    return _Reader(plan, believed, kits).actions(durations)


class _Reader:
    def __init__(self, plan: ExternalPlan, believed: BeliefState, kits: Sequence[str]) -> None:
        self.plan = plan
        self.believed = believed
        self.new = dict(zip(plan.new_kits(believed), kits, strict=False))
        self.tools = {*believed.handles, *believed.tool_of.values()}
        self.skus = {
            *believed.part_sku.values(),
            *(thing.sku for thing in believed.objects.values() if thing.sku),
            *(sku for design in believed.relations.designs.values() for sku in (design.tray_sku, *design.parts)),
        }
        self.names = {name.lower(): name for name in (*believed.objects, *self.tools, *self.skus)}
        self.tray_of = dict(believed.tray_of)
        self.kit_of: dict[str, str] = {}
        self.table_of = {kit: believed.objects[kit].reference or "" for kit in self.tray_of if kit in believed.objects}
        self._check_renamed()
        for _, step in plan.steps:
            if step.name.lower() == "create-kit" and len(step.arguments) == 3:
                kit, tray, table = (self._known(word) for word in step.arguments)
                self.tray_of[kit], self.kit_of[tray], self.table_of[kit] = tray, kit, table

    def _check_renamed(self) -> None:
        """Refuses another name that is one of nothing in the cell."""
        for old, new in self.plan.renamed.items():
            if new.lower() not in self.names:
                raise UnknownName("name in the cell", new, self.names.values(), f"--rename {old}={new}")

    def _known(self, word: str) -> str:
        word = self.plan.renamed.get(word, word)
        return self.new.get(word.lower()) or self.names.get(word.lower()) or word.lower()

    def _role(self, name: str) -> str:
        if name in self.new.values() or name in self.tray_of:
            return "kit"
        if name in self.kit_of:
            return "kitTray"
        if name in self.tools:
            return "endEffector"
        if name in self.skus:
            return "sku"
        thing = self.believed.objects.get(name)
        return KINDS.get(thing.kind, "") if thing is not None else ""

    def actions(self, durations: Durations | None) -> tuple[Action, ...]:
        tool_of = dict(self.believed.tool_of)
        looked, grasped, slotted = set[str](), set[str](), set[str]()
        read = list[ParsedStep]()
        for index, (line, step) in enumerate(self.plan.steps):
            verb = self._verb(line, step)
            words = self._words(index, verb, line, step)
            robot = words.get("robot", "")
            words.setdefault("endEffector", tool_of.get(robot, ""))
            if verb is Verb.ATTACH:
                tool_of[robot] = words["endEffector"]
            if verb is Verb.DETACH:
                tool_of.pop(robot, None)
            if verb is Verb.TAKE_PART:
                read += (
                    [ParsedStep(Verb.LOOK_PART, words, PddlStep("", (), step.start_s))] if robot not in looked else []
                )
                read += (
                    [ParsedStep(Verb.SET_GRASP, words, PddlStep("", (), step.start_s))] if robot not in grasped else []
                )
            if verb is Verb.PLACE_PART and robot not in slotted:
                read.append(ParsedStep(Verb.LOOK_SLOT, words, PddlStep("", (), step.start_s)))
            read.append(ParsedStep(verb, words, step))
            for found, begins, ends in (
                (looked, Verb.LOOK_PART, Verb.TAKE_PART),
                (grasped, Verb.SET_GRASP, Verb.TAKE_PART),
                (slotted, Verb.LOOK_SLOT, Verb.PLACE_PART),
            ):
                if verb is begins:
                    found.add(robot)
                if verb is ends:
                    found.discard(robot)
        trays = self.believed.of_kind("KitTray")
        skus = {tray.name: tray.sku for tray in trays}
        for parsed in read:  # a tray that the plan calls otherwise is one of the box that it comes from
            if parsed.verb is Verb.TAKE_TRAY and parsed.words.get("kitTray"):
                inside = [tray.sku for tray in trays if tray.reference == parsed.words["lbwekt"]]
                skus.setdefault(parsed.words["kitTray"], inside[0] if inside else "")
        robots = [thing.name for thing in self.believed.of_kind("Robot")]
        return assemble_actions(
            read, self.tray_of, skus, self.believed.stationary, robots[0] if robots else "", durations
        )

    def _verb(self, line: int, step: PddlStep) -> Verb:
        name = step.name.lower().replace("endeffectector", "endeffector")
        if name not in VERBS:
            raise UnknownName("action", step.name, VERBS, f"{self.plan.where}, line {line}")
        return VERBS[name]

    def _words(self, index: int, verb: Verb, line: int, step: PddlStep) -> dict[str, str]:
        words: dict[str, str] = {}
        for word in step.arguments:
            name = self._known(word)
            role = self._role(name)
            if role == "sku" and verb in OF_PARTS and name not in self.believed.part_sku.values() and "sku" in words:
                continue  # the tray's kind, beside the part's
            if role:
                words.setdefault(role, name)
        if verb in OF_PARTS:
            self._complete(index, words)
        for role in NEEDS[verb]:
            if not words.get(role):
                text = " ".join([step.name, *step.arguments])
                available = self._available(role)
                unknown = [word for word in step.arguments if not self._role(self._known(word))]
                remedy = (
                    f"; say what is meant, as in --rename {unknown[0]}={available[0]}" if unknown and available else ""
                )
                raise BadInput(
                    f"{self.plan.where}, line {line}: ({text}) names no {role} of the cell (available: "
                    f"{', '.join(available[:12]) or 'none'}){remedy}"
                )
        return words

    def _complete(self, index: int, words: dict[str, str]) -> None:
        """Adds what older forms imply about a part: its kind, the kit that it is for, the table that this is on."""
        part = words.get("part", "")
        sku = self.believed.objects[part].sku if part else ""
        sku = sku or words.get("sku", "") or self.believed.part_sku.get(words.get("partsVessel", ""), "")
        if sku:
            words["sku"] = sku
        robot = words.get("robot", "")
        for _, later in self.plan.steps[index:] if "kit" not in words else ():
            names = [self._known(word) for word in later.arguments]
            if robot in names and VERBS.get(later.name.lower()) is Verb.PLACE_PART:
                kit = next((name for name in names if self._role(name) == "kit"), "")
                if kit:
                    words["kit"] = kit
                break
        if words.get("kit") in self.table_of:
            words["workTable"] = self.table_of[words["kit"]]

    def _available(self, role: str) -> list[str]:
        return sorted(name for name in (*self.believed.objects, *self.tools, *self.skus) if self._role(name) == role)
