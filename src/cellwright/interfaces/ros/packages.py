"""Types of messages and services as packages of ROS 1, for programs that are built with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from cellwright.core.errors import OutputError

__all__ = ["write_packages"]

OTHER = re.compile(r"^\s*([a-z]\w*)/\w+", re.MULTILINE)
MANIFEST = """<?xml version="1.0"?>
<package format="2">
  <name>{name}</name>
  <version>0.0.0</version>
  <description>Messages and services of Cellwright's cells</description>
  <maintainer email="nobody@example.com">nobody</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>catkin</buildtool_depend>
  <depend>message_generation</depend>
  <depend>message_runtime</depend>
{depends}</package>
"""
BUILD = """cmake_minimum_required(VERSION 3.0.2)
project({name})
find_package(catkin REQUIRED COMPONENTS message_generation {depends})
{files}generate_messages(DEPENDENCIES {depends})
catkin_package(CATKIN_DEPENDS message_runtime {depends})
"""


def write_packages(definitions: Mapping[str, str], folder: Path) -> list[Path]:
    """Writes the texts of types as catkin packages, one folder each.

    Args:
        definitions: Type, such as `nistcrcl/msg/CrclStatusMsg` -> its text.
        folder: Where the packages go.

    Raises:
        OutputError: A file cannot be written.
    """
    texts: dict[str, dict[Path, str]] = {}
    for name, text in sorted(definitions.items()):
        package, kind, own = name.split("/")
        texts.setdefault(package, {})[Path(kind, f"{own}.{kind}")] = text
    written = []
    for package, files in texts.items():
        depends = sorted({name for text in files.values() for name in OTHER.findall(text)} - {package})
        lines = "".join(
            f"add_{what}_files(FILES {' '.join(named)})\n"
            for kind, what in (("msg", "message"), ("srv", "service"))
            if (named := [file.name for file in files if file.parent.name == kind])
        )
        files[Path("package.xml")] = MANIFEST.format(
            name=package, depends="".join(f"  <depend>{name}</depend>\n" for name in depends)
        )
        files[Path("CMakeLists.txt")] = BUILD.format(name=package, depends=" ".join(depends), files=lines)
        for file, text in files.items():
            path = folder / package / file
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            except OSError as error:
                raise OutputError(path, error.strerror or str(error)) from None
            written.append(path)
    return written
