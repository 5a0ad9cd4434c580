"""A MuJoCo specification as a description that knows no engine: models at their places, files of their meshes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import mujoco
import numpy as np

from cellwright.core.errors import BadInput
from cellwright.core.pose import Pose
from cellwright.core.rotation import matrix_from_quaternion
from cellwright.models.description import (
    WORLD,
    FrameDescription,
    Inertial,
    JointDescription,
    JointKind,
    LinkDescription,
    ModelDescription,
    PlacedModel,
    WorldDescription,
)
from cellwright.models.exporting.joints import SpecJointReader
from cellwright.models.exporting.loops import read_loops
from cellwright.models.exporting.sensors import read_sensors
from cellwright.models.exporting.shapes import ShapeReader
from cellwright.models.importing.notes import Notes

__all__ = ["DescribedSpec", "describe"]

GROUND = "ground"
"""The model that holds what belongs to the world itself."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DescribedSpec:
    """A specification as a description, with its mesh files.

    Attributes:
        world: Its models at their places.
        files: Path of a mesh file, relative to the description's -> its bytes.
        notes: Everything that could not be described.
    """

    world: WorldDescription
    files: dict[str, bytes]
    notes: Notes

    def model(self, *, fastened: bool = False) -> ModelDescription:
        """Returns the one model, standing at the origin.

        Args:
            fastened: Whether it stays fastened to the ground where it is; otherwise it may be put anywhere.

        Raises:
            BadInput: There are several, or none.
        """
        if len(self.world.models) != 1:
            names = ", ".join(placed.model.name for placed in self.world.models) or "none"
            raise BadInput(f"'{self.world.name}' holds {len(self.world.models)} models ({names}), not one")
        model = self.world.models[0].model
        if fastened:
            return model
        return replace(model, static=False, joints=tuple(j for j in model.joints if j.parent != WORLD))


def describe(spec: Any, *, name: str = "", folder: str = "meshes/") -> DescribedSpec:
    """Describes a specification, which stays as it is.

    Each body that stands in the world is the root of a model of its own. A root without a joint is fastened to the
    world; where nothing of its model can move, the model is static. Elements are called by their names without the
    model's (`fanuc/link_1` is `link_1` of `fanuc`).

    A body with several joints becomes a chain, with links between that weigh nothing. Links of zero mass have no
    inertial. Joint positions count as in the specification. A constraint that closes a loop is a second joint of its
    child.

    Args:
        spec: An `MjSpec`.
        name: Of the world; by default the specification's own.
        folder: The beginning of the meshes' URIs.
    """
    own = spec.copy()
    own.compiler.fusestatic = own.compiler.discardvisual = False
    _name_all(own)
    try:
        compiled = own.compile()
    except ValueError as error:
        raise BadInput(f"the specification does not compile: {error}") from None
    name = name or own.modelname
    reader = _Describer(own, compiled, name, folder)
    models = tuple(reader.model(root) for root in range(1, compiled.nbody) if not compiled.body_parentid[root])
    ground = reader.ground()
    reader.shapes.finish()
    return DescribedSpec(
        world=WorldDescription(
            name=name,
            models=(*ground, *models),
            gravity_mps2=tuple(np.asarray(own.option.gravity).tolist()),
        ),
        files={f"{folder}{file}": data for file, data in reader.shapes.files.items()},
        notes=reader.notes,
    )


def _name_all(spec: Any) -> None:
    """Gives names to bodies, joints, cameras and actuators that have none: other formats ask for them."""
    for kind, elements in (
        ("body", list(spec.bodies)[1:]),
        ("joint", spec.joints),
        ("camera", spec.cameras),
        ("actuator", spec.actuators),
    ):
        taken = {element.name for element in elements}
        free = (f"{kind}_{number}" for number in count(1) if f"{kind}_{number}" not in taken)
        for element in elements:
            element.name = element.name or next(free)


