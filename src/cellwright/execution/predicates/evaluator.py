"""Predicates of the ontology on what is sensed: true, false or unknown, each with its evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from cellwright.core.errors import BadInput
from cellwright.execution.predicates.counts import Counts, compare, counted
from cellwright.execution.predicates.relations import Relations, SeatRelation
from cellwright.execution.predicates.sensed import PredicateSettings, SensedState
from cellwright.execution.predicates.truth import Evaluation, Likely, Truth, any_likely
from cellwright.execution.predicates.vocabulary import ActionDefinition, Condition, Predicate, vocabulary
from cellwright.knowledge import Unknown

__all__ = ["Evaluator", "Flag", "Flags", "effects_of", "flags_after", "initial_flags", "preconditions_of"]

Flag = tuple[str, ...]
"""A predicate that only the executor knows, and the objects it is about: `("part-is-found", "gear_1", "fanuc")`."""
Flags = Collection[Flag]


def preconditions_of(action: str) -> tuple[str, ...]:
    """Returns the predicates and counts that must hold before an action, by the ontology."""
    wanted = vocabulary().action(action)
    return (*wanted.preconditions, *wanted.numeric_preconditions)


def effects_of(action: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the predicates that are true and those that are false after an action."""
    wanted = vocabulary().action(action)
    return wanted.positive_effects, wanted.negative_effects


def initial_flags(robots: Collection[str]) -> frozenset[Flag]:
    """Returns the executor's flags before it has done anything: no robot has found anything."""
    words = vocabulary()
    used = {name for action in words.actions.values() for name in (*action.preconditions, *action.positive_effects)}
    known = [name for name in sorted(used) if words.predicate(name).is_flag and words.predicate(name).path == "."]
    return frozenset((name, robot) for name in known for robot in robots)


def flags_after(action: str, bindings: Mapping[str, str], flags: Flags) -> frozenset[Flag]:
    """Returns the executor's flags after an action."""
    words = vocabulary()
    wanted = words.action(action)

    def bound(names: tuple[str, ...]) -> set[Flag]:
        return {
            (name, *_bound(words.predicate(name), wanted, bindings)) for name in names if words.predicate(name).is_flag
        }

    return (frozenset(flags) - bound(wanted.negative_effects)) | bound(wanted.positive_effects)


