"""A database that cannot be used: one clear line, nothing half-written, nothing lost."""

import os
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from cellwright.core.errors import MissingExtra
from cellwright.core.pose import Pose
from cellwright.knowledge import Database, DatabaseError, WorldModel, records

SHIFT = Pose.from_xyz_rpy((0.3, -0.2, 0.1), (0.1, 0.2, 1.5)).matrix[None]


@pytest.fixture
def patience(monkeypatch):
    monkeypatch.setattr("cellwright.knowledge.database.BUSY_TIMEOUT_MS", 20)


def add_tray(database):
    with database.session() as session:
        cell, sku = records.KittingWorkstation(name="cell"), records.StockKeepingUnit(name="sku")
        at = records.PoseOnlyLocation(name="tray_at", ref_object=cell)
        session.add(records.PartsTray(name="tray", sku=sku, primary_location=at))


def one_line(caught, *words):
    said = str(caught.value)
    assert "\n" not in said
    assert "secret" not in said
    assert all(word in said for word in words), said


CHANGES = {
    "observe": lambda model: model.observe(["tray"], SHIFT, 1.0, "camera"),
    "mark": lambda model: model.mark_stable("now"),
    "restore": lambda model: model.restore("before"),
    "attach": lambda model: model.attach({"tray": "cell"}),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("trouble", ["locked", "readonly"])
def test_locked_or_read_only_database_is_named_and_nothing_is_lost(file, patience, trouble, change):
    whole = Database(file)
    add_tray(whole)
    WorldModel(whole).mark_stable("before")
    WorldModel(whole).observe(["tray"], np.eye(4)[None], 0.5, "camera")
    read_only = f"sqlite:///file:{file}?mode=ro&uri=true"
    model = WorldModel(whole if trouble == "locked" else Database(read_only))
    before = model.tree.in_world.copy()
    lock = sqlite3.connect(file)
    lock.execute("BEGIN IMMEDIATE" if trouble == "locked" else "BEGIN")
    with pytest.raises(DatabaseError) as caught:
        CHANGES[change](model)
    one_line(caught, trouble, "end that one, or try again" if trouble == "locked" else "check the rights", "world.db")
    assert np.array_equal(model.tree.in_world, before)
    lock.rollback()
    lock.close()
    assert np.array_equal(WorldModel(whole).tree.in_world, before)
    CHANGES[change](WorldModel(whole))  # and then it works
    model.database.close()
    whole.close()


def test_file_that_this_user_may_only_read_is_named(file):
    folder = Path(tempfile.mkdtemp(prefix="cw-"))  # where every user may look
    shared = Path(shutil.copy(file, folder / "shared.db"))
    shared.chmod(0o444)
    folder.chmod(0o555)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setuid(65534)  # root may write anything
        try:
            add_tray(Database(shared))
        except DatabaseError as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    said = os.read(reading, 4096).decode()
    os.close(reading)
    folder.chmod(0o755)
    shutil.rmtree(folder)
    assert "shared.db" in said
    assert "check the rights" in said or "may read and write it" in said


def test_locked_file_cannot_be_opened_for_the_first_time(tmp_path, patience):
    lock = sqlite3.connect(tmp_path / "new.db")
    lock.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseError) as caught:
        Database(tmp_path / "new.db")
    one_line(caught, "database is locked", "another program holds it")
    lock.rollback()
    lock.close()
    Database(tmp_path / "new.db").close()


def test_full_disk_is_named_and_the_last_state_stays(file):
    database = Database(file)
    add_tray(database)
    model = WorldModel(database)
    model.observe(["tray"], np.eye(4)[None], 0.5, "camera")
    with database.transaction() as connection:
        pages = connection.scalar(text("PRAGMA page_count"))
    with database.engine.connect() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    def fill():
        for step in range(10_000):
            model.mark_stable(f"{step}")

    model.keep_states = 10_000
    with pytest.raises(DatabaseError) as caught:
        fill()
    one_line(caught, "is full", "make room")
    kept = WorldModel(database)
    assert kept.pose_in("tray", "cell").is_close(Pose.identity())
    for label in kept.stable_states():
        kept.restore(label)
    database.close()


