"""The kinds of furniture and their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi

from cellwright.catalogue.cameras import CameraFigures, ProjectorFigures
from cellwright.catalogue.figures import Figures

__all__ = [
    "BoxFigures",
    "CameraPostFigures",
    "CameraRigFigures",
    "CartFigures",
    "Colour",
    "FenceFigures",
    "FloorFigures",
    "FurnitureFigures",
    "MountFigures",
    "OpticalTableFigures",
    "PlatedTableFigures",
    "RaisedPlateFigures",
    "TableFigures",
]

Colour = tuple[float, float, float]
Size2 = tuple[float, float]
Size3 = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class FurnitureFigures(Figures):
    """Base of all furniture.

    Attributes:
        colours: Finish name -> red, green, blue, 0 to 1.
    """

    colours: Mapping[str, Colour]

    @property
    def cameras(self) -> tuple[CameraFigures, ...]:
        """The cameras that it carries."""
        return ()


@dataclass(frozen=True, kw_only=True)
class MountFigures:
    """A block on a table top that a robot stands on.

    Attributes:
        xy_m: Its middle in the table's frame.
        size_m: Side of a square block, diameter of a round one.
        top_m: Height of its upper face above the floor.
        round: Whether it is round.
    """

    xy_m: Size2
    size_m: float
    top_m: float
    round: bool = False


@dataclass(frozen=True, kw_only=True)
class TableFigures(FurnitureFigures):
    """A table top on four legs of aluminium profile.

    Attributes:
        size_m: Extent of the top along x and y.
        top_m: Height of the upper face.
        thickness_m: Thickness of the top.
        leg_m: Side of a leg's section.
        leg_inset_m: Distance of the legs' outer faces from the edge of the top.
        mounts: Blocks on it for robots, bottom to top.
    """

    size_m: Size2
    top_m: float
    thickness_m: float
    leg_m: float
    leg_inset_m: float
    mounts: tuple[MountFigures, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OpticalTableFigures(TableFigures):
    """A steel honeycomb plate with threaded holes on pneumatic legs.

    Attributes:
        hole_pitch_m: Distance of the holes.
        hole_diameter_m: Diameter of the holes.
    """

    hole_pitch_m: float
    hole_diameter_m: float


@dataclass(frozen=True, kw_only=True)
class RaisedPlateFigures:
    """A plate on a table top that marks an area.

    Attributes:
        name: Name of the area; also its finish.
        min_xy_m: One corner in the table's frame.
        max_xy_m: The other.
        top_m: Height of its upper face above the floor.
    """

    name: str
    min_xy_m: Size2
    max_xy_m: Size2
    top_m: float


@dataclass(frozen=True, kw_only=True)
class PlatedTableFigures(TableFigures):
    """A perforated plate on a frame, with raised plates for work areas.

    Attributes:
        apron_m: Height of the frame's lower edge.
        hole_pitch_m: Distance of the holes.
        hole_diameter_m: Diameter of the holes.
        plates: The raised plates.
    """

    apron_m: float
    hole_pitch_m: float
    hole_diameter_m: float
    plates: tuple[RaisedPlateFigures, ...]


@dataclass(frozen=True, kw_only=True)
class CartFigures(TableFigures):
    """A plate on a rolling frame of aluminium profile.

    Attributes:
        frame_size_m: Extent of the frame at the casters, wider than the plate.
        caster_radius_m: Radius of the wheels.
        shelf_m: Height of the shelf inside the frame.
        cabinet_xy_m: Middle of the robot controller's cabinet on the shelf.
        cabinet_size_m: Extent of the cabinet along x, y, z.
    """

    frame_size_m: Size2
    caster_radius_m: float
    shelf_m: float
    cabinet_xy_m: Size2
    cabinet_size_m: Size3


@dataclass(frozen=True, kw_only=True)
class BoxFigures(FurnitureFigures):
    """An open box for trays: a bottom, four low walls, perhaps walls between. Origin: below its middle, z up.

    Trays lie in it side by side along x, and on top of each other.

    Attributes:
        inner_size_m: Of one compartment along x, the longer side, and y.
        wall_m: Thickness of the walls.
        bottom_m: Thickness of the bottom.
        height_m: Of the walls, from below.
        compartments: Their number, along x.
        layers: Largest number of trays that are stacked in one of them.
    """

    inner_size_m: Size2
    wall_m: float
    bottom_m: float
    height_m: float
    compartments: int
    layers: int

    @property
    def capacity(self) -> int:
        """The number of trays that it takes."""
        return self.compartments * self.layers

    @property
    def outer_size_m(self) -> Size2:
        """The size over all walls."""
        (x, y), walls = self.inner_size_m, self.compartments + 1
        return (self.compartments * x + walls * self.wall_m, y + 2 * self.wall_m)

    @property
    def places_xyz_m(self) -> tuple[Size3, ...]:
        """The origin of a tray on the bottom, for each compartment, in the box's frame."""
        pitch = self.inner_size_m[0] + self.wall_m
        return tuple(((k - (self.compartments - 1) / 2) * pitch, 0.0, self.bottom_m) for k in range(self.compartments))

    def holds(self, xyz_m: Sequence[float]) -> bool:
        """Returns whether a point, in the box's frame, is inside one of its compartments, or above its bottom there."""
        half_x, half_y = self.inner_size_m[0] / 2, self.inner_size_m[1] / 2
        x, y, z = xyz_m
        over = any(abs(x - place[0]) <= half_x for place in self.places_xyz_m)
        return over and abs(y) <= half_y and 0.0 <= z < self.height_m


