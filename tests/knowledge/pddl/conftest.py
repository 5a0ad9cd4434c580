"""Cells to plan for, a strict reader of planning files, and a simulator of what they say."""

import itertools
import re
import shutil

import pytest

from cellwright.core.pose import Pose
from cellwright.knowledge import Database, records
from cellwright.knowledge.paper_workstation import paper_workstation
from cellwright.knowledge.pddl import Atom
from cellwright.knowledge.tray_layout import tray_layout
from cellwright.knowledge.workstation import (
    FixedKit,
    PartInTray,
    Place,
    ReachBox,
    RobotDescription,
    SupplyTray,
    Workstation,
    WorkstationTool,
    WorkTable,
)
from cellwright.knowledge.workstation_records import fill
from cellwright.orders import DESIGNS, find_order
from cellwright.planning import Durations
from cellwright.planning.pddl_steps import durations_by_name

ORDERS = [find_order(name) for name in DESIGNS]


@pytest.fixture(scope="session")
def durations():
    return durations_by_name(Durations())


@pytest.fixture(scope="session")
def paper_cell():
    """The papers' workstation, laid out for every order at once; one robot."""
    database = Database()
    fill(database, paper_workstation(ORDERS, tables=2), [line.design for order in ORDERS for line in order.lines])
    yield database
    database.close()


@pytest.fixture(scope="session")
def drawn_cell(tmp_path_factory):
    """A file with the workstation for one small order, as drawn."""
    path = tmp_path_factory.mktemp("cell") / "drawn.db"
    database = Database(path)
    order = find_order("a2b1c1")
    fill(database, paper_workstation([order]), [order.lines[0].design])
    database.close()
    return path


@pytest.fixture
def small_cell(drawn_cell, tmp_path):
    """The same, for a test to disturb."""
    database = Database(shutil.copy(drawn_cell, tmp_path / "cell.db"))
    yield database
    database.close()


@pytest.fixture(scope="session")
def gear_cell():
    """Two robots at one table with gear trays and kit trays that stay; the second reaches no small gears."""

    def tray(name, kind, x_m, count):
        place = Place(Pose.from_xyz_rpy([x_m, 0.0, 0.0]), "shared_table")
        sku = f"sku_{kind}_gear_vessel"
        slots = tray_layout(sku).slots[:count]
        parts = tuple(
            PartInTray(f"{kind}_gear_{n}", slot.sku, Place(slot.pose_part_in_tray, name), slot.name)
            for n, slot in enumerate(slots, start=1)
        )
        return SupplyTray(name, sku, place, parts)

    def robot(name, low_m):
        return RobotDescription(
            name, Place(), f"{name}_gripper", (ReachBox(f"{name}_reach", (low_m, -1, -1), (2, 1, 1)),)
        )

    gears = tuple(f"sku_part_{kind}_gear" for kind in ("small", "medium", "large"))
    station = Workstation(
        "gear_cell",
        tables=(WorkTable("shared_table", Place(), (1.0, 1.0, 0.02)),),
        robots=(robot("fanuc", -1.0), robot("motoman", 0.1)),
        tools=tuple(WorkstationTool(f"{name}_gripper", "ParallelGripper", gears) for name in ("fanuc", "motoman")),
        supplies=(tray("small_tray", "small", 0.0, 4), tray("large_tray", "large", 0.3, 2)),
        kits=tuple(
            FixedKit(name, "sku_kit_s2l2_vessel", Place(Pose.from_xyz_rpy([x_m, 0.0, 0.0]), "shared_table"))
            for name, x_m in (("kit_out_of_reach", 5.0), ("kit_1", 0.6))
        ),
    )
    database = Database()
    fill(database, station, [DESIGNS.get("kit_s2l2")])
    yield database
    database.close()


# ---------------------------------------------------------------- reading


def tokens(text):
    found = re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text).lower())
    stack = [[]]
    for word in found:
        if word == "(":
            stack.append([])
        elif word == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(word)
    assert len(stack) == 1, "parentheses do not match"
    assert len(stack[0]) == 1, "more than one definition"
    return stack[0][0]