def test_other_version_is_refused_and_left_alone(file):
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE schema_version SET version = 'old'")
    before = file.read_bytes()
    with pytest.raises(DatabaseError) as caught:
        Database(file)
    one_line(caught, "of version old, this program needs", "use another database, or export this one")
    assert file.read_bytes() == before


def test_interrupted_making_of_tables_starts_again(file):
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("DELETE FROM schema_version")
        connection.execute("DELETE FROM data_thing")
        connection.execute("DROP TABLE kit_part")
    database = Database(file)
    with database.session() as session:
        assert records.Action.get(session, "take-part").precondition
        assert records.Kit.all(session) == []
    database.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("nosuch://user:secret@host/db", "allowed: a path, sqlite"),
        ("sqlite:////nonexistent/folder/world.db", "folder '/nonexistent/folder' does not exist"),
        ("not a url://", "allowed: a path"),
        ("mysql+pymysql://user:secret@host:port/db", "not an address; allowed: a path"),
        ("sqlite:////proc/world.db", "check that this user may"),
    ],
)
def test_address_that_leads_nowhere_is_refused(url, words):
    with pytest.raises(DatabaseError) as caught:
        Database(url)
    one_line(caught, words)


@pytest.mark.parametrize(
    "url",
    [
        "mysql+pymysql://user:se@cret@127.0.0.1:1/db",
        "mysql:/user:secret@127.0.0.1:1/db",
        "mysql:user:secret@127.0.0.1:1/db",
        "mysql+pymysql://user:secret@127.0.0.1:x/db",
        "mysql+pymysql://user:x@127.0.0.1:1/db?passwrd=secret",
        "postgresql+psycopg://user@127.0.0.1:1/db?nonsense=secret",
    ],
)
def test_mistyped_address_is_refused_without_what_may_be_a_password(url, tmp_path, monkeypatch):
    pytest.importorskip("pymysql" if "mysql" in url else "psycopg")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatabaseError) as caught:
        Database(url)
    one_line(caught, "127.0.0.1", "not an address" if "?" not in url else "option")
    assert "cret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "mysql+pymysql://user:secret@127.0.0.1:1/db",
        "mysql://user:secret@127.0.0.1:1/db",
        "mariadb+pymysql://user:secret@127.0.0.1:1/db?charset=utf8mb4",
        "postgresql+psycopg://user:secret@127.0.0.1:1/db",
        "postgresql+psycopg://user@127.0.0.1:1/db?password=secret",
    ],
)
def test_server_that_is_not_there_is_named_without_the_password(url):
    pytest.importorskip("pymysql" if "pymysql" in url else "psycopg")
    with pytest.raises(DatabaseError) as caught:
        Database(url)
    one_line(caught, "127.0.0.1", "refused", "check that the server runs")


def test_missing_driver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(MissingExtra, match=r"cellwright\[mariadb\]"):
        Database("mysql+pymysql://user:secret@127.0.0.1:1/db")


def test_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database " * 100)
    with pytest.raises(DatabaseError) as caught:
        Database(path)
    one_line(caught, "not a database", "an SQLite file, a new name")
    assert path.read_text() == "not a database " * 100


def test_reader_sees_one_state_for_a_whole_unit_of_work(url):
    writer, reader = Database(url), Database(url)
    add_tray(writer)
    model = WorldModel(writer)
    with reader.session() as session:
        assert records.PartsTray.get(session, "tray").primary_location.timestamp is None
        model.observe(["tray"], SHIFT, 1.0, "camera")
        session.expire_all()
        assert records.PartsTray.get(session, "tray").primary_location.timestamp is None
    with reader.session() as session:
        assert records.PartsTray.get(session, "tray").primary_location.timestamp == 1.0
    writer.close()
    reader.close()