class _Describer:
    def __init__(self, spec: Any, compiled: Any, name: str, folder: str) -> None:
        self.notes = Notes()
        self._whole = name
        self._spec = spec
        self._compiled = compiled
        self.shapes = ShapeReader(spec, compiled, self.notes, folder)
        self._joints = SpecJointReader(spec, compiled, self.notes)
        self._children: dict[int, list[int]] = {}
        for body in range(1, compiled.nbody):
            self._children.setdefault(int(compiled.body_parentid[body]), []).append(body)
        if compiled.ntendon:
            self.notes.dropped("tendons", f"all {compiled.ntendon}")
        if compiled.nexclude:
            self.notes.dropped("contacts", f"{compiled.nexclude} pairs of links that do not touch each other")
        if compiled.npair:
            self.notes.dropped("contacts", f"{compiled.npair} pairs of geoms with settings of their own")
        if np.any(compiled.dof_armature):
            self.notes.dropped("armature", f"inertia of the drives of {np.count_nonzero(compiled.dof_armature)} joints")
        if np.any(compiled.body_gravcomp):
            self.notes.dropped("gravity compensation", f"of {np.count_nonzero(compiled.body_gravcomp)} links")

    def ground(self) -> tuple[PlacedModel, ...]:
        """Returns the geoms of the world itself as a model, if there are any."""
        visuals, collisions = self.shapes.of_body(0, "")
        if not visuals and not collisions:
            return ()
        link = LinkDescription(name=GROUND, visuals=visuals, collisions=collisions)
        return (PlacedModel(model=ModelDescription(name=GROUND, links=(link,), static=True)),)

    def model(self, root: int) -> PlacedModel:
        """Returns the model whose root is a body that stands in the world."""
        compiled = self._compiled
        name = self._name(root).partition("/")[0]
        prefix = f"{name}/"
        if len(self._children[0]) == 1:
            name = self._whole
        links: list[LinkDescription] = []
        joints: list[JointDescription] = []
        frames: list[FrameDescription] = []
        bodies = [(root, WORLD)]
        for body, parent in bodies:
            link = self._name(body).removeprefix(prefix)
            joints += self._carriers(body, parent, link, links, prefix)
            visuals, collisions = self.shapes.of_body(body, prefix)
            links.append(
                LinkDescription(name=link, inertial=self._inertial(body), visuals=visuals, collisions=collisions)
            )
            frames += self._frames(body, link, prefix)
            bodies += [(child, link) for child in self._children.get(body, [])]
        named = {body: self._name(body).removeprefix(prefix) for body, _ in bodies}
        joints += read_loops(compiled, named, prefix)
        sensors = read_sensors(self._spec, compiled, named, prefix, self.notes)
        movable = any(joint.kind is not JointKind.FIXED for joint in joints) or self._is_free(root)
        model = ModelDescription(
            name=name,
            links=tuple(links),
            joints=tuple(joints) if movable else tuple(j for j in joints if j.parent != WORLD),
            frames=tuple(frames),
            sensors=tuple(sensors),
            static=not movable,
        )
        return PlacedModel(model=model, pose=self._pose(root))

    def _name(self, body: int) -> str:
        return str(self._compiled.body(body).name)

    def _pose(self, body: int) -> Pose:
        return Pose(self._compiled.body_pos[body], self._compiled.body_quat[body])

    def _numbers(self, body: int) -> range:
        first = int(self._compiled.body_jntadr[body])
        return range(first, first + int(self._compiled.body_jntnum[body]))

    def _is_free(self, body: int) -> bool:
        free = int(mujoco.mjtJoint.mjJNT_FREE)
        return any(int(self._compiled.jnt_type[number]) == free for number in self._numbers(body))

    def _carriers(
        self, body: int, parent: str, link: str, links: list[LinkDescription], prefix: str
    ) -> list[JointDescription]:
        """Returns the joints that carry a body; a root's are given in the model's frame, its own frame at rest."""
        pose = Pose.identity() if parent == WORLD else self._pose(body)
        numbers = self._numbers(body)
        if self._is_free(body):
            return []
        if not numbers:
            return [JointDescription(name=f"{link}_fixed", kind=JointKind.FIXED, parent=parent, child=link, pose=pose)]
        made = []
        for number in numbers:
            last = number == numbers[-1]
            child = link if last else f"{link}_{self._compiled.joint(number).name.removeprefix(prefix) or number}"
            joint = self._joints.joint(number, parent, child, pose, prefix)
            parent, pose = child, Pose.identity()
            if not last:  # a link that is nothing but a step stands on its axis, where every format can say it
                links.append(LinkDescription(name=child))
                axis = Pose.from_xyz_rpy(joint.anchor_m)
                joint, pose = replace(joint, pose=joint.pose @ axis, anchor_m=(0.0, 0.0, 0.0)), axis.inverse()
            made.append(joint)
        return made

    def _inertial(self, body: int) -> Inertial | None:
        compiled = self._compiled
        mass = float(compiled.body_mass[body])
        if not mass:
            return None
        turn = matrix_from_quaternion(compiled.body_iquat[body])
        inertia = turn @ np.diag(compiled.body_inertia[body]) @ turn.T
        centre = Pose(compiled.body_ipos[body], np.array([1.0, 0.0, 0.0, 0.0]))
        return Inertial(mass_kg=mass, pose=centre, inertia_kgm2=(inertia + inertia.T) / 2)

    def _frames(self, body: int, link: str, prefix: str) -> list[FrameDescription]:
        """Returns the sites as frames; a site with the name and the place of its link adds nothing and is left out."""
        compiled = self._compiled
        frames = []
        for site in np.flatnonzero(compiled.site_bodyid == body):
            name = compiled.site(int(site)).name.removeprefix(prefix)
            pose = Pose(compiled.site_pos[site], compiled.site_quat[site])
            if name and not (name == link and pose.is_close(Pose.identity())):
                frames.append(FrameDescription(name=name, link=link, pose=pose))
        return frames