def typed(words):
    """`a - T b - T` as pairs; every name has exactly one type."""
    assert len(words) % 3 == 0
    assert all(dash == "-" for dash in words[1::3]), words
    names = words[0::3]
    assert len(set(names)) == len(names), f"a name twice in {names}"
    return dict(zip(names, words[2::3], strict=True))


class StrictReader:
    """Refuses everything that is not declared, of the wrong type, unused or without a value."""

    def __init__(self, domain_text, problem_text):
        head, *sections = tokens(domain_text)
        assert head == "define"
        self.name = sections.pop(0)[1]
        parts = {}
        self.actions = {}
        for section in sections:
            if section[0] in (":action", ":durative-action"):
                assert section[1] not in self.actions
                self.actions[section[1]] = dict(zip(section[2::2], section[3::2], strict=True))
            else:
                assert section[0] not in parts, section[0]
                parts[section[0]] = section[1:]
        self.types = typed(parts[":types"])
        for name, parent in self.types.items():
            assert parent == "object" or parent in self.types, f"{name} - {parent}"
        self.constants = typed(parts.get(":constants", []))
        self.symbols = {}
        for entry in [*parts[":predicates"], *parts.get(":functions", [])]:
            assert entry[0] not in self.symbols, entry[0]
            self.symbols[entry[0]] = list(typed(entry[1:]).values())
        self.functions = {entry[0] for entry in parts.get(":functions", [])}
        for kinds in self.symbols.values():
            assert set(kinds) <= {*self.types, "object"}
        self.used = set()
        for name, action in self.actions.items():
            self.read_action(name, action)
        self.read_problem(problem_text)

    def is_a(self, kind, ancestor):
        while kind not in (ancestor, "object"):
            kind = self.types[kind]
        return kind == ancestor

    def check(self, entry, scope):
        """An atom or term: declared, complete, well typed."""
        name, *arguments = entry
        assert name in self.symbols, name
        assert len(arguments) == len(self.symbols[name]), entry
        for argument, kind in zip(arguments, self.symbols[name], strict=True):
            assert argument in scope, f"{argument} in {entry}"
            assert self.is_a(scope[argument], kind), f"{argument} - {scope[argument]} in {entry}, wants {kind}"
        return set(arguments)

    def formula(self, entry, scope, effect):
        """Names that a condition or an effect speaks of."""
        head = entry[0]
        if head == "and":
            return set().union(*(self.formula(part, scope, effect) for part in entry[1:]))
        if head == "at":
            assert entry[1] in ("start", "end")
            return self.formula(entry[2], scope, effect)
        if head == "not":
            assert effect, f"a negative condition: {entry}"
            return self.formula(entry[1], scope, effect)
        if head in ("<", "=", ">") or (effect and head in ("increase", "decrease")):
            sides = [side for side in entry[1:] if isinstance(side, list)]
            assert all(side[0] in self.functions for side in sides)
            return set().union(*(self.check(side, scope) for side in sides))
        assert head not in self.functions
        self.used.add(head)
        return self.check(entry, scope)

    def read_action(self, name, action):
        parameters = typed(action[":parameters"])
        assert all(word.startswith("?") for word in parameters)
        scope = {**self.constants, **parameters}
        said = self.formula(action.get(":precondition") or action[":condition"], scope, effect=False)
        assert said >= set(parameters), f"{name}: nothing constrains {set(parameters) - said}"
        self.formula(action[":effect"], scope, effect=True)
        if ":duration" in action:
            assert float(action[":duration"][2]) > 0

    def read_problem(self, text):
        head, _name, *sections = tokens(text)
        assert head == "define"
        parts = {section[0]: section[1:] for section in sections}
        assert parts[":domain"] == [self.name]
        self.objects = {**self.constants, **typed(parts[":objects"])}
        assert set(self.objects.values()) <= set(self.types)
        values, facts = set(), set()
        for entry in parts[":init"]:
            target = entry[1] if entry[0] == "=" else entry
            self.check(target, self.objects)
            found = values if entry[0] == "=" else facts
            assert (target[0] in self.functions) == (entry[0] == "=")
            assert tuple(target) not in found, f"{target} is said twice"
            found.add(tuple(target))
        for function in self.functions:
            kinds = self.symbols[function]
            fitting = ([o for o, kind in self.objects.items() if self.is_a(kind, k)] for k in kinds)
            for arguments in itertools.product(*fitting):
                assert (function, *arguments) in values, f"{function} {arguments} has no value"
        self.facts, self.goal = facts, parts[":goal"][0]
        self.formula(self.goal, self.objects, effect=False)


