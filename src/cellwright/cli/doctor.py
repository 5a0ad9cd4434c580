"""`cellwright doctor`: what is installed, what works, what is missing and how to get it.

It must run where nothing else does, so it imports what it looks at only while it looks.
"""

from __future__ import annotations

import platform
import re
import shutil
import socket
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from cellwright import __version__
from cellwright.cli.output import print_json, say, table
from cellwright.core.errors import CellwrightError

__all__ = ["doctor"]

PACKAGES = {
    "mujoco-core": "mujoco", "numpy": "numpy", "pydantic": "pydantic", "PyYAML": "yaml", "rosbags": "rosbags",
    "mcap": "mcap", "ruckig": "ruckig", "eaik": "eaik", "pillow": "PIL", "typer": "typer", "rich": "rich",
    "websockets": "websockets",
}  # fmt: skip
"""Package -> the module by which it is used."""

SERVES = {
    "video": "MP4 files of `log video` and `run --video`; without it they are GIF or WebP",
    "tables": "`log export --format parquet`",
    "plots": "pictures of `log plot`, `plan --gantt`, `reach` and experiments",
    "cameras": "pictures by compiled code, where OpenGL does not work",
    "motion": "collision-free and time-optimal motion, model-based control; `bench motion`",
    "vision": "recognition in pictures (`run --source camera`), stereo (`run rovi`), calibration of cameras",
    "planning": "OWL files; the database made anew from the ontology",
    "xacro": "`model import` of .xacro files",
    "mariadb": "the world model on a MariaDB or MySQL server",
    "postgresql": "the world model on a PostgreSQL server",
    "planners": "`plan --planner` with Fast Downward and ENHSP",
    "peers": "a second opinion on plans, in `make test-peers`",
    "docs": "these pages, by `make docs`",
    "bench": "the peer in `bench physics`",
    "dev": "tests and style, for developers",
}
"""Extra -> what it is good for; which extras there are, and what belongs to them, the package itself says."""

PORTS = {
    "CRCL Fanuc": 64444, "CRCL Motoman": 64445, "vision Fanuc": 5001, "vision Motoman": 5002,
    "live page": 8080, "rosbridge": 9090, "USARTruth": 3989,
}  # fmt: skip


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> int:
    """Says what is installed, which renderer works, which ports are free; exit 1 when `run` could not work."""
    packages = {name: _version(name) for name in PACKAGES}
    broken = {name: problem for name, module in PACKAGES.items() if (problem := _problem(name, module))}
    extras = _extras()
    renderers = [] if broken else _renderers()
    cells = [] if broken else _cells()
    viewer = "" if broken else _viewer_problem()
    ros1 = "" if broken else _ros1_problem()
    ports = {name: _is_free(port) for name, port in PORTS.items()}
    free_mb = shutil.disk_usage(Path.cwd()).free // 2**20
    sound = not broken and any(r["works"] for r in renderers)
    if as_json:
        print_json(
            {
                "cellwright": __version__, "python": platform.python_version(), "platform": platform.platform(),
                "packages": packages, "problems": broken, "ports_free": ports,
                "extras": {extra: not missing for extra, missing in extras.items()}, "extras_missing": extras,
                "disk_free_mb": free_mb, "renderers": renderers, "cells": cells, "viewer": viewer,
                "ros1": ros1, "ok": sound,
            }
        )  # fmt: skip
        return 0 if sound else 1
    say(f"cellwright {__version__}, Python {platform.python_version()}, {platform.platform()}")
    say(f"cells: {', '.join(cells) or 'none'}; {free_mb} MB free here")
    say(f"viewer: {viewer or 'its page is there, for --view and --trace'}")
    say(f"ROS 1: {ros1 or 'rospy is there, for serve --bridge ros1'}\n")
    states = [(n, v or "-", Text(broken[n], "red") if n in broken else "") for n, v in packages.items()]
    table("packages", ["package", "version", ""], states, markup=False)
    say()
    optional = [(e, "missing" if missing else "installed", SERVES.get(e, "")) for e, missing in extras.items()]
    table("optional", ["extra", "", "for"], optional, markup=False)
    for extra in (extra for extra, missing in extras.items() if missing):
        say(f"pip install 'cellwright[{extra}]'")
    say()
    drawing = [(r["name"], "works" if r["works"] else "does not work", r["detail"]) for r in renderers]
    table("renderers", ["name", "", "detail"], drawing, markup=False)
    say()
    rows = [(n, PORTS[n], "free" if free else "in use: --any-port") for n, free in ports.items()]
    table("ports", ["interface", "port [n]", ""], rows, markup=False)
    return 0 if sound else 1


def _extras() -> dict[str, list[str]]:
    """Returns extra -> its packages that are not installed, by the metadata of this package."""
    try:
        about = metadata("cellwright")
    except PackageNotFoundError:  # run from its source
        return {}
    found: dict[str, list[str]] = {extra: [] for extra in about.get_all("Provides-Extra") or []}
    for needed in about.get_all("Requires-Dist") or []:
        wanted = re.match(r"([\w.-]+).*;.*extra\s*==\s*['\"]([\w.-]+)['\"]", needed)
        if wanted and wanted[2] in found and _version(wanted[1]) is None:
            found[wanted[2]].append(wanted[1])
    return found


def _problem(package: str, module: str) -> str:
    try:
        import_module(module)
    except Exception as error:  # whatever a broken package does
        missing = isinstance(error, ModuleNotFoundError) and error.name == module
        why = "missing" if missing else f"cannot be imported: {' '.join(str(error).split())}"
        return f"{why}; pip install --force-reinstall '{package}'"
    return ""


def _renderers() -> list[dict[str, Any]]:
    found = []
    for renderer in import_module("cellwright.rendering").available_renderers():
        packages = " ".join(renderer.debian_packages)
        hint = f"; on Debian: apt-get install {packages}" if packages else ""
        found.append({"name": renderer.name, "works": renderer.works, "detail": renderer.reason + hint})
    return found


def _viewer_problem() -> str:
    """Returns what is missing for live pages and traces; nothing when they work."""
    try:
        import_module("cellwright.viewing.page").viewer_page()
    except CellwrightError as error:
        return str(error)
    return ""


def _ros1_problem() -> str:
    """Returns what is missing for ROS 1; nothing when it works."""
    return str(import_module("cellwright.interfaces.ros.ros1").rospy_problem())


def _cells() -> list[str]:
    return list(import_module("cellwright.cells").CELLS)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
