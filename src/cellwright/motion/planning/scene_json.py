"""A scene as plain data, for logs, messages and bug reports; models of the catalogue go by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.catalogue import ROBOTS, TOOLS, find_model
from cellwright.core.errors import BadInput, UnknownName
from cellwright.core.pose import Pose
from cellwright.motion.planning.scene import (
    AttachedObject,
    Box,
    CatalogueModel,
    ConvexMesh,
    Cylinder,
    Obstacle,
    Scene,
    SceneRobot,
    Shape,
)

__all__ = ["scene_from_dict", "scene_to_dict"]

SHAPES = ("box", "cylinder", "convex_mesh", "model")


def scene_to_dict(scene: Scene) -> dict[str, Any]:
    """Returns the scene as numbers, texts, lists and dictionaries."""
    robot = scene.robot
    return {
        "robot": {
            "arm": next((name for name in ROBOTS if ROBOTS.get(name) is robot.arm), robot.arm.name),
            "pose_base_in_world": _pose_to_dict(robot.pose_base_in_world),
            "tool": robot.tool.name if robot.tool else None,
            "tool_joints": dict(robot.tool_joints),
        },
        "obstacles": [
            {"name": o.name, "shape": _shape_to_dict(o.shape), "pose_in_world": _pose_to_dict(o.pose_in_world)}
            for o in scene.obstacles
        ],
        "held": scene.held
        and {
            "name": scene.held.name,
            "shape": _shape_to_dict(scene.held.shape),
            "pose_in_tool": _pose_to_dict(scene.held.pose_in_tool),
        },
        "allowed": sorted(sorted(pair) for pair in scene.allowed),
    }


def scene_from_dict(data: Mapping[str, Any]) -> Scene:
    """Returns the scene of such a description.

    Raises:
        BadInput: when something is missing, of the wrong kind, or not in the catalogue.
    """
    try:
        robot, held = data["robot"], data.get("held")
        return Scene(
            SceneRobot(
                ROBOTS.get(robot["arm"]),
                _pose_from_dict(robot["pose_base_in_world"]),
                TOOLS.get(robot["tool"]) if robot.get("tool") else None,
                dict(robot.get("tool_joints", {})),
            ),
            tuple(
                Obstacle(o["name"], _shape_from_dict(o["shape"]), _pose_from_dict(o["pose_in_world"]))
                for o in data.get("obstacles", ())
            ),
            AttachedObject(held["name"], _shape_from_dict(held["shape"]), _pose_from_dict(held["pose_in_tool"]))
            if held
            else None,
            frozenset(frozenset(pair) for pair in data.get("allowed", ())),
        )
    except KeyError as error:
        raise BadInput(f"the description of a scene lacks {error}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"the description of a scene cannot be read: {error}") from None


def _shape_to_dict(shape: Shape) -> dict[str, Any]:
    match shape:
        case Box(size_m=size):
            return {"kind": "box", "size_m": list(size)}
        case Cylinder(radius_m=radius, length_m=length):
            return {"kind": "cylinder", "radius_m": radius, "length_m": length}
        case ConvexMesh(vertices_m=vertices):
            return {"kind": "convex_mesh", "vertices_m": [list(vertex) for vertex in vertices]}
        case CatalogueModel(figures=figures, joints=joints):
            return {"kind": "model", "model": figures.name, "joints": dict(joints)}


def _shape_from_dict(data: Mapping[str, Any]) -> Shape:
    match data["kind"]:
        case "box":
            x, y, z = map(float, data["size_m"])
            return Box((x, y, z))
        case "cylinder":
            return Cylinder(float(data["radius_m"]), float(data["length_m"]))
        case "convex_mesh":
            return ConvexMesh(tuple((float(x), float(y), float(z)) for x, y, z in data["vertices_m"]))
        case "model":
            return CatalogueModel(find_model(data["model"])[1], dict(data.get("joints", {})))
    raise UnknownName("kind of shape", str(data["kind"]), SHAPES)


def _pose_to_dict(pose: Pose) -> dict[str, list[float]]:
    return {"xyz_m": pose.position.tolist(), "quaternion_wxyz": pose.quaternion.tolist()}


def _pose_from_dict(data: Mapping[str, Any]) -> Pose:
    return Pose(data["xyz_m"], data["quaternion_wxyz"])
