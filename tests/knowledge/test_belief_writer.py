"""Kit trays become kits, are set down elsewhere, and kits end: on every kind of database."""

from cellwright.cells import load_cell
from cellwright.drawings.database import designs_for
from cellwright.drawings.workstation import workstation_of
from cellwright.knowledge import Belief, Database, WorldModel, fill
from cellwright.knowledge.belief_writer import begin_kit, end_kit, set_down


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
