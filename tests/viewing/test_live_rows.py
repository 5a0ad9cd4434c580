"""The rows of a run for a page that comes late: what a page that was there all the time has."""

from cellwright.viewing import live_rows
from cellwright.viewing.live_rows import RowsSoFar
from cellwright.viewing.packet import unpack


def rows_of(*parts):
    rows = RowsSoFar()
    for part in parts:
        rows.add(part)
    return unpack(rows.packet())[0]


def test_lists_grow_and_what_is_said_of_the_run_is_kept():
    told = rows_of(
        {"about": {"cell": "aprs", "status": "running"}, "robots": ["fanuc"], "events": [{"time_s": 1}]},
        {"events": [{"time_s": 2}], "score": []},
        {"about": {"status": "done"}, "score": [{"name": "kit"}]},
        {"score": []},
    )
    assert told["about"] == {"cell": "aprs", "status": "done"}
    assert told["robots"] == ["fanuc"]
    assert told["events"] == [{"time_s": 1}, {"time_s": 2}]
    assert told["score"] == [{"name": "kit"}]


def test_an_action_is_there_once_as_it_is_now():
    told = rows_of(
        {"actions": [{"id": "1", "phase": "running"}]},
        {"actions": [{"id": "2", "phase": "running"}, {"id": "1", "phase": "end"}]},
    )
    assert told["actions"] == [{"id": "1", "phase": "end"}, {"id": "2", "phase": "running"}]


def test_curves_go_on_and_what_was_sent_is_not_touched():
    first = {"name": "joints", "times": [0.0], "values": [[1], [2]]}
    told = rows_of({"series": [first]}, {"series": [{"name": "joints", "times": [0.1], "values": [[3], [4]]}]})
    assert told["series"] == [{"name": "joints", "times": [0.0, 0.1], "values": [[1, 3], [2, 4]]}]
    assert first["times"] == [0.0]


def test_what_was_painted_long_ago_is_still_so(monkeypatch):
    monkeypatch.setattr(live_rows, "MAX_ROWS", 2)
    painted = [("a", 1), ("b", 1), ("a", 2), ("b", 3), ("a", 4)]
    told = rows_of(*({"colours": [{"time_s": n, "colours": {name: paint}}]} for n, (name, paint) in enumerate(painted)))
    assert told["colours"] == [{"time_s": 3, "colours": {"a": 2, "b": 3}}, {"time_s": 4, "colours": {"a": 4}}]


def test_what_runs_for_days_keeps_the_newest(monkeypatch):
    monkeypatch.setattr(live_rows, "MAX_ROWS", 3)
    monkeypatch.setattr(live_rows, "MAX_PICTURES", 1)
    parts = [
        {
            "messages": [{"id": n}],
            "pictures": [{"src": n}],
            "actions": [{"id": str(n)}],
            "series": [{"name": "a", "times": [n], "values": [[n]]}],
        }
        for n in range(6)
    ]
    told = rows_of(*parts)
    assert [row["id"] for row in told["messages"]] == [3, 4, 5]
    assert [row["src"] for row in told["pictures"]] == [5]
    assert [row["id"] for row in told["actions"]] == ["3", "4", "5"]
    assert told["series"] == [{"name": "a", "times": [3, 4, 5], "values": [[3, 4, 5]]}]
