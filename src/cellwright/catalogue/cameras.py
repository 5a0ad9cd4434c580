"""The figures of cameras and projectors; the furniture that carries them says where they are."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CameraFigures", "ProjectorFigures"]

Size2 = tuple[float, float]
Size3 = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class CameraFigures:
    """A camera on a piece of furniture.

    Attributes:
        name: Name on its piece.
        xyz_m: Its centre of projection in the piece's frame.
        rpy_rad: Orientation there: x is the way it looks, y the left of its picture, z the top.
        resolution_px: Columns and rows of the image.
        fov_rad: Angle of view across the columns.
        rate_hz: Images per second.
        range_m: Nearest and farthest that it sees.
        noise_sd: Standard deviation of the grey values, 0 to 1.
    """

    name: str
    xyz_m: Size3
    rpy_rad: Size3
    resolution_px: tuple[int, int]
    fov_rad: float
    rate_hz: float
    range_m: Size2 = (0.02, 300.0)
    noise_sd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class ProjectorFigures:
    """A projector that throws a random pattern for stereo vision; posed like a camera.

    Attributes:
        xyz_m: Its centre of projection in the piece's frame.
        rpy_rad: Orientation there: x is the way it throws.
        fov_rad: Angle of its cone.
        range_m: Nearest and farthest that it lights.
        resolution_px: Columns and rows of its pattern.
        dot_px: Side of a dot of the pattern.
        colour: Of its light, red, green and blue from 0 to 1.
        strength: Light that a dot adds to what it falls on, white being 1.
    """

    xyz_m: Size3
    rpy_rad: Size3
    fov_rad: float
    range_m: Size2
    resolution_px: tuple[int, int]
    dot_px: int
    colour: Size3
    strength: float
