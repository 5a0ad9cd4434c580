"""Errors in code of others: one line with the place in their file, whatever they call."""

import sys
import traceback
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from cellwright.core.errors import SimulationError
from cellwright.core.messages import Message
from cellwright.core.plugin_errors import PluginError, plugin_error, source_place
from cellwright.core.pose import Pose
from cellwright.core.registry import Registry

TEXT = """
import json
from cellwright.core.errors import UnknownName
from cellwright.core.registry import Registry

def plain():
    return {}["speed"]

def deeper():
    return plain()

def through_the_library():
    return json.loads("{")

def through_cellwright():
    return Registry("sensor", "no.group").get("gap")

class Gap:
    pass
"""


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """A module of somebody else, imported from its file."""
    file = tmp_path / "gap.py"
    file.write_text(TEXT, encoding="utf-8")
    spec = spec_from_file_location("gap_of_somebody", file)
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def caught(call):
    """Calls as Cellwright would, from a frame of its own."""
    with pytest.raises(Exception) as info:
        call()
    error = info.value
    error.__traceback__ = error.__traceback__.tb_next  # without this test's own frame: it is not Cellwright's
    return error


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("plain", 7, "KeyError: 'speed'"),
        ("deeper", 7, "KeyError: 'speed'"),
        ("through_the_library", 13, "JSONDecodeError: Expecting property name"),
        ("through_cellwright", 16, "unknown sensor 'gap' (available: none)"),
    ],
)
def test_the_innermost_line_of_the_users_file_is_named(theirs, tmp_path, monkeypatch, name, line, reason):
    error = caught(getattr(theirs, name))
    problem = plugin_error("sensor 'gap' fails", error)
    assert isinstance(problem, PluginError)
    assert problem.exit_code == 2
    assert str(problem).startswith(f"{tmp_path / 'gap.py'}, line {line}: sensor 'gap' fails: {reason}")
    monkeypatch.chdir(tmp_path)
    assert str(plugin_error("it fails", error)).startswith(f"gap.py, line {line}: it fails: ")


def test_what_fails_in_cellwright_because_of_a_class_is_told_with_the_place_of_the_class(theirs, tmp_path):
    error = caught(partial(Pose.from_xyz_rpy, "no numbers"))
    assert plugin_error("it fails", error) is error  # though NumPy, which is not Cellwright's, raised it
    assert plugin_error("it fails", error, Registry) is error
    assert str(plugin_error("it fails", error, theirs.Gap)).startswith(f"{tmp_path / 'gap.py'}, line 18: it fails: ")
    assert source_place(theirs.plain).endswith("gap.py, line 6")
    assert source_place(Message) == source_place(len) == source_place(None) == ""


def test_an_error_that_is_told_well_already_stays_as_it_is(theirs):
    once = plugin_error("sensor 'gap' fails", caught(theirs.plain))
    for error in (once, SimulationError("physics diverged")):
        assert plugin_error("it fails", error, theirs.Gap) is error
        with pytest.raises(type(error)) as info:
            raise plugin_error("it fails", error) from error
        assert "".join(traceback.format_exception(info.value)).count(str(error)) == 1
