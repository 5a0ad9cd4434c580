"""Real servers: what only they can do wrong, and how fast they are."""

import numpy as np
import pytest
from sqlalchemy import event

from cellwright.core.pose import Pose
from cellwright.knowledge import Database, DatabaseError, WorldModel, pose_update_rate, records

pytestmark = pytest.mark.peer
SERVERS = ["mariadb", "postgresql"]


def tray_at(model, x, time_s):
    model.observe(["tray"], Pose.from_xyz_rpy((x, 0.0, 0.0)).matrix[None], time_s, "camera")


@pytest.mark.parametrize("name", SERVERS)
def test_killed_server_loses_nothing_that_was_finished(name, request):
    server = request.getfixturevalue(name)
    database = Database(server.make())
    with database.session() as session:
        cell, sku = records.KittingWorkstation(name="cell"), records.StockKeepingUnit(name="sku")
        at = records.PoseOnlyLocation(name="tray_at", ref_object=cell)
        session.add(records.PartsTray(name="tray", sku=sku, primary_location=at))
    model = WorldModel(database)
    tray_at(model, 1.0, 1.0)

    def half_a_change():
        with database.session() as session:
            records.PartsTray.get(session, "tray").serial_number = "half"
            session.flush()
            server.kill()
            records.PartsTray.get(session, "tray")

    try:
        with pytest.raises(DatabaseError) as caught:
            half_a_change()
        with pytest.raises(DatabaseError, match="check that the server runs"):
            tray_at(model, 2.0, 2.0)
    finally:
        server.start()
    assert "secret" not in str(caught.value)
    assert "the next one connects again" in str(caught.value)
    assert model.pose_in("tray", "cell").position[0] == 1.0
    tray_at(model, 3.0, 3.0)  # the same database object, with no help
    assert WorldModel(database).pose_in("tray", "cell").position[0] == 3.0
    assert [entry[0] for entry in model.history("tray")] == [1.0, 3.0]
    with database.session() as session:
        assert records.PartsTray.get(session, "tray").serial_number is None
    database.close()


@pytest.mark.parametrize("name", SERVERS)
def test_wrong_password_is_not_shown(name, request):
    server = request.getfixturevalue(name)
    with pytest.raises(DatabaseError) as caught:
        Database(server.url("cw", user="cell:letmein"))
    assert "letmein" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "denied" in str(caught.value) or "authentication failed" in str(caught.value)


def test_both_names_of_mariadb_lead_to_it(mariadb):
    url = mariadb.make()
    database = Database(url.replace("mysql+pymysql", "mariadb+pymysql"))
    with database.session() as session:  # and names that differ in case are different
        session.add_all([records.Human(name="Ada"), records.Human(name="ada"), records.Human(name="Zoë 🤖")])
    database.close()
    again = Database(url)
    with again.session() as session:
        assert [h.name for h in records.Human.all(session)] == ["Ada", "ada", "Zoë 🤖"]
    again.close()


@pytest.mark.parametrize("name", SERVERS)
def test_batch_of_poses_is_three_statements(name, request):
    """The rate depends on the machine; on any, a statement for every pose would be too slow."""
    url, statements = request.getfixturevalue(name).make(), []
    assert pose_update_rate(url, 0.1, objects=200) > 0.0
    database = Database(url)
    model = WorldModel(database)
    names = [n for n in model.tree.names if n != "rate_cell"]
    event.listen(database.engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))
    model.observe(names, np.tile(Pose.identity().matrix, (200, 1, 1)), 1e6, "camera")
    assert [s.split()[2] for s in statements] == ["pose_location", "physical_location", "pose_history"]
    assert model.history(names[7])[-1][:2] == (1e6, "camera")
    database.close()


@pytest.mark.parametrize("name", SERVERS)
def test_words_with_special_characters_are_stored(name, request):
    database = Database(request.getfixturevalue(name).make())
    words = ["a'b", 'say "x"', "back\\slash", "50 %s", "{curly},", "NULL"]
    with database.session() as session:
        cell, sku = records.KittingWorkstation(name="cell"), records.StockKeepingUnit(name="sku")
        for word in words:
            at = records.PoseOnlyLocation(name=word, ref_object=cell)
            session.add(records.Part(name=word, sku=sku, primary_location=at))
    model = WorldModel(database)
    for number, word in enumerate(words, start=1):
        model.observe([word], Pose.from_xyz_rpy((number, 0.0, 0.0)).matrix[None], float(number), word)
        assert [entry[:2] for entry in model.history(word)] == [(float(number), word)]
    database.close()