@pytest.fixture(scope="session")
def strict_reader():
    return StrictReader


# ---------------------------------------------------------------- simulating


class Refused(Exception):
    """A plan that cannot be carried out or misses the goal."""


def carry_out(problem, steps):
    """Runs a plan on a numeric problem, by the meaning of the files and nothing else."""
    facts, values = {*problem.facts}, dict(problem.values)

    def ground(atom, words):
        return Atom(atom.name, tuple(words.get(a, a) for a in atom.arguments))

    def holds(condition, words):
        if isinstance(condition, Atom):
            return ground(condition, words) in facts
        left = values[ground(condition.left, words)]
        right = values[ground(condition.right, words)] if isinstance(condition.right, Atom) else condition.right
        return {"<": left < right, "=": left == right, ">": left > right}[condition.sign]

    for number, step in enumerate(steps):
        action = problem.domain.action(step.name)
        words = dict(zip((f"?{p}" for p in action.parameters), step.arguments, strict=True))
        for name, kind in zip(step.arguments, action.parameters.values(), strict=True):
            if not problem.domain.is_a(problem.objects[name], kind):
                raise Refused(f"{number}: {name} is no {kind}")
        for condition in action.conditions:
            if not holds(condition, words):
                raise Refused(f"{number} {step}: {condition}")
        facts -= {ground(atom, words) for atom in action.deletes}
        facts |= {ground(atom, words) for atom in action.adds}
        for change in action.changes:
            values[ground(change.function, words)] += change.amount if change.increase else -change.amount
    for condition in problem.goal:
        if not holds(condition, {}):
            raise Refused(f"goal: {condition}")


@pytest.fixture(scope="session")
def simulate():
    return carry_out


@pytest.fixture(scope="session")
def refused():
    return Refused


# ---------------------------------------------------------------- disturbing


@pytest.fixture(scope="session")
def disturb():
    """Changes the belief: tool on the robot, a part in its hand, a half-filled kit on the table."""

    def mount(database, tool, robot="robot_1"):
        with database.session() as session:
            made = records.EndEffector.get(session, tool)
            for holder in records.EndEffectorHolder.all(session):
                if holder.end_effector is made:
                    holder.end_effector = None
            records.Robot.get(session, robot).end_effector = made

    def hold(database, tool, name):
        with database.session() as session:
            held, hand = records.SolidObject.get(session, name), records.EndEffector.get(session, tool)
            if isinstance(held, records.Part):
                vessel = records.PartsTray.get(session, held.primary_location.ref_object.name)
                vessel.part.remove(held)
                vessel.part_quantity -= 1
                for slot in vessel.slot:
                    if slot.slot_part is held:
                        slot.slot_part, slot.is_occupied = None, False
            else:
                for box in records.LargeBoxWithEmptyKitTrays.all(session):
                    if held in box.empty_kit_tray:
                        box.empty_kit_tray.remove(held)
            held.primary_location.ref_object = hand
            hand.held_object = held

    def begin_kit(database, design, parts, table="work_table_1"):
        with database.session() as session:
            box = records.LargeBoxWithEmptyKitTrays.all(session)[0]
            tray = box.empty_kit_tray[0]
            box.empty_kit_tray.remove(tray)
            made = records.KitDesign.get(session, design)
            kit = records.Kit(name="begun", kit_tray=tray, kit_design=made)
            kit.primary_location = records.RelativeLocationOn(name="begun_location")
            kit.primary_location.ref_object = records.WorkTable.get(session, table)
            session.add(kit)
            tray.primary_location.ref_object = kit
            for name in parts:
                part = records.Part.get(session, name)
                vessel = records.PartsTray.get(session, part.primary_location.ref_object.name)
                vessel.part.remove(part)
                vessel.part_quantity -= 1
                kit.part.append(part)
                part.primary_location = records.RelativeLocationIn(name=f"{name}_in_kit", ref_object=kit)

    class Disturb:
        pass

    found = Disturb()
    found.mount, found.hold, found.begin_kit = mount, hold, begin_kit
    return found
