"""SDF: the XML of Gazebo, models and worlds, versions 1.4 to 1.11.

Poses are resolved as the format's "pose frame semantics" say: a pose is given in a frame (`relative_to`, or the
default of its element), frames are attached to links, and models may be nested and included.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.core.gravity import GRAVITY_MPS2
from cellwright.core.pose import Pose
from cellwright.models.description import (
    WORLD,
    FrameDescription,
    JointDescription,
    JointKind,
    ModelDescription,
    PlacedModel,
    WorldDescription,
)
from cellwright.models.importing.notes import DescriptionError, Notes
from cellwright.models.importing.paths import FileFinder
from cellwright.models.importing.sdf_frames import FrameGraph
from cellwright.models.importing.sdf_joint import SdfJointReader, UnresolvedModel, attached_link, is_true
from cellwright.models.importing.tree import normalized_tree
from cellwright.models.importing.xml import read_xml

__all__ = ["read_sdf"]

MAX_INCLUDES = 16
PLACES = ("frame", "model", "include")
DROPPED_IN_WORLD = ("actor", "light", "road", "population", "plugin", "gui", "state")


def read_sdf(path: Path, finder: FileFinder, notes: Notes, text: bytes | None = None) -> WorldDescription:
    """Returns the models of a file; one with a model and no world gives a world with that model alone.

    Raises:
        DescriptionError: No usable model remains, or something is wrong that cannot be guessed.
    """
    root = read_xml(path, text)
    return _Sdf(path, finder, notes).world(root)


class _Sdf(SdfJointReader):
    def __init__(self, path: Path, finder: FileFinder, notes: Notes, depth: int = 0) -> None:
        super().__init__(path, notes, finder)
        self.depth = depth
        self.version = (1, 6)

    def world(self, root: Any) -> WorldDescription:
        if root.tag != "sdf":
            raise self.error(root, f"is no SDF: its root is <{str(root.tag)[:40]}>, not <sdf>")
        self._read_version(root)
        world = root.find("world")
        holder = root if world is None else world
        name = self.file.stem if world is None else world.get("name", self.file.stem)
        gravity = holder.find("gravity")
        placed = []
        for tag in DROPPED_IN_WORLD:
            if count := len(holder.findall(tag)):
                self.notes.dropped(self.file.name, f"{count} x <{tag}> is not used")
        places = {e.get("name") or (e.findtext("name") or "").strip(): e for e in holder if e.tag in PLACES}
        for element in holder:
            if element.tag == "model":
                placed.append(self._placed(element, places))
            elif element.tag == "include":
                placed.extend(self._included(element, places))
        placed = [model for model in placed if model is not None]
        if not placed:
            raise self.error(root, "holds no <model>")
        g = (0.0, 0.0, -GRAVITY_MPS2) if gravity is None else tuple(self.text_numbers(gravity, 3))
        return WorldDescription(name=name, models=tuple(p for p in placed if p), gravity_mps2=(g[0], g[1], g[2]))

    def _read_version(self, root: Any) -> None:
        text = root.get("version", "1.6")
        try:
            major, _, minor = text.partition(".")
            self.version = (int(major), int(minor or 0))
        except ValueError:
            self.notes.guessed(self.where(root), f"version '{text}' is unknown; read as 1.6")

    def _placed(self, element: Any, places: dict[str, Any]) -> PlacedModel | None:
        graph = FrameGraph()
        raw = UnresolvedModel(static=is_true(element.find("static")))
        self._collect(element, "", graph, raw)
        name = element.get("name") or self.file.stem
        if not raw.links:
            self.notes.dropped(self.where(element), f"model '{name}' has no <link>")
            return None
        poses = graph.poses(self.file)
        model = self._finished(name, raw, poses)
        pose = self._pose_in_world(element, places)
        anchor = element.get("placement_frame")
        if anchor:
            if anchor not in poses:
                raise self.error(element, f"placement_frame '{anchor}' of model '{name}' does not exist")
            pose = pose @ poses[anchor].inverse()
        called = {name.replace("/", "_"): at for name, at in poses.items()} | {"world_link": poses.get("world")}
        at = poses.get(model.roots[0]) or called[model.roots[0]]  # tidying may have given it another name
        return PlacedModel(model=model, pose=pose @ (at or Pose.identity()))

    def _pose_in_world(self, element: Any, places: dict[str, Any], depth: int = 0) -> Pose:
        given = element.find("pose")
        other = "" if given is None else given.get("relative_to") or given.get("frame") or ""
        own = self.pose(given)
        if other in ("", "world", "__root__"):
            return own
        if other not in places or depth > 20:
            raise self.error(given, f"pose is relative to '{other}', which does not exist in the world")
        return self._pose_in_world(places[other], places, depth + 1) @ own

    # --- gathering -----------------------------------------------------------------------------------------------

    def _collect(self, element: Any, prefix: str, graph: FrameGraph, raw: UnresolvedModel) -> None:
        """Collects everything of a model, its nested models included, with scoped names such as `hand::finger`."""
        for link in element.findall("link"):
            name = prefix + self.name(link)
            if name in graph:
                self.notes.dropped(self.where(link), f"link '{name}': the name is used twice")
                continue
            self._add_frame(link, name, prefix, graph, default=f"{prefix}__model__")
            made, sensors = self.link(link, name)
            raw.links.append(made)
            raw.sensors += [(sensor, name) for sensor in sensors]
        for joint in element.findall("joint"):
            child = (joint.findtext("child") or "").strip()
            name, said = self._free_name(joint, prefix, graph), prefix + self.name(joint)
            if said not in raw.carriers:
                raw.called[said] = name
            self._add_frame(
                joint, name, prefix, graph, default=prefix + child if child != WORLD else f"{prefix}__model__"
            )
            raw.joints.append((self, joint, name, prefix))
            raw.carriers[name] = prefix + child
        for frame in element.findall("frame"):
            name = self._free_name(frame, prefix, graph)
            attached = (frame.get("attached_to") or "").strip()
            default = prefix + attached if attached else f"{prefix}__model__"
            self._add_frame(frame, name, prefix, graph, default=default)
            raw.frames[name] = prefix + attached if attached else ""
        for nested in element.findall("model"):
            self._nest(nested, prefix + self.name(nested), prefix, graph, raw)
        for include in element.findall("include"):
            self._nest_include(include, prefix, graph, raw)
        for tag in ("plugin", "gripper"):
            if count := len(element.findall(tag)):
                self.notes.dropped(self.where(element), f"{count} x <{tag}> is not used")

    def _free_name(self, element: Any, prefix: str, graph: FrameGraph) -> str:
        """Returns the scoped name of a joint or frame; one that is taken gets an ending, as libsdformat gives it.

        Older files call joints like links. `name_joint`, then `name_joint0`, `name_joint1` and so on; what refers to
        the name still means what had it first.
        """
        own = name = prefix + self.name(element)
        number = -1
        while name in graph:
            name = f"{own}_{element.tag}{number if number >= 0 else ''}"
            number += 1
        if name != own:
            self.notes.changed(self.where(element), f"{element.tag} '{own}': the name is taken; it is called '{name}'")
        return name

    def _nest(self, nested: Any, scope: str, prefix: str, graph: FrameGraph, raw: UnresolvedModel) -> None:
        anchor = nested.get("placement_frame") or ""
        self._add_frame(nested, f"{scope}::__place__", prefix, graph, default=f"{prefix}__model__")
        if anchor:
            graph.place(f"{scope}::__model__", f"{scope}::__place__", f"{scope}::{anchor}")
        else:
            graph.add(f"{scope}::__model__", f"{scope}::__place__", Pose.identity())
        graph.add(scope, f"{scope}::__model__", Pose.identity())
        self._collect(nested, f"{scope}::", graph, raw)

    def _add_frame(self, element: Any, name: str, prefix: str, graph: FrameGraph, default: str) -> None:
        given = element.find("pose")
        other = "" if given is None else (given.get("relative_to") or given.get("frame") or "").strip()
        graph.add(name, prefix + other if other else default, self.pose(given), self.where(element))

    # --- includes ------------------------------------------------------------------------------------------------

    def _open_include(self, element: Any) -> tuple[Any, _Sdf] | None:
        uri = (element.findtext("uri") or "").strip()
        found = self.finder.find(uri) if uri else None
        if found is None:
            self.notes.dropped(self.where(element), f"<include> of '{uri}': {self.finder.why_not(uri)}")
            return None
        if self.depth >= MAX_INCLUDES:
            raise self.error(element, f"<include> of '{uri}': files include each other {MAX_INCLUDES} deep")
        file = _model_file(found)
        if file is None:
            self.notes.dropped(self.where(element), f"<include> of '{uri}': no model.config or .sdf file in {found}")
            return None
        inner = _Sdf(file, FileFinder(file, (*self.finder.search, self.file.parent)), self.notes, self.depth + 1)
        root = read_xml(file)
        inner._read_version(root)
        model = root.find("model")
        if root.tag != "sdf" or model is None:
            self.notes.dropped(self.where(element), f"<include> of '{uri}': {file.name} holds no <model>")
            return None
        for tag, attribute in (("name", "name"), ("placement_frame", "placement_frame")):
            if text := (element.findtext(tag) or "").strip():
                model.set(attribute, text)
        for tag in ("pose", "static"):
            if (own := element.find(tag)) is not None:
                for old in model.findall(tag):
                    model.remove(old)
                model.append(own)
        return model, inner

    def _included(self, element: Any, places: dict[str, Any]) -> list[PlacedModel | None]:
        opened = self._open_include(element)
        return [] if opened is None else [opened[1]._placed(opened[0], places)]

    def _nest_include(self, element: Any, prefix: str, graph: FrameGraph, raw: UnresolvedModel) -> None:
        opened = self._open_include(element)
        if opened is None:
            return
        model, inner = opened
        if (element.get("merge") or "").lower() in ("true", "1"):
            inner._nest_merged(model, prefix, graph, raw)
        else:
            inner._nest(model, prefix + inner.name(model), prefix, graph, raw)

    def _nest_merged(self, model: Any, prefix: str, graph: FrameGraph, raw: UnresolvedModel) -> None:
        """Merges an included model (`merge`): its elements become the including one's own."""
        scope = f"_merged_{model.get('name', '')}"
        self._add_frame(model, f"{prefix}{scope}", prefix, graph, default=f"{prefix}__model__")
        for element in model:
            if element.tag in ("link", "frame", "model") and not element.get("attached_to"):
                given = element.find("pose")
                if given is None:
                    given = element.makeelement("pose", {})
                    element.append(given)
                if not (given.get("relative_to") or given.get("frame")):
                    given.set("relative_to", scope)
        self._collect(model, prefix, graph, raw)

    # --- finishing -----------------------------------------------------------------------------------------------

    def _finished(self, name: str, raw: UnresolvedModel, poses: dict[str, Pose]) -> ModelDescription:
        names = {link.name for link in raw.links}
        # each by the reader of its own file, which may be of another version
        read = (reader.joint(element, name, prefix, raw, names, poses) for reader, element, name, prefix in raw.joints)
        joints = [joint for joint in read if joint is not None]
        frames = []
        for frame in raw.frames:
            link = attached_link(raw, frame, names) or raw.links[0].name
            frames.append(FrameDescription(name=frame, link=link, pose=poses[link].inverse() @ poses[frame]))
        sensors = tuple(sensor for sensor, _ in raw.sensors)
        model = ModelDescription(
            name=name,
            links=tuple(raw.links),
            joints=tuple(joints),
            frames=tuple(frames),
            sensors=sensors,
            static=raw.static,
        )
        return normalized_tree(_fastened(model, poses, raw.static), self.file, self.notes, loops=True)


