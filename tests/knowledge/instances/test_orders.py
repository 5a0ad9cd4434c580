"""Initial and goal instance files of every order, in both forms."""

import shutil

import pytest

from cellwright.core.errors import BadInput
from cellwright.knowledge import Database, fill, records
from cellwright.knowledge.instances import (
    copy_of,
    goal_of,
    load_instances,
    read_content,
    read_owl,
    read_xml,
    save_instances,
    write_owl,
    write_xml,
)
from cellwright.knowledge.paper_workstation import paper_workstation
from cellwright.orders import DESIGNS, find_order

FORMS = {"owl": (write_owl, read_owl), "xml": (write_xml, read_xml)}


@pytest.fixture
def empty(tmp_path, empty_file):
    """As many new databases as a test wants."""
    opened = []

    def make():
        path = shutil.copy(empty_file, tmp_path / f"{len(opened)}.db")
        opened.append(Database(path))
        return opened[-1]

    yield make
    for database in opened:
        database.close()


@pytest.fixture
def laid_out(empty):
    def make(name, quantity=1):
        orders, database = [find_order(name, quantity)], empty()
        fill(database, paper_workstation(orders), [line.design for line in orders[0].lines])
        return database, orders

    return make


QUICK = ("a2b1c1", "s2b2", "kit_m2l1")


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.long) for n in DESIGNS])
def test_files_of_an_order_come_back_as_they_were(name, laid_out, empty):
    initial, orders = laid_out(name)
    goal = goal_of(initial, orders, empty())
    texts = []
    for database in (initial, goal):
        content = read_content(database)
        for write, read in FORMS.values():
            texts.append(write(content))
            again = read(texts[-1].encode(), "again")
            again.check()
            assert write(again) == texts[-1]
            assert again.entries.keys() == content.entries.keys()
            for ref, entry in content.entries.items():
                found = again.entries[ref].values
                for label, values in entry.values.items():
                    assert sorted(map(str, found[label])) == sorted(map(str, values)), (ref, label)
    assert len(set(texts)) == 4


@pytest.mark.parametrize("form", FORMS)
def test_file_read_into_an_empty_database_gives_the_same_file(form, laid_out, empty, tmp_path):
    initial, _ = laid_out("a2b3c3d1e1")
    save_instances(initial, tmp_path / f"first.{form}")
    copy = empty()
    load_instances(tmp_path / f"first.{form}", copy)
    save_instances(copy, tmp_path / f"second.{form}")
    assert (tmp_path / f"first.{form}").read_bytes() == (tmp_path / f"second.{form}").read_bytes()
    with copy.session() as session:
        refs = records.KitDesign.get(session, "a2b3c3d1e1").part_ref_and_pose
        assert [ref.name.rpartition("_")[2] for ref in refs] == [str(n) for n in range(1, 11)]
    with pytest.raises(BadInput, match=r"already; read .* into an empty one"):
        load_instances(tmp_path / f"first.{form}", copy)


def test_goal_has_the_kits_and_lacks_the_parts(laid_out, empty):
    initial, orders = laid_out("a4b3c2d1", 2)
    goal = goal_of(initial, orders, empty())
    with goal.session() as session:
        box = records.LargeBoxWithKits.get(session, "finished_kit_receiver")
        assert [kit.name for kit in box.kit] == ["a4b3c2d1_1", "a4b3c2d1_2"]
        for kit in box.kit:
            assert kit.finished
            assert kit.primary_location.ref_object is box
            assert [slot.slot_part.sku for slot in kit.slot] == [slot.slot_design.part_ref_sku for slot in kit.slot]
            assert {part.primary_location.ref_object for part in kit.part} == {kit}
        for tray in records.PartsTray.all(session):
            assert tray.part_quantity == len(tray.part) == 2
            assert sum(slot.is_occupied for slot in tray.slot) == 2
        stack = records.LargeBoxWithEmptyKitTrays.all(session)[0]
        assert len(stack.empty_kit_tray) == 2
    with initial.session() as session:
        assert records.Kit.all(session) == []
    again = goal_of(goal, orders, empty())
    assert write_xml(read_content(again)) == write_xml(read_content(goal))


def test_goal_that_cannot_be_reached_says_what_is_missing(laid_out):
    initial, _ = laid_out("a2b1c1")
    with pytest.raises(BadInput, match="kit a2b1c1_4: no kit tray sku_kit_tray is left"):
        goal_of(initial, [find_order("a2b1c1", 4)])
    with pytest.raises(BadInput, match="unknown KitDesign 'a4b3c3'"):
        goal_of(initial, [find_order("a4b3c3")])


def test_goal_puts_back_a_wrong_part_and_uses_what_a_hand_holds(laid_out, empty):
    initial, orders = laid_out("a2b1c1")
    half = goal_of(initial, orders, empty())
    with half.session() as session:
        kit = records.Kit.get(session, "a2b1c1_1")
        first, wrong = kit.slot[0].slot_part, records.PartsTray.get(session, "part_c_tray_1").part[0]
        tray = records.PartsTray.get(session, "part_c_tray_1")
        tray.part.remove(wrong)
        next(slot for slot in tray.slot if slot.slot_part is wrong).slot_part = None
        kit.part.remove(first)
        kit.part.append(wrong)
        kit.slot[0].slot_part, kit.finished = wrong, False
        records.EndEffector.get(session, "part_gripper").held_object = first
    goal = goal_of(half, orders, empty())
    with goal.session() as session:
        kit = records.Kit.get(session, "a2b1c1_1")
        assert [slot.slot_part.sku.name[-1] for slot in kit.slot] == ["a", "a", "b", "c"]
        assert kit.finished
        assert records.EndEffector.get(session, "part_gripper").held_object is None
        assert len(records.PartsTray.get(session, "part_c_tray_1").part) == 2


def test_copy_is_independent(laid_out, empty):
    initial, _ = laid_out("s2b2")
    copy = copy_of(initial, empty())
    with copy.session() as session:
        session.delete(records.Part.all(session)[0])
    assert len(read_content(copy).entries) == len(read_content(initial).entries) - 1


@pytest.mark.peer
@pytest.mark.parametrize(("name", "finished"), [("kit_m2l1", False), ("a2b1c1", True)])
def test_files_agree_with_the_ontology_under_hermit(name, finished, laid_out, empty, tmp_path):
    owlready2 = pytest.importorskip("owlready2", reason="not in Debian: owlready2 (pip install 'cellwright[planning]')")
    if shutil.which("java") is None:
        pytest.skip("no java")
    from cellwright.knowledge.generate import GENERATED

    database, orders = laid_out(name)
    if finished:
        database = goal_of(database, orders, empty())
    save_instances(database, tmp_path / "cell.owl")
    world = owlready2.World()
    world.get_ontology((GENERATED / "cellwright.nt").as_uri()).load()
    cell = world.get_ontology((tmp_path / "cell.owl").as_uri()).load()
    kinds = {one.is_a[0].name for one in cell.individuals()}
    assert {"Part", "KitDesign", "Point", "KittingWorkstation"} <= kinds
    owlready2.sync_reasoner_hermit(world, debug=0)
    with cell:
        part = next(one for one in cell.individuals() if one.is_a[0].name == "Part")
        part.is_a.append(world["urn:cellwright:kitting#Slot"])
    with pytest.raises(owlready2.OwlReadyInconsistentOntologyError):
        owlready2.sync_reasoner_hermit(world, debug=0)
