"""`cellwright doctor`: what is installed, what works, what is missing and how to get it."""

from __future__ import annotations

import platform
import shutil
import socket
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from cellwright import __version__
from cellwright.cells import CELLS
from cellwright.cli.output import console, print_json, table
from cellwright.sim.render import RendererStatus, available_renderers

__all__ = ["doctor"]

PACKAGES = ("mujoco-core", "numpy", "pydantic", "rosbags", "mcap", "ruckig", "eaik", "pillow", "typer", "rich")
EXTRAS = {"plots": "matplotlib", "bench": "pybullet", "docs": "sphinx"}
PORTS = {"CRCL Fanuc": 64444, "CRCL Motoman": 64445, "vision Fanuc": 5001, "vision Motoman": 5002, "console": 8080}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> int:
    """Says what is installed, which renderer works, which ports are free; exit 1 when `run` could not work."""
    packages = {name: _version(name) for name in PACKAGES}
    extras = {extra: find_spec(module) is not None for extra, module in EXTRAS.items()}
    renderers = available_renderers()
    ports = {name: _is_free(port) for name, port in PORTS.items()}
    free_mb = shutil.disk_usage(Path.cwd()).free // 2**20
    sound = all(packages.values()) and any(r.works for r in renderers)
    if as_json:
        print_json(
            {
                "cellwright": __version__, "python": platform.python_version(), "platform": platform.platform(),
                "packages": packages, "extras": extras, "ports_free": ports, "disk_free_mb": free_mb,
                "renderers": [{"name": r.name, "works": r.works, "detail": _detail(r)} for r in renderers],
                "cells": list(CELLS), "ok": sound,
            }
        )  # fmt: skip
        return 0 if sound else 1
    console.print(f"cellwright {__version__}, Python {platform.python_version()}, {platform.platform()}")
    console.print(f"cells: {', '.join(CELLS)}; {free_mb} MB free here\n")
    table(
        "packages",
        ["package", "version"],
        [(n, v or "[red]missing: pip install cellwright[/]") for n, v in packages.items()],
    )
    console.print()
    rows = [
        (e, "installed" if there else f"not installed: pip install 'cellwright\\[{e}]'") for e, there in extras.items()
    ]
    table("optional", ["extra", ""], rows)
    console.print()
    table(
        "renderers",
        ["name", "", "detail"],
        [(r.name, "works" if r.works else "does not work", _detail(r)) for r in renderers],
    )
    console.print()
    table("ports", ["door", "port [n]", ""], [(n, PORTS[n], "free" if free else "in use") for n, free in ports.items()])
    return 0 if sound else 1


def _detail(renderer: RendererStatus) -> str:
    packages = " ".join(renderer.debian_packages)
    return f"{renderer.reason}; on Debian: apt-get install {packages}" if packages else renderer.reason


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