@dataclass(frozen=True, kw_only=True)
class FenceFigures(FurnitureFigures):
    """Clear panels between posts on three sides; the front, towards -y, is open between two light-curtain posts.

    Attributes:
        size_m: Extent along x and y.
        height_m: Height of the posts.
        gap_m: Gap between floor and panels.
        post_m: Side of a post's section.
        panel_width_m: Largest distance of two posts.
        panel_thickness_m: Thickness of a panel.
        curtain_m: Height of the light curtain's posts.
    """

    size_m: Size2
    height_m: float
    gap_m: float
    post_m: float
    panel_width_m: float
    panel_thickness_m: float
    curtain_m: float


@dataclass(frozen=True, kw_only=True)
class CameraPostFigures(FurnitureFigures):
    """A camera that looks straight down from a boom; the mast stands aside, towards -x.

    Attributes:
        camera_m: Height of the camera's centre of projection.
        reach_m: Distance of the mast from the camera's axis.
        profile_m: Side of the section of mast and boom.
        foot_size_m: Extent of the mast's foot plate along x, y, z.
        camera_size_m: Of the camera's housing along x, y, z.
        lens_radius_m: Radius of the lens barrel.
        lens_length_m: Length of the lens barrel.
        resolution_px: Columns and rows of the image.
        fov_rad: Angle of view across the columns.
        rate_hz: Images per second.
        noise_sd: Standard deviation of the grey values, 0 to 1.
    """

    camera_m: float
    reach_m: float
    profile_m: float
    foot_size_m: Size3
    camera_size_m: Size3
    lens_radius_m: float
    lens_length_m: float
    resolution_px: tuple[int, int]
    fov_rad: float
    rate_hz: float
    noise_sd: float

    @property
    def cameras(self) -> tuple[CameraFigures, ...]:
        """The one camera, which looks straight down, the top of its picture towards +y."""
        return (
            CameraFigures(
                name="camera",
                xyz_m=(0.0, 0.0, self.camera_m),
                rpy_rad=(0.0, pi / 2, pi / 2),
                resolution_px=self.resolution_px,
                fov_rad=self.fov_rad,
                rate_hz=self.rate_hz,
                noise_sd=self.noise_sd,
            ),
        )


@dataclass(frozen=True, kw_only=True)
class CameraRigFigures(FurnitureFigures):
    """A housing with one or more cameras on a mast; the piece's origin is on the floor below the first camera.

    Attributes:
        lenses: The cameras; all look the same way.
        projector: A projector in the same housing, if there is one.
        housing_size_m: Of the housing along the cameras' x, y, z.
        housing_offset_m: From the first camera to the middle of the housing's front, in that camera's frame.
        mast_xy_m: Place of the mast, in the piece's frame.
        profile_m: Side of the section of mast and boom.
        foot_size_m: Extent of the mast's foot plate along x, y, z.
        boom_m: Height of the boom's middle, from the mast to above or below the housing.
    """

    lenses: tuple[CameraFigures, ...]
    projector: ProjectorFigures | None
    housing_size_m: Size3
    housing_offset_m: Size3
    mast_xy_m: Size2
    profile_m: float
    foot_size_m: Size3
    boom_m: float

    @property
    def cameras(self) -> tuple[CameraFigures, ...]:
        """The cameras behind its lenses."""
        return self.lenses


@dataclass(frozen=True, kw_only=True)
class FloorFigures(FurnitureFigures):
    """An even floor without end, with a painted line round the cell.

    Attributes:
        line_size_m: Extent of the rectangle that the painted line encloses.
        line_width_m: Width of the line.
    """

    line_size_m: Size2
    line_width_m: float
