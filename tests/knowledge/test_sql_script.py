"""A database as an SQL script that makes it anew."""

import sqlite3

import pytest
from sqlalchemy import create_engine

from cellwright.core.errors import UnknownName
from cellwright.knowledge import Database, fill
from cellwright.knowledge.instances import read_content
from cellwright.knowledge.paper_workstation import paper_workstation
from cellwright.knowledge.sql_script import write_script
from cellwright.orders import DESIGNS, find_order


@pytest.fixture(scope="module")
def filled():
    database = Database()
    fill(database, paper_workstation([find_order("a2b1c1")]), [DESIGNS.get("a2b1c1")])
    yield database
    database.close()


@pytest.mark.slow
def test_a_script_makes_the_same_database(filled, tmp_path):
    with sqlite3.connect(tmp_path / "made.db") as made:
        made.executescript(write_script(filled))
        assert made.execute("PRAGMA foreign_key_check").fetchall() == []
    again = Database(tmp_path / "made.db", must_exist=True)
    assert read_content(again).entries == read_content(filled).entries
    again.close()


@pytest.mark.peer
@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_servers_take_it(filled, request, kind):
    server = request.getfixturevalue(kind)
    server.execute("CREATE DATABASE scripted")
    engine = create_engine(server.url("scripted"))
    with engine.begin() as connection:
        if kind == "mariadb":
            connection.exec_driver_sql("ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        for statement in write_script(filled, kind).split(";\n"):
            if statement:
                connection.exec_driver_sql(statement.replace("%", "%%"))
    engine.dispose()
    again = Database(server.url("scripted"), must_exist=True)
    assert read_content(again).entries == read_content(filled).entries
    again.close()


def test_an_unknown_server_is_one_line(filled):
    with pytest.raises(UnknownName, match="sqlite"):
        write_script(filled, "oracle")
