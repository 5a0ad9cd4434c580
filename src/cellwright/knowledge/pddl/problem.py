"""The problem: what is believed and what the orders want, in the vocabulary of a domain."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise, product

from cellwright.core.errors import BadInput
from cellwright.knowledge.belief_state import BeliefState, belief_state_of
from cellwright.knowledge.cell_relations import CellRelations
from cellwright.knowledge.database import Database
from cellwright.knowledge.path_resolver import PathResolver
from cellwright.knowledge.pddl.classical import LEVEL, NEXT, ZERO
from cellwright.knowledge.pddl.counts import Counts
from cellwright.knowledge.pddl.domain import REACH, lower
from cellwright.knowledge.pddl.goal_kits import GoalKit, add_wanted_kits
from cellwright.knowledge.pddl.model import (
    Atom,
    Compare,
    LevelPredicate,
    Parts,
    PddlDomain,
    PddlForm,
    PddlProblem,
    Symbol,
)
from cellwright.knowledge.pddl.part_placeholders import replace_parts, supply_missing_vessels
from cellwright.knowledge.pddl.temporal import FREE, IDLE, IN_ZONE
from cellwright.knowledge.planning_ontology import PlanningOntology
from cellwright.knowledge.reach import reached_places
from cellwright.knowledge.world_model import WorldModel
from cellwright.orders import KitDesign, Order

__all__ = ["build_problem"]

PLENTY = "level_plenty"


def build_problem(
    source: BeliefState | WorldModel | Database,
    orders: Sequence[Order],
    domain: PddlDomain,
    *,
    without: Collection[str] = (),
    kits: Sequence[tuple[str, KitDesign]] | None = None,
    taken: Mapping[tuple[str, str], int] | None = None,
    ontology: PlanningOntology | None = None,
    name: str = "",
) -> PddlProblem:
    """Returns the problem of finishing the orders from what is believed, whatever state that is.

    Args:
        source: The belief about one workstation.
        orders: The orders, in all: kits that are there count.
        domain: The domain, with its vocabulary.
        without: Objects that are left out, such as a robot out of service.
        kits: Names and designs of the wanted kits, where it is decided already which serve the orders.
        taken: Kit and parts vessel -> how many parts a plan takes for it there; decides which vessels a kit counts by.
        ontology: The one of the domain.
        name: Of the problem; by default made of the orders' names.

    Raises:
        BadInput: No order, or a cell without a robot.
    """
    if not orders:
        raise BadInput("planning files: nothing to plan; give at least one order")
    state = belief_state_of(source, ontology, supply=domain.parts is Parts.NAMED)
    left_out, relations = set(without), state.relations
    if domain.parts is not Parts.NAMED:  # parts in vessels are counted there
        vessels = set(relations.of_class("PartsVessel"))
        left_out |= {part.name for part in state.of_kind("Part") if part.reference in vessels}
    relations = relations.without(left_out)
    objects = (state.objects[name] for name in relations.of_class("SolidObject"))
    relations.links["reach"] = reached_places(objects, state.tree, relations.boxes)
    return _Builder(relations, orders, domain, name, kits, taken).problem


class _Builder:
    def __init__(
        self,
        relations: CellRelations,
        orders: Sequence[Order],
        domain: PddlDomain,
        name: str,
        kits: Sequence[tuple[str, KitDesign]] | None,
        taken: Mapping[tuple[str, str], int] | None,
    ) -> None:
        self.ontology = relations.ontology
        self.relations = relations
        self.domain = domain
        ontology, shown_relations = relations.ontology, {symbol.name for symbol in domain.relations}
        words = ((f"{lower(one.owner)}-has-{one.property}", one.owner, one.property) for one in ontology.relations)
        self.stored = {word: relations.pairs(*of) for word, *of in words if word in shown_relations}
        self.robots = relations.of_class("Robot")
        if not self.robots:
            raise BadInput("planning files: the database has no robot; plan for a cell that has one")
        existing = [*relations.kinds]
        wanted = add_wanted_kits(relations, orders, kits)
        self._widen_reach()
        functions = domain.functions or tuple(f for v in domain.levels for f in (v.function, v.bound) if f is not None)
        by_vessel = any(f.measure == "partsInKit" and f.parameters[1][0] == "partsVessel" for f in functions)
        if by_vessel:
            skus = [sku for kit in wanted for sku in kit.design.parts]
            skus += [relations.one(part, "sku") for part in relations.of_class("Part")]
            supply_missing_vessels(relations, list(dict.fromkeys(skus)))
        named = domain.parts is Parts.NAMED
        self.counts = Counts(relations, wanted, relations.of_class("PartsVessel"), named, taken)
        placeholder = "partsVessel" if by_vessel else "sku"
        self.called = {} if named else replace_parts(relations, placeholder)
        self.follower = PathResolver(relations.links, existing)
        self.members = {kind: relations.of_class(kind) for kind in ontology.parents}
        kinds = sorted({action.parameters[action.place] for action in domain.actions if action.place})
        self.places = [place for kind in kinds for place in self.members[kind]]
        self.problem = PddlProblem(name or "-and-".join(order.name for order in orders), domain)
        shown = ((n, kind) for n, kind in relations.kinds.items() if n not in self.called)
        rank = {kind: number for number, kind in enumerate(ontology.parents)}
        self.problem.objects = dict(sorted(shown, key=lambda entry: rank[entry[1]]))
        self._facts()
        self._relations()
        self._numbers(functions)
        if domain.form is PddlForm.TEMPORAL:
            self._tokens()
        self._goal(wanted)

    def _widen_reach(self) -> None:
        """Adds the tables to the reach of robots that reach something on them."""
        tables = set(self.relations.of_class("WorkTable"))
        for places in self.relations.links["reach"].values():
            there = {place for name in places if (place := self.relations.one(name, "location")) in tables}
            places += sorted(there.difference(places))

    # ------------------------------------------------------------ facts

    def _facts(self) -> None:
        for symbol in self.domain.predicates:
            entry = self.ontology.individuals.get(symbol.name)
            if entry is None or "path" not in entry:
                continue
            classes = [
                self.ontology.individuals[entry[key]]["class_name"]
                for key in ("reference_parameter", "target_parameter")
                if key in entry
            ]
            self.problem.facts += self._found(symbol.name, entry["path"], classes)

    def _found(self, predicate: str, path: str, classes: list[str]) -> Iterator[Atom]:
        targets = set(self.members[classes[1]]) if len(classes) > 1 else set[str]()
        if predicate == REACH:
            targets = set(self.places)
        called = self.called
        for start in self.members[classes[0]]:
            ends = self.follower.follow(start, path)
            if len(classes) == 1:
                if ends:
                    yield Atom(predicate, (called.get(start, start),))
                continue
            for end in ends:
                if end in targets:
                    yield Atom(predicate, (called.get(start, start), called.get(end, end)))

    def _relations(self) -> None:
        objects = self.problem.objects
        for predicate, pairs in self.stored.items():
            self.problem.relations += [Atom(predicate, p) for p in pairs if p[0] in objects and p[1] in objects]
        for (owner, word), names in self.relations.flags.items():
            self.problem.relations += [Atom(f"{lower(owner)}-is-{word}", (n,)) for n in names if n in objects]

    def _tokens(self) -> None:
        facts = self.problem.facts
        facts += [Atom(IDLE, (robot,)) for robot in self.robots]
        tables = set(self.members["WorkTable"])
        zones: dict[str, None] = {}
        for place in self.places:
            stands_on = self.relations.one(place, "location")
            zone = stands_on if stands_on in tables else place
            zones[zone] = None
            facts.append(Atom(IN_ZONE, (place, zone)))
        facts += [Atom(FREE, (zone,)) for zone in zones]

    # ------------------------------------------------------------ numbers and goal

    def _numbers(self, functions: Sequence[Symbol]) -> None:
        if self.domain.levels:
            self._levels()
            return
        for function in functions:
            for of, arguments in self._arguments(function):
                self.problem.values[Atom(function.name, arguments)] = self.counts.value(function.measure, of)

    def _arguments(self, function: Symbol, kit: str = "") -> Iterator[tuple[dict[str, str], tuple[str, ...]]]:
        """Yields all objects that the function may be asked about, or those of one kit, by parameter and in order."""
        roles = [role for role, _ in function.parameters]
        only = {"Kit": [kit]} if kit else {}
        for arguments in product(*(only.get(kind) or self.members[kind] for _, kind in function.parameters)):
            yield dict(zip(roles, arguments, strict=True)), arguments

    def _levels(self) -> None:
        highest, plenty = 0, False
        for level in self.domain.levels:
            for of, arguments in self._arguments(level.function):
                number, measure = self._number(level, of)
                if number < 0:
                    continue  # more than is wanted: never level zero, so never finished
                if self.counts.is_plenty(measure, of, number, len(self.robots)):
                    word, plenty = PLENTY, True
                else:
                    word, highest = f"level_{number}", max(highest, self._ceiling(level, of, number))
                self.problem.facts.append(Atom(level.symbol.name, (*arguments, word)))
        words = [f"level_{number}" for number in range(highest + 1)]
        self.problem.objects |= dict.fromkeys((words or [ZERO]) + [PLENTY] * plenty, LEVEL)
        self.problem.facts += [Atom(NEXT, pair) for pair in pairwise(words)]
        if plenty:
            self.problem.facts.append(Atom(NEXT, (PLENTY, PLENTY)))

    def _number(self, level: LevelPredicate, of: dict[str, str]) -> tuple[int, str]:
        number = self.counts.value(level.function.measure, of)
        if level.bound is None:
            return int(number), level.function.measure
        return int(self.counts.value(level.bound.measure, of) - number), level.bound.measure

    def _ceiling(self, level: LevelPredicate, of: dict[str, str], number: int) -> int:
        """Returns the highest level: a vessel takes back what was taken, and what is in hand."""
        if level.function.measure == "partsInVessel":
            return int(self.counts.value("vesselCapacity", of))
        return number + len(self.robots) if level.function.measure == "traysInBox" else number

    def _goal(self, wanted: Sequence[GoalKit]) -> None:
        domain, goal = self.domain, self.problem.goal
        into_box = next(s for s in domain.predicates if [role for role, _ in s.parameters] == ["kit", "lbwk"])
        boxes = {box: self.counts.value("boxCapacity", {"lbwk": box}) for box in self.members["LargeBoxWithKits"]}
        for box in boxes:
            boxes[box] -= self.counts.kits_in.get(box, 0)
        for kit in wanted:
            goal += self._full(kit)
            if kit.stationary or not boxes:
                continue
            there = next((box for box in boxes if kit.name in self.relations.to(box, "kit")), None)
            box = there or max(boxes, key=lambda name: boxes[name])
            boxes[box] -= there is None
            goal.append(Atom(into_box.name, (kit.name, box)))

    def _full(self, kit: GoalKit) -> Iterator[Atom | Compare]:
        pairs: list[tuple[Symbol, Symbol, LevelPredicate | None]]
        if self.domain.levels:
            pairs = [(v.function, v.bound, v) for v in self.domain.levels if v.bound is not None]
        else:
            by_measure = {function.measure: function for function in self.domain.functions}
            pairs = [(by_measure["partsInKit"], by_measure["partsWanted"], None)]
        for function, bound, level in pairs:
            if function.measure != "partsInKit":
                continue
            for of, arguments in self._arguments(function, kit.name):
                have, want = (self.counts.value(f.measure, of) for f in (function, bound))
                if have or want:
                    left, right = Atom(function.name, arguments), Atom(bound.name, arguments)
                    yield Atom(level.symbol.name, (*arguments, ZERO)) if level else Compare("=", left, right)
