"""Settings of a model that comes from a file instead of the catalogue: sections of cells, figures files."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from cellwright.core.config import Cfg

__all__ = ["Collision", "JointSettings", "Kind", "ModelSettings", "Origin", "Unit"]

Kind = Literal["arm", "tool", "part", "fixture"]
Unit = Literal["m", "cm", "mm", "in", "ft"]
Origin = Literal["file", "bottom", "centre"]
Collision = Literal["hull", "pieces"]
Positive = Annotated[float, Field(ge=1e-9, le=1e9)]
Text = Annotated[str, Field(min_length=1, max_length=500)]


class JointSettings(Cfg):
    """Figures of one joint that take the place of the file's, or of guesses.

    Attributes:
        position_limits_rad: Lowest and highest angle.
        velocity_radps: Largest speed.
        acceleration_radps2: Largest acceleration.
        jerk_radps3: Largest jerk.
        effort_nm: Largest torque.
        rotor_inertia_kgm2: Inertia of the motor's rotor, before the gear.
        gear_ratio: Turns of the motor for one of the joint.
        damping_nms_per_rad: Viscous friction of the joint.
    """

    position_limits_rad: tuple[float, float] | None = None
    velocity_radps: Positive | None = None
    acceleration_radps2: Positive | None = None
    jerk_radps3: Positive | None = None
    effort_nm: Positive | None = None
    rotor_inertia_kgm2: Annotated[float, Field(ge=0)] | None = None
    gear_ratio: Positive | None = None
    damping_nms_per_rad: Annotated[float, Field(ge=0)] | None = None


class ModelSettings(Cfg):
    """A file, and the settings that it does not contain itself.

    Attributes:
        file: URDF, SDF, MJCF, xacro, or for parts STL, OBJ, COLLADA; relative to the file that names it.
        kind: Its use; a cell knows by where it uses it.
        title: The name for people.
        search: Folders in which `package://` and `model://` are looked for.
        arguments: Of xacro, `name: value`.
        srdf: MoveIt's file beside a URDF; one of the same robot that lies near it is found by itself.
        model: The one to use, of several models of an SDF file.
        base: The link that is put where the cell says; by default the root.
        tip: The link or frame that is the flange, or a tool's centre point.
        mount_rpy_deg: Orientation of a tool on the flange: roll, pitch, yaw.
        joints: Joint -> its figures.
        home_rad: A bent pose of an arm, free of collisions.
        payload_kg: Rated load of an arm.
        mass_kg: Mass of the whole, where it is known.
        density_kgpm3: Of links without a mass.
        grip_force_n: Force of each finger of a gripper.
        closing_time_s: Duration of a gripper's motion from open to closed.
        collision: Collision shape of a hollow mesh: its convex hull, or convex pieces; by default parts and fixtures
            in pieces, arms and tools as hulls.
        units: Of the numbers in a mesh file.
        origin: The origin of a part: as in the file, in the middle of its underside, in its middle.
        sku: Of a part; by default `sku_` and its name.
        friction: Sliding friction of a part.
        rgba: Colour of a part that has none.
    """

    file: Text
    kind: Kind | None = None
    title: str = ""
    search: tuple[Text, ...] = ()
    arguments: dict[str, str] = Field(default_factory=dict)
    srdf: str = ""
    model: str = ""
    base: str = ""
    tip: str = ""
    mount_rpy_deg: tuple[float, float, float] = (0.0, 0.0, 0.0)
    joints: dict[str, JointSettings] = Field(default_factory=dict)
    home_rad: tuple[float, ...] = ()
    payload_kg: Positive | None = None
    mass_kg: Positive | None = None
    density_kgpm3: Positive = 1000.0
    grip_force_n: Positive | None = None
    closing_time_s: Positive | None = None
    collision: Collision | None = None
    units: Unit | None = None
    origin: Origin = "bottom"
    sku: str = ""
    friction: Annotated[float, Field(ge=0, le=10)] = 0.4
    rgba: tuple[float, float, float, float] = (0.55, 0.6, 0.68, 1.0)
