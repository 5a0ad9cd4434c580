"""Kit trays become kits, are set down elsewhere, and kits end: on every kind of database."""

from cellwright.cells import load_cell
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.knowledge import Belief, BeliefState, Database, WorldModel, fill, records
from cellwright.knowledge.belief_writer import (
    add_objects,
    begin_kit,
    end_kit,
    move_to_slot,
    note_held,
    note_released,
    set_down,
)


def test_a_tray_goes_from_its_box_to_the_table_becomes_a_kit_and_goes_into_the_other_box(url):
    database = Database(url)
    fill(database, workstation_of(load_cell("kitting")), designs_for([]))
    belief = Belief(WorldModel(database))

    def where(name):
        return belief.state.objects[name].reference

    set_down(belief, "m2l1_tray_2", "work_table")
    set_down(belief, "m2l1_tray_2", "s2l2_tray_box")  # listed in one place only
    set_down(belief, "m2l1_tray_2", "work_table")
    assert where("m2l1_tray_2") == "work_table"
    begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_2", 1.0)
    assert (where("kit_1"), where("m2l1_tray_2")) == ("work_table", "kit_1")
    set_down(belief, "kit_1", "kit_box")
    facts = belief.state
    assert facts.objects["kit_1"].reference == "kit_box"
    assert facts.tray_of == {"kit_1": "m2l1_tray_2"}
    end_kit(belief, "kit_1")
    assert "kit_1" not in belief.state.objects
    assert where("m2l1_tray_2") == "kitting"
    begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_1", 2.0)
    assert where("m2l1_tray_1") == "kit_1"
    database.close()


def test_what_another_program_writes_is_seen_by_belief_and_what_belief_writes_is_no_news(url):
    database, other = Database(url), Database(url)
    fill(database, workstation_of(load_cell("kitting")), designs_for([]))
    belief = Belief(WorldModel(database))
    tool = belief.state.tool_of["robot"] if "robot" in belief.state.tool_of else next(iter(belief.state.handles))
    note_held(belief, tool, "medium_gear_1")
    assert belief.state.held == {tool: "medium_gear_1"}
    assert "medium_gear_1" not in [part.name for part in belief.state.parts()]
    tree = belief.world_model.tree
    belief.follow()
    assert belief.world_model.tree is tree
    with other.session() as session:
        records.EndEffector.get(session, tool).held_object = records.Part.get(session, "medium_gear_2")
    assert belief.state.held == {tool: "medium_gear_1"}
    belief.follow()
    assert belief.state.held == {tool: "medium_gear_2"}
    note_released(belief, tool)
    assert belief.state.held == BeliefState(WorldModel(other)).held == {}
    for one in (database, other):
        one.close()


def test_the_state_that_follows_is_the_state_that_is_read(url):
    """Whatever belief writes, reading the database anew tells the same."""
    database = Database(url)
    fill(database, workstation_of(load_cell("kitting")), designs_for([]))
    belief = Belief(WorldModel(database))
    tool = next(iter(belief.state.handles))
    steps = [
        lambda: note_held(belief, tool, "medium_gear_1"),
        lambda: note_released(belief, tool),
        lambda: move_to_slot(belief, "medium_gear_1", ""),
        lambda: set_down(belief, "m2l1_tray_2", "work_table"),
        lambda: begin_kit(belief, "kit_1", "kit_m2l1", "m2l1_tray_2", 1.0),
        lambda: move_to_slot(belief, "medium_gear_1", "kit_1_slot_1"),
        lambda: set_down(belief, "kit_1", "kit_box"),
        lambda: end_kit(belief, "kit_1"),
        lambda: add_objects(belief, ["stray"], ["sku_part_medium_gear"]),
    ]
    for step in steps:
        step()
        read = BeliefState(WorldModel(database))
        assert belief.state.objects == read.objects
        links, again = belief.state.relations.links, read.relations.links
        for link in links:
            kept, wanted = ({name: ends for name, ends in of[link].items() if ends} for of in (links, again))
            assert {name: sorted(ends) for name, ends in kept.items()} == {n: sorted(e) for n, e in wanted.items()}
        assert belief.state.relations.slot_parts == read.relations.slot_parts
        contents = (
            {kit: parts for kit, parts in one.relations.contents.items() if parts} for one in (belief.state, read)
        )
        assert next(contents) == next(contents)
    database.close()
