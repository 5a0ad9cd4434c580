"""`cellwright db`."""

from __future__ import annotations

import sqlite3


def test_a_database_of_a_cell_is_made_and_shown(cellwright):
    made = cellwright("db", "init", "--url", "world.db", "--cell", "aprs", "--json").json
    ended = cellwright("db", "show", "--url", "world.db")
    assert ended.code == 0
    assert "medium_gear_3" in ended.out
    shown = cellwright("db", "show", "--url", "sqlite:///world.db", "--json").json
    assert len(shown["objects"]) == made["objects"] > 30
    parts = cellwright("db", "show", "--url", "world.db", "--kind", "Part", "--json").json["objects"]
    assert len(parts) == 20
    assert all(part["evidence"] == "drawings" and part["sd_m"] > 0 for part in parts)


def test_history_of_an_object(cellwright, refused):
    cellwright("db", "init", "--url", "world.db", "--cell", "aprs")
    told = cellwright("db", "history", "large_gear_1", "--url", "world.db", "--json").json
    assert told["object"] == "large_gear_1"
    assert "large_gear_1" in refused("db", "history", "huge_gear", "--url", "world.db")


def test_what_is_there_is_never_changed(cellwright, refused):
    cellwright("db", "init", "--url", "world.db", "--cell", "aprs")
    before = cellwright("db", "show", "--url", "world.db", "--json").out
    assert "already" in refused("db", "init", "--url", "world.db", "--cell", "aprs", "--seed", 4)
    assert cellwright("db", "show", "--url", "world.db", "--json").out == before


def test_bad_databases_are_one_line(refused, tmp_path):
    assert "gone.db" in refused("db", "show", "--url", "gone.db")
    assert not (tmp_path / "gone.db").exists()
    (tmp_path / "text.db").write_text("not a database, but long enough to look like one" * 20, encoding="utf-8")
    assert "text.db" in refused("db", "show", "--url", "text.db")
    assert "allowed" in refused("db", "show", "--url", "nosql://here")
    refused("db", "init", "--url", "new.db", "--order", "kit_m2l1")
    with sqlite3.connect("other.db") as other:
        other.execute("CREATE TABLE x (y)")
    assert "other.db" in refused("db", "show", "--url", "other.db")