def _fastened(model: ModelDescription, poses: dict[str, Pose], static: bool) -> ModelDescription:
    """Returns the model with links without a joint fixed to each other if it is static, else as second roots."""
    roots = model.roots
    grounded = {j.child for j in model.joints if j.parent == WORLD and j.kind is JointKind.FIXED}
    if len(roots) < 2 or not (static or grounded.issuperset(roots)):
        return model
    first = poses[roots[0]].inverse()
    extra = [
        JointDescription(
            name=f"{root} fixed", kind=JointKind.FIXED, parent=roots[0], child=root, pose=first @ poses[root]
        )
        for root in roots[1:]
    ]
    kept = tuple(j for j in model.joints if not (j.parent == WORLD and j.child in roots[1:]))
    return replace(model, joints=(*kept, *extra))


def _model_file(found: Path) -> Path | None:
    """Returns the SDF file that a model's folder names as the newest in its model.config."""
    if found.is_file():
        return found
    config = found / "model.config"
    if config.is_file():
        try:
            named = read_xml(config).findall("sdf")
        except DescriptionError:
            named = []
        order = sorted(named, key=lambda e: [int(n) for n in (e.get("version") or "0").split(".") if n.isdigit()])
        for element in reversed(order):
            file = found / (element.text or "").strip()
            if (element.text or "").strip() and file.is_file():
                return file
    files = sorted(found.glob("*.sdf"))
    return files[-1] if files else None
