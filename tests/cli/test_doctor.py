"""`cellwright doctor`."""

from __future__ import annotations

import socket
import sys
import tomllib
from pathlib import Path

from cellwright.cli.doctor import PORTS, SERVES


def test_sound_installation(cellwright):
    ended = cellwright("doctor")
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines()[1:])) <= 80
    for text in ("mujoco-core", "ray", "works", "CRCL Fanuc", "aprs"):
        assert text in ended.out


def test_for_programs(cellwright):
    data = cellwright("doctor", "--json").json
    assert data["ok"] is True
    assert data["problems"] == {}
    assert "aprs" in data["cells"]
    assert {"name": "ray", "works": True, "detail": "needs nothing but the processor"} in data["renderers"]
    assert all(data["packages"].values())


def test_missing_package_is_named_and_fails(cellwright, monkeypatch):
    monkeypatch.setitem(sys.modules, "ruckig", None)
    ended = cellwright("doctor", "--json")
    assert ended.code == 1
    assert ended.json["ok"] is False
    assert "pip install" in ended.json["problems"]["ruckig"]


def test_every_extra_of_the_project_is_listed_with_what_it_is_for(cellwright):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(project["project"]["optional-dependencies"])
    assert set(cellwright("doctor", "--json").json["extras"]) == extras == set(SERVES)
    out = cellwright("doctor").out
    assert all(extra in out for extra in extras)


def test_missing_extra_is_named_with_its_brackets(cellwright, monkeypatch):
    monkeypatch.setattr("cellwright.cli.doctor._version", lambda name: None if name == "matplotlib" else "1")
    ended = cellwright("doctor", "--json").json
    assert ended["extras_missing"]["plots"] == ["matplotlib"]
    assert ended["extras"]["motion"] is True
    assert "pip install 'cellwright[plots]'" in cellwright("doctor").out


def test_port_in_use_is_seen(cellwright, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setitem(PORTS, "taken", taken.getsockname()[1])
        assert cellwright("doctor", "--json").json["ports_free"]["taken"] is False
