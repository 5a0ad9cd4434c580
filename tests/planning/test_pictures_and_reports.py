"""A plan as a picture and as data."""

import json
import struct
import sys
from dataclasses import replace

import pytest

from cellwright.core.errors import BadInput, MissingExtra, OutputError
from cellwright.orders import find_order
from cellwright.planning import PlanRequest, PlanResult, PlanStatus, as_json, plan, validate_timed, write_gantt


@pytest.fixture(scope="module")
def made(cell):
    request = PlanRequest(cell(2, 2), (find_order("a2b1c1", 2),))
    return request, plan(request)


def test_a_plan_as_data(made):
    request, result = made
    data = json.loads(json.dumps(as_json(request, result, validate_timed(request, result))))
    assert (data["status"], data["valid"], data["reasons"]) == ("optimal", True, [])
    assert data["kits"] == ["a2b1c1_1", "a2b1c1_2"]
    assert data["lower_bound"] == data["makespan_s"] == max(a["start_s"] + a["duration_s"] for a in data["actions"])
    first = data["actions"][0]
    assert first["verb"] == "attach-endEffector"
    assert first["text"] == f"(attach-endEffector {first['robot']} {first['tool']} {first['place']})"


def test_what_is_wrong_with_a_plan_is_among_its_reasons(cell, made):
    request, result = made
    broken = replace(result, actions=result.actions[1:])
    data = as_json(request, broken, validate_timed(request, broken))
    assert not data["valid"]
    assert len(data["reasons"]) == 1
    bare = tuple(replace(holder, tool=None) for holder in request.state.holders)
    hopeless = replace(request, state=replace(request.state, holders=bare))
    answer = plan(hopeless)
    data = as_json(hopeless, answer, validate_timed(hopeless, answer))
    assert (data["status"], data["kits"], len(data["reasons"])) == ("unsolvable", [], 2)


def test_a_picture_of_a_plan(made, tmp_path):
    pytest.importorskip("matplotlib", reason="not installed: pip install 'cellwright[plots]'")
    path = tmp_path / "plan.png"
    write_gantt(made[1], path)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert width > 2 * height > 200
    with pytest.raises(OutputError, match="cannot write"):
        write_gantt(made[1], tmp_path / "nowhere" / "plan.png")
    with pytest.raises(BadInput, match="no steps"):
        write_gantt(PlanResult(status=PlanStatus.UNSOLVABLE, planner="scheduler"), path)


def test_a_picture_needs_an_extra(made, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(MissingExtra, match="plots"):
        write_gantt(made[1], tmp_path / "plan.png")