class Evaluator:
    """Evaluates predicates, counts and whole actions.

    Args:
        sensed: The cell as it is sensed.
        settings: Tolerances.
    """

    def __init__(self, sensed: SensedState, settings: PredicateSettings | None = None) -> None:
        self.sensed = sensed
        self.settings = settings or PredicateSettings()
        self.words = vocabulary()
        self.relations = Relations(sensed, self.settings, self.words)

    def evaluate(
        self, predicate: str, first: str, second: str | None = None, *, flags: Flags = (), anew: bool = True
    ) -> Evaluation:
        """Returns one predicate about one or two objects.

        Args:
            predicate: Its name.
            first: What it is about.
            second: For one about two objects.
            flags: What the executor knows.
            anew: Asks where things are now; without, where they were when it was last asked: several predicates of
                one moment share what they look up.

        Raises:
            UnknownName: There is no such predicate.
            BadInput: It is about another number of objects.
        """
        if anew:
            self.relations.reset()
        return self._evaluate(predicate, (first,) if second is None else (first, second), flags)

    def _evaluate(self, predicate: str, objects: tuple[str, ...], flags: Flags) -> Evaluation:
        wanted = self.words.predicate(predicate)
        if len(objects) != len(wanted.parameters):
            raise BadInput(f"{predicate} is about {len(wanted.parameters)} objects, not {len(objects)}")
        if wanted.is_flag:
            known = (predicate, *objects) in flags
            noted = "noted by the executor" if known else "not noted"
            return Evaluation(predicate, objects, Truth.of(known), noted, float(known))
        found, evidence = self._spatial(wanted, objects) if wanted.spatial else self._stored(wanted, objects)
        return Evaluation(predicate, objects, found.value, evidence, found.probability)

    def relation(self, name: str, first: str, second: str) -> Evaluation:
        """Returns one spatial relation, such as `OnTopWithContact`, between two objects."""
        self.relations.reset()
        doubt = self.relations.doubt(first) or self.relations.doubt(second)
        if doubt:
            return Evaluation(name, (first, second), Truth.UNKNOWN, doubt, 0.5)
        value, probability = self.relations.likely(name, first, second)
        return Evaluation(name, (first, second), value, self.relations.tell(first, second, name), probability)

    def seat(self, part: str, holder: str) -> SeatRelation | None:
        """Returns the relation of a part to the nearest slot of a tray or kit."""
        self.relations.reset()
        return self.relations.seat(part, holder)

    def evaluate_action(
        self,
        action: str,
        bindings: Mapping[str, str],
        when: Literal["precondition", "effect"],
        *,
        flags: Flags = (),
    ) -> list[Evaluation]:
        """Evaluates all preconditions, or all effects, of an action.

        Args:
            action: By its name of 2016, such as `take-part`.
            bindings: Parameter type of the ontology -> object, such as `{"part": "medium_gear_3"}`.
            when: Before or after.
            flags: What the executor knows at that moment.
        """
        self.relations.reset()
        wanted = self.words.action(action)
        if when == "precondition":
            found = [self._bound(wanted, name, bindings, flags) for name in wanted.preconditions]
            return found + [self._count(name, bindings) for name in wanted.numeric_preconditions]
        found = [self._bound(wanted, name, bindings, flags) for name in wanted.positive_effects]
        for name in wanted.negative_effects:
            one = self._bound(wanted, name, bindings, flags)
            found.append(Evaluation(f"not {name}", one.objects, ~one.value, one.evidence, 1.0 - one.probability))
        return found

    def _bound(self, action: ActionDefinition, name: str, bindings: Mapping[str, str], flags: Flags) -> Evaluation:
        return self._evaluate(name, tuple(_bound(self.words.predicate(name), action, bindings)), flags)

    # ------------------------------------------------------------ where things are

    def _spatial(self, predicate: Predicate, objects: tuple[str, ...]) -> tuple[Likely, str]:
        subject = objects[predicate.subject]
        for name in objects:
            doubt = self.relations.doubt(name)
            if doubt:
                return Likely(Truth.UNKNOWN, 0.5), doubt
        found, evidence = Likely(Truth.TRUE, 1.0), f"nothing else is there, {self.relations.seen(subject)}"
        if predicate.holds_when:
            other = objects[1 - predicate.subject]
            found = any_likely(self.relations.likely(name, subject, other) for name in predicate.holds_when)
            evidence = self.relations.tell(subject, other, predicate.holds_when[-1])
            if found.value is Truth.UNKNOWN and self._is_only_candidate_felt(predicate.holds_when[-1], subject, other):
                found, evidence = Likely.of(Truth.TRUE), f"{evidence}; {other} feels it: nothing else is near"
        if predicate.unless_any is None or found.value is Truth.FALSE:
            return found, evidence
        return self._unless(predicate, objects, found, evidence)

    def _unless(
        self, predicate: Predicate, objects: tuple[str, ...], holds: Likely, evidence: str
    ) -> tuple[Likely, str]:
        """Checks that no further object stands in the relation to the subject; unseen objects are where they were last.

        Objects without extent, such as the workstation itself, do not count.
        """
        subject, relation = objects[predicate.subject], predicate.unless_any
        assert relation is not None
        counted = self.words.below[predicate.unless_class] if predicate.unless_class else None
        doubtful, others = "", 1.0
        for name in self.sensed.names():
            if name in objects or (counted is not None and self.sensed.kind(name) not in counted):
                continue
            found, probability = self.relations.likely(relation, name, subject)
            if found is Truth.TRUE:
                return Likely.of(Truth.FALSE, 1.0 - probability), self.relations.tell(name, subject, relation)
            is_known = found is not Truth.UNKNOWN or self.relations.is_known(name)
            others *= 1.0 - probability if is_known else 1.0
            if found is Truth.UNKNOWN and not doubtful and is_known:
                doubtful = f"it cannot be told whether {self.relations.tell(name, subject, relation)}"
        tool = self.sensed.tool(subject)
        if doubtful:
            felt = tool is not None and tool.holding and subject != tool.robot and not predicate.holds_when
            return Likely.of(Truth.FALSE if felt else Truth.UNKNOWN, holds.probability * others), doubtful
        if tool is not None and subject != tool.robot and not predicate.holds_when:
            apart = f"{1000 * tool.width_m:.1f} mm apart, {self.relations.seen(subject)}"
            if tool.holding:
                unseen = f"{subject} feels something that is not seen between its fingers, {apart}"
                return Likely.of(Truth.UNKNOWN), unseen
            return holds, f"{subject} feels nothing between its fingers, {apart}"
        return Likely.of(holds.value, holds.probability * others), evidence

    def _is_only_candidate_felt(self, relation: str, subject: str, other: str) -> bool:
        """Returns whether the fingers feel something as wide as the object's handle that can be no other object.

        A part that has slipped down hangs by the end of its peg: by sight alone it cannot be told that it is held.
        """
        tool, width_m = self.sensed.tool(other), self.relations.handle_width_m(subject)
        if tool is None or not tool.holding or other == tool.robot or width_m is None:
            return False
        if abs(tool.width_m - width_m) > self.settings.touch_m:
            return False
        others = [name for name in self.sensed.names() if name not in (subject, other)]
        known = [name for name in others if self.relations.is_known(name)]
        return all(self.relations.holds(relation, name, other) is Truth.FALSE for name in known)

    # ------------------------------------------------------------ what is stored, and counted

    def _stored(self, predicate: Predicate, objects: tuple[str, ...]) -> tuple[Likely, str]:
        assert predicate.path is not None
        ends = self.sensed.related(predicate.path, objects[0])
        if len(objects) == 1:
            return _sure(bool(ends)), f"the database says {'so' if ends else 'not so'} of {objects[0]}"
        listed = ", ".join(sorted(ends)[:3]) or "nothing"
        return _sure(objects[1] in ends), f"the database has {listed} for {objects[0]}"

    def count(self, condition: str, bindings: Mapping[str, str], *, anew: bool = True) -> Evaluation:
        """Returns a comparison of counts: what is seen where, and what is wanted there."""
        if anew:
            self.relations.reset()
        return self._count(condition, bindings)

    def _count(self, condition: str, bindings: Mapping[str, str]) -> Evaluation:
        wanted: Condition = self.words.conditions[condition]
        names = tuple(bindings[parameter] for parameter in wanted.parameters)
        counts = self._measure(wanted.measure, bindings)
        bounds = {int(wanted.bound): 1.0}
        if wanted.bound_measure is not None:
            bounds = self._measure(wanted.bound_measure, bindings)
        value, probability = compare(wanted.comparison, counts, bounds)
        (least, most), (low, high) = ((min(numbers), max(numbers)) for numbers in (counts, bounds))
        shown = f"{least:g}" if least == most else f"{least:g} to {most:g}"
        bound = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        evidence = f"{wanted.measure} is {shown}, to be {wanted.comparison} {bound}"
        return Evaluation(condition, names, value, evidence, probability)

    def _measure(self, measure: str, of: Mapping[str, str]) -> Counts:
        """Returns what a count can be, from what is certain and what is possible, with probabilities."""
        sensed = self.sensed
        if measure == "partsWanted":
            number = sensed.wanted(of["kit"]).get(of["sku"], 0)
            return {number: 1.0}
        if measure == "allPartsWanted":
            number = sum(sensed.wanted(of["kit"]).values())
            return {number: 1.0}
        if measure == "vesselCapacity":
            number = self.relations.rooms(of["partsVessel"])
            return {number: 1.0}
        if measure == "boxCapacity":
            capacity = sensed.capacity(of["lbwk"])
            number = 0 if isinstance(capacity, Unknown) else capacity
            return {number: 1.0}
        predicate, holder, kind = _COUNTED[measure]
        skus = {of["sku"]} if measure == "partsInKit" else None
        return self._inside(self.words.predicate(predicate), of[holder], self.words.below[kind], skus)

    def _inside(
        self, predicate: Predicate, holder: str, kinds: Collection[str], skus: Collection[str] | None
    ) -> Counts:
        counts: Counts = {0: 1.0}
        for name in self.sensed.names():
            if self.sensed.kind(name) not in kinds or (skus is not None and self.sensed.sku(name) not in skus):
                continue
            found = any_likely(self.relations.likely(relation, name, holder) for relation in predicate.holds_when)
            if found.value is Truth.TRUE and self.relations.doubt(name):
                found = Likely.of(Truth.UNKNOWN)
            counts = counted(counts, found)
        return counts


_COUNTED: Mapping[str, tuple[str, str, str]] = {
    "partsInVessel": ("part-has-physicalLocation-refObject-partsTray", "partsVessel", "Part"),
    "partsInKit": ("part-has-physicalLocation-refObject-kit", "kit", "Part"),
    "allPartsInKit": ("part-has-physicalLocation-refObject-kit", "kit", "Part"),
    "traysInBox": ("kitTray-has-physicalLocation-refObject-lbwekt", "lbwekt", "KitTray"),
    "kitsInBox": ("kit-has-physicalLocation-refObject-lbwk", "lbwk", "Kit"),
}
"""Measure -> the predicate that says what is counted, the parameter that holds it, and the class of what is held."""


def _sure(value: bool) -> Likely:
    return Likely(Truth.of(value), float(value))


def _bound(predicate: Predicate, action: ActionDefinition, bindings: Mapping[str, str]) -> list[str]:
    missing = [parameter for parameter in predicate.parameters if parameter not in bindings]
    if missing:
        needed = ", ".join(action.parameters)
        raise BadInput(f"{action.name}: no object is given for '{missing[0]}' of {predicate.name}; needed: {needed}")
    return [bindings[parameter] for parameter in predicate.parameters]
