"""ROS packages of the message types that no ROS installation has, for `rostopic echo`, rosbag, rviz and programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rosbags.interfaces import Nodetype

from cellwright.core.errors import JobFailed
from cellwright.core.rospy_import import ROSPY_PLACE
from cellwright.interfaces.ros.types import RosTypes

__all__ = ["package_files", "python_modules"]

PYTHON = "python"  # the folder of the Python modules
MSG, SRV = "msg", "srv"
TIMES = "builtin_interfaces"
GENERATE_S = 60.0
GENERATE = """
import sys
sys.argv[0] = "genpy"
sys.path.append(sys.argv.pop(1))
from genpy import generator, genpy_main
kind = sys.argv.pop(1)
genpy_main.genmain(sys.argv, "genpy", generator.MsgGenerator() if kind == "msg" else generator.SrvGenerator())
"""
PACKAGE_XML = """<package>
  <name>{name}</name>
  <version>0.1.0</version>
  <description>Message types of Cellwright, made by `cellwright ros messages`.</description>
  <maintainer email="nobody@example.org">made by a program</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>catkin</buildtool_depend>
  <build_depend>message_generation</build_depend>
  <run_depend>message_runtime</run_depend>
{depends}</package>
"""
CMAKE = """cmake_minimum_required(VERSION 3.0.2)
project({name})
find_package(catkin REQUIRED COMPONENTS message_generation {depends})
{files}generate_messages(DEPENDENCIES {depends})
catkin_package(CATKIN_DEPENDS message_runtime {depends})
"""


def package_files(types: RosTypes, names: Iterable[str]) -> dict[str, str]:
    """Returns the files of catkin packages with these types: path, whose first folder is the package -> content."""
    files: dict[str, str] = {}
    depends: dict[str, set[str]] = {}
    for name in sorted(names):
        package, kind, own = name.split("/")
        halves = types.service(name) if kind == SRV else (name,)
        text = types.service_text(name) if kind == SRV else _own_text(types, name)
        files[f"{package}/{kind}/{own}.{kind}"] = text
        depends.setdefault(package, set()).update(*(_packages_in(types, half) for half in halves))
    for package, needed in depends.items():
        others = sorted(needed - {package, TIMES})
        listed = [f"  <{tag}>{other}</{tag}>\n" for other in others for tag in ("build_depend", "run_depend")]
        files[f"{package}/package.xml"] = PACKAGE_XML.format(name=package, depends="".join(listed))
        lists = ""
        for kind, command in ((MSG, "add_message_files"), (SRV, "add_service_files")):
            if here := [path.rpartition("/")[2] for path in files if path.startswith(f"{package}/{kind}/")]:
                lists += f"{command}(FILES {' '.join(here)})\n"
        files[f"{package}/CMakeLists.txt"] = CMAKE.format(name=package, depends=" ".join(others), files=lists)
    return files


def python_modules(folder: Path, types: RosTypes, files: Mapping[str, str]) -> Path | None:
    """Makes Python modules of packages that are in a folder, below its folder `python`; None without ROS's generator.

    Raises:
        JobFailed: The generator fails.
    """
    if not (ROSPY_PLACE / "genpy").is_dir():
        return None
    out = folder / PYTHON
    with TemporaryDirectory() as others:
        search = _write_needed(Path(others), types, files)
        for package in sorted({path.partition("/")[0] for path in files}):
            (out / package).mkdir(parents=True, exist_ok=True)
            (out / package / "__init__.py").touch()
            for kind in (MSG, SRV):
                if texts := sorted((folder / package / kind).glob(f"*.{kind}")):
                    target = str(out / package / kind)
                    _generate(kind, ["-p", package, "-o", target, *search, *map(str, texts)])
                    _generate(kind, ["--initpy", "-p", package, "-o", target])
    return out


def _write_needed(folder: Path, types: RosTypes, files: Mapping[str, str]) -> list[str]:
    """Writes every type that packages need, their own too; returns where they are, in the generator's words."""
    for path in files:
        package, _, rest = path.partition("/")
        kind, _, file = rest.partition("/")
        if kind in (MSG, SRV):
            name = f"{package}/{kind}/{file.partition('.')[0]}"
            for half in types.service(name) if kind == SRV else (name,):
                for needed in _types_in(types, half):
                    target = folder / needed.partition("/")[0] / f"{needed.rpartition('/')[2]}.msg"
                    target.parent.mkdir(exist_ok=True)
                    target.write_text(_own_text(types, needed))
    return [f"-I{place.name}:{place}" for place in sorted(folder.iterdir())]


def _generate(kind: str, arguments: list[str]) -> None:
    command = [sys.executable, "-c", GENERATE, str(ROSPY_PLACE), kind, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=GENERATE_S, check=False)
    if ended.returncode != 0:
        said = (ended.stderr.strip() or ended.stdout.strip() or f"exit {ended.returncode}").splitlines()[-1]
        raise JobFailed(f"genpy cannot make Python modules: {said}")


def _own_text(types: RosTypes, name: str) -> str:
    return types.text(name).split("=" * 80)[0]


def _types_in(types: RosTypes, name: str) -> set[str]:
    """Returns all types within a type, at any depth; times are none in ROS 1."""
    found: set[str] = set()
    description: Any
    for _, description in types.ros1.fielddefs[name][1]:
        kind, detail = description
        if kind in (Nodetype.ARRAY, Nodetype.SEQUENCE):
            kind, detail = detail[0]
        if kind == Nodetype.NAME and not detail.startswith(TIMES):
            found |= {detail} | _types_in(types, detail)
    return found


def _packages_in(types: RosTypes, name: str) -> set[str]:
    return {inner.partition("/")[0] for inner in _types_in(types, name)}
