"""Preconditions and effects of a step that was bound to particular objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from cellwright.catalogue.seating import FROM_SLOT
from cellwright.execution.failure import FailureKind, StepFailed
from cellwright.execution.manipulator import Manipulator
from cellwright.execution.outcome import Evaluated
from cellwright.execution.predicates import Evaluator, Flag, Truth, effects_of, flags_after, initial_flags, vocabulary
from cellwright.execution.predicates.evaluator import preconditions_of
from cellwright.execution.tray_steps import TRAY_VERBS
from cellwright.planning import Action, Verb

__all__ = ["StepConditions"]

_PLACES = {"WorkTable": "workTable", "LargeBoxWithEmptyKitTrays": "lbwekt", "LargeBoxWithKits": "lbwk"}
PROBABLE = 0.9  # a condition that is so probable is relied on: what follows is checked by hand and eye
When = Literal["precondition", "effect"]


class StepConditions:
    """Preconditions and effects of the steps of one robot.

    Attributes:
        flags: What only the executor knows: what was looked for and found.
    """

    def __init__(self, manipulator: Manipulator, evaluator: Evaluator) -> None:
        self._manipulator = manipulator
        self._evaluator = evaluator
        self.flags: frozenset[Flag] = initial_flags([manipulator.name])

    def forget(self) -> None:
        """Forgets what was found."""
        self.flags = initial_flags([self._manipulator.name])

    def done(self, action: Action, part: str) -> None:
        """Notes what the executor knows after a step."""
        self.flags = flags_after(action.verb, self._bindings(action, part), self.flags)

    def evaluate(self, action: Action, part: str, when: When) -> list[Evaluated]:
        """Evaluates the conditions of a step; those about a tray are left out for a part that lies in none."""
        bindings = self._bindings(action, part, when)
        words, evaluator = vocabulary(), self._evaluator
        wanted: list[tuple[str, bool]] = []
        if when == "precondition":
            wanted = [(name, True) for name in preconditions_of(action.verb)]
        else:
            true, false = effects_of(action.verb)
            wanted = [*((name, True) for name in true), *((name, False) for name in false)]
        found: list[Evaluated] = []  # all of one moment: only the first looks where things are
        for name, positive in wanted:
            if name in words.conditions:
                condition = words.conditions[name]
                if {*condition.parameters, *condition.bound_parameters} <= set(bindings):
                    one = evaluator.count(name, bindings, anew=not found)
                    found.append(Evaluated(name, one.objects, str(one.value), one.evidence, when, one.probability))
                continue
            objects = [bindings.get(parameter, "") for parameter in words.predicate(name).parameters]
            if not all(objects):
                continue
            one = evaluator.evaluate(name, *objects, flags=self.flags, anew=not found)
            value = one.value if positive else ~one.value
            label = name if positive else f"not {name}"
            probability = one.probability if positive else 1.0 - one.probability
            found.append(Evaluated(label, one.objects, str(value), one.evidence, when, probability))
        return found

    def _bindings(self, action: Action, part: str, when: When = "effect") -> Mapping[str, str]:
        believed = self._manipulator.believed
        bound = {"robot": action.robot, "endEffector": action.tool or self._manipulator.tool, "sku": action.sku}
        if action.verb in TRAY_VERBS:
            return bound | self._tray_bindings(action, part, when)
        if part:
            bound["part"] = part
        if action.kit:
            bound["kit"] = action.kit
            table = believed.objects[action.kit].reference if action.kit in believed.objects else None
            if table and believed.objects[table].kind == "WorkTable":
                bound["workTable"] = table
        if action.place in believed.part_sku and (
            not part or part == self._manipulator.held or self._lies_in(part, action.place)
        ):
            bound["partsVessel"] = action.place
        return bound

    def _tray_bindings(self, action: Action, thing: str, when: When) -> dict[str, str]:
        """Returns the bindings of a step with the kit tray or kit `thing`.

        A kit that is only about to be created is nothing yet, and its tray stands on the table as before.
        """
        believed = self._manipulator.believed
        kind = believed.objects[action.place].kind
        bound = {_PLACES[kind]: action.place} if kind in _PLACES else {}
        if action.kit in believed.objects:
            bound["kit"] = action.kit
        tray = believed.tray_of.get(thing, thing)
        if tray and not (action.verb is Verb.CREATE_KIT and when == "effect"):
            bound["kitTray"] = tray
        return bound

    def _lies_in(self, part: str, tray: str) -> bool:
        """Returns whether a part lies in a slot of the tray, rather than across it."""
        believed = self._manipulator.believed
        seen = believed.part(part)
        return any(seen.across_m(slot.position) <= FROM_SLOT.beside_m for slot in believed.slots_of_tray(tray))


def doubtful(evaluated: Iterable[Evaluated]) -> list[Evaluated]:
    """Returns the predicates whose truth is unknown, and not even probable."""
    return [one for one in evaluated if one.value == Truth.UNKNOWN and one.probability < PROBABLE]


def require(evaluated: Iterable[Evaluated], kind: FailureKind, part: str) -> None:
    """Raises StepFailed for the first that is false, then for the first that is unknown and not even probable."""
    rows = list(evaluated)
    for value in (Truth.FALSE, Truth.UNKNOWN):
        for one in rows:
            if one.value == value and (value == Truth.FALSE or one.probability < PROBABLE):
                reason = f"{one.predicate}({', '.join(one.arguments)}) is {one.value}: {one.evidence}"
                raise StepFailed(kind if value == Truth.FALSE else FailureKind.DOUBT, reason, part)
