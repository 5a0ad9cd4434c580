"""SRDF: the file that MoveIt has beside a URDF: pairs that may touch, the arm's ends, a pose to start from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.core.errors import BadInput
from cellwright.models.description import WORLD, ModelDescription
from cellwright.models.importing.notes import DescriptionError, Notes, listed
from cellwright.models.importing.xacro import run_xacro
from cellwright.models.importing.xml import XmlReader, read_xml

__all__ = ["Semantics", "find_semantics", "read_semantics"]

FOLDERS = ("", "config", "srdf", "../config", "../srdf", "*/config", "*/srdf")
"""Where an SRDF lies: beside the URDF, in its package, in a package beside it (`ur5e_moveit_config/config`)."""

MOST_FILES = 200
LINKS = {
    "disable_collisions": ("link1", "link2"),
    "group/chain": ("base_link", "tip_link"),
    "group/link": ("name",),
    "end_effector": ("parent_link",),
    "virtual_joint": ("child_link",),
    "link_sphere_approximation": ("link",),
}
"""Where an SRDF names links, and by which attributes."""
JOINTS = {"group/joint": ("name",), "group_state/joint": ("name",), "passive_joint": ("name",)}
STATES = ("home", "ready", "up", "default", "rest")


@dataclass(frozen=True)
class Semantics:
    """Semantics of a robot that its description has no place for.

    Attributes:
        base: The link that an arm begins with; empty where nothing is said.
        tip: The link that it ends with.
        home: Joint -> its position in a pose to start from.
        home_name: The name of that pose, and its file.
        pairs: Links whose contacts do not count.
    """

    base: str = ""
    tip: str = ""
    home: Mapping[str, float] = field(default_factory=dict)
    home_name: str = ""
    pairs: tuple[tuple[str, str], ...] = ()


def find_semantics(description: Path, search: Sequence[Path], model: ModelDescription, notes: Notes) -> Path | None:
    """Returns the one SRDF near a description that belongs to it: of its robot's name, without unknown links."""
    links = {link.name for link in model.links}
    found, others = [], {}
    for file in dict.fromkeys(_near(description, search)):
        try:
            root = read_xml(file)
        except BadInput:
            continue
        if root.tag != "robot" or root.get("name") != model.name:
            continue
        named = {normalized_name(e.get(key)) for e in root.findall("disable_collisions") for key in ("link1", "link2")}
        if named <= links:
            found.append(file)
        else:
            others[file] = sorted(named - links)
    if len(found) > 1:
        notes.dropped("SRDF", f"{listed([str(file) for file in found])} are all of this robot; --srdf names one")
    for file, unknown in others.items() if not found else ():
        what = f"{file} is of a robot of this name, but of links that it has not ({listed(unknown)})"
        notes.dropped("SRDF", f"{what}: not used; --srdf takes what fits")
    return found[0] if len(found) == 1 else None


def normalized_name(name: str | None) -> str:
    """Returns a link's or joint's name as the robot has it after reading, without slashes."""
    return (name or "").strip().replace("/", "_")


def _near(description: Path, search: Sequence[Path]) -> Iterable[Path]:
    here = description.absolute().parent
    for root in (here, *search):
        for folder in FOLDERS:
            if folder.startswith("*/") and root is here:
                continue
            base = root / folder.removeprefix("*/") if not folder.startswith("*/") else root
            pattern = f"{folder}/*.srdf" if folder.startswith("*/") else "*.srdf"
            yield from (file.resolve() for file in sorted(base.glob(pattern))[:MOST_FILES])


def read_semantics(file: Path, search: Sequence[Path], model: ModelDescription, notes: Notes) -> Semantics:
    """Returns the content of an SRDF file about a model; what does not fit it is noted.

    Raises:
        DescriptionError: It is no SRDF.
    """
    if not file.is_file():
        raise DescriptionError(file, "does not exist")
    root = read_xml(file, run_xacro(file, search, {}) if file.suffix.lower() == ".xacro" else None)
    if root.tag != "robot":
        raise DescriptionError(file, f"is no SRDF: its root is <{str(root.tag)[:40]}>, not <robot>")
    return _Srdf(file, notes).read(root, model)


class _Srdf(XmlReader):
    def read(self, root: Any, model: ModelDescription) -> Semantics:
        links, joints = {link.name for link in model.links}, {joint.name for joint in model.joints}
        self._note_unknown(
            root, links, joints | {normalized_name(e.get("name")) for e in root.findall("virtual_joint")}
        )
        pairs = []
        for element in root.findall("disable_collisions"):
            first, second = normalized_name(element.get("link1")), normalized_name(element.get("link2"))
            if {first, second} <= links and first != second:
                pairs.append((min(first, second), max(first, second)))
        if pairs:
            self.notes.changed(self.file.name, f"contacts of {len(set(pairs))} pairs of links are left out, as it says")
        ends = [
            (normalized_name(c.get("base_link")), normalized_name(c.get("tip_link")))
            for c in root.iterfind("group/chain")
        ]
        chains = [pair for pair in dict.fromkeys(ends) if {*pair} <= links]
        base = tip = ""
        if len(chains) == 1:
            base, tip = chains[0]
        elif chains:
            text = ", ".join(f"{first} to {last}" for first, last in chains)
            self.notes.dropped(self.file.name, f"{len(chains)} chains ({text}): --base and --tip choose one")
        home, name = self._home(root, joints)
        return Semantics(base, tip, home, f"'{name}' of {self.file.name}" if home else "", tuple(dict.fromkeys(pairs)))

    def _note_unknown(self, root: Any, links: set[str], joints: set[str]) -> None:
        """Adds one note for each kind of element that names links or joints which the robot has not."""
        for kind, places, known in (("link", LINKS, links), ("joint", JOINTS, joints)):
            for tag, attributes in places.items():
                unknown: dict[str, Any] = {}
                for element in root.iterfind(tag):
                    for name in (normalized_name(element.get(key)) for key in attributes):
                        if name not in known and not (name == WORLD and kind == "link"):
                            unknown.setdefault(name, element)
                if unknown:
                    names = listed([f"'{name}'" for name in unknown])
                    some = f"{kind} {names} does not exist" if len(unknown) == 1 else f"unknown {kind}s {names}"
                    self.notes.dropped(self.where(next(iter(unknown.values()))), f"<{tag}>: {some}")

    def _home(self, root: Any, joints: set[str]) -> tuple[dict[str, float], str]:
        """Returns the first pose of a usual name with a joint not at zero: stretched out, an arm is singular."""
        for name in STATES:
            for state in root.findall("group_state"):
                if (state.get("name") or "").lower() != name:
                    continue
                values = {
                    normalized_name(e.get("name")): self.number(e, "value", 0.0) or 0.0 for e in state.findall("joint")
                }
                known = {joint: value for joint, value in values.items() if joint in joints}
                if any(known.values()):
                    return known, str(state.get("name"))
        return {}, ""
