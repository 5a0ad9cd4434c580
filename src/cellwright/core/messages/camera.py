"""Pictures of cameras, and what must be known to use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from cellwright.core.messages.base import Array, Message

__all__ = ["CameraInfo", "CameraPose", "Depth", "Image", "PointCloud", "Segmentation"]

Bytes = npt.NDArray[np.uint8]
CHANNELS = {"rgb8": 3, "mono8": 1}
POINT_FIELDS = (("x", 0, 7, 1), ("y", 4, 7, 1), ("z", 8, 7, 1))  # name, first byte, float32, one number
PICTURE: dict[str, Any] = {
    "height": np.uint32,
    "width": np.uint32,
    "encoding": str,
    "is_bigendian": np.uint8,
    "step": np.uint32,
    "data": Bytes,
}


@dataclass(slots=True, kw_only=True)
class Image(Message):
    """An 8-bit image, (height, width, 3) for rgb8 or (height, width) for mono8."""

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/Image"
    ROS_FIELDS: ClassVar[dict[str, Any]] = PICTURE

    frame: str
    encoding: str
    pixels: Bytes

    is_bigendian: ClassVar[int] = 0

    @property
    def height(self) -> int:
        """Its rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Its columns."""
        return int(self.pixels.shape[1])

    @property
    def step(self) -> int:
        """Bytes of a row."""
        return self.width * CHANNELS.get(self.encoding, 1)

    @property
    def data(self) -> Bytes:
        """Its bytes."""
        return self.pixels

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        height, width, encoding = values["height"], values["width"], values["encoding"]
        shape = (height, width, 3) if CHANNELS.get(encoding) == 3 else (height, width)
        head = {key: values[key] for key in ("time_ns", "sequence", "source", "frame")}
        return cls(**head, encoding=encoding, pixels=np.asarray(values["data"], np.uint8).reshape(shape))


@dataclass(slots=True, kw_only=True)
class Depth(Message):
    """Distance along the optical axis in metres, (height, width); not a number where nothing is seen."""

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/Image"
    ROS_FIELDS: ClassVar[dict[str, Any]] = PICTURE

    frame: str
    depth_m: npt.NDArray[np.float32]

    encoding: ClassVar[str] = "32FC1"
    is_bigendian: ClassVar[int] = 0

    @property
    def height(self) -> int:
        """Its rows."""
        return int(self.depth_m.shape[0])

    @property
    def width(self) -> int:
        """Its columns."""
        return int(self.depth_m.shape[1])

    @property
    def step(self) -> int:
        """Bytes of a row."""
        return self.width * 4

    @property
    def data(self) -> Bytes:
        """Its bytes, little endian."""
        return np.ascontiguousarray(self.depth_m, "<f4").reshape(-1).view(np.uint8)

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        flat = np.frombuffer(np.asarray(values["data"], np.uint8).tobytes(), "<f4").astype(np.float32)
        head = {key: values[key] for key in ("time_ns", "sequence", "source", "frame")}
        return cls(**head, depth_m=flat.reshape(values["height"], values["width"]))


@dataclass(slots=True, kw_only=True)
class CameraInfo(Message):
    """The intrinsics of a camera as calibrated, and which part of its picture is sent.

    Attributes:
        frame: That of the picture: x to the right of the picture, y down, z the way it looks.
        width: Columns of the whole picture.
        height: Its rows.
        focal_px: Focal length along columns and rows, in pixels of the whole picture.
        centre_px: Column and row of its axis there.
        distortion: Coefficients of Brown's model, k1, k2, p1, p2, k3.
        baseline_m: How far a right camera of a pair is to the right of the left one; 0 for all others.
        binning: Pixels along each axis that became one.
        region_px: First column, first row, columns and rows of the part that is sent, in the whole picture.
    """

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/CameraInfo"
    ROS_FIELDS: ClassVar[dict[str, Any]] = {
        "height": np.uint32,
        "width": np.uint32,
        "distortion_model": str,
        "d": Array,
        "k": Array,
        "r": Array,
        "p": Array,
        "binning_x": np.uint32,
        "binning_y": np.uint32,
        "roi_x": np.uint32,
        "roi_y": np.uint32,
        "roi_height": np.uint32,
        "roi_width": np.uint32,
        "do_rectify": bool,
    }

    frame: str
    width: int
    height: int
    focal_px: Array
    centre_px: Array
    distortion: Array
    baseline_m: float = 0.0
    binning: int = 1
    region_px: tuple[int, ...]

    distortion_model: ClassVar[str] = "plumb_bob"
    do_rectify: ClassVar[bool] = False

    @property
    def d(self) -> Array:
        """Coefficients of distortion."""
        return self.distortion

    @property
    def k(self) -> Array:
        """The matrix of intrinsics, row by row."""
        (fx, fy), (cx, cy) = self.focal_px, self.centre_px
        return np.array([fx, 0, cx, 0, fy, cy, 0, 0, 1.0])

    @property
    def r(self) -> Array:
        """The turn of rectification: none."""
        return np.eye(3).reshape(-1)

    @property
    def p(self) -> Array:
        """The matrix of projection, row by row."""
        (fx, fy), (cx, cy) = self.focal_px, self.centre_px
        return np.array([fx, 0, cx, -fx * self.baseline_m, 0, fy, cy, 0, 0, 0, 1.0, 0])

    @property
    def matrix(self) -> Array:
        """The intrinsics of the picture that is sent, 3 x 3: of its region, with pixels made one."""
        centre = np.array(self.centre_px) - self.region_px[:2]
        fx, fy, cx, cy = np.array([*self.focal_px, *centre]) / self.binning
        return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]])

    @property
    def binning_x(self) -> int:
        """Pixels of a row that became one."""
        return self.binning

    @property
    def binning_y(self) -> int:
        """Pixels of a column that became one."""
        return self.binning

    @property
    def roi_x(self) -> int:
        """First column."""
        return self.region_px[0]

    @property
    def roi_y(self) -> int:
        """First row."""
        return self.region_px[1]

    @property
    def roi_width(self) -> int:
        """Columns."""
        return self.region_px[2]

    @property
    def roi_height(self) -> int:
        """Rows."""
        return self.region_px[3]

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        fx, _, cx, _, fy, cy = np.asarray(values["k"], float)[:6]
        head = {key: values[key] for key in ("time_ns", "sequence", "source", "frame", "width", "height")}
        return cls(
            **head,
            focal_px=np.array([fx, fy]),
            centre_px=np.array([cx, cy]),
            distortion=np.asarray(values["d"], float),
            baseline_m=float(-np.asarray(values["p"], float)[3] / fx) if fx else 0.0,
            binning=int(values["binning_x"]) or 1,
            region_px=tuple(int(values[key]) for key in ("roi_x", "roi_y", "roi_width", "roi_height")),
        )


@dataclass(slots=True, kw_only=True)
class CameraPose(Message):
    """The pose of a camera as calibrated, not as it really is.

    Attributes:
        frame: The frame in which that is said: `world`, or a robot's flange.
        camera_frame: The frame of its pictures.
        position: Of its centre of projection.
        quaternion: Of the frame of its pictures, w first: x to the right of the picture, y down, z the way it looks.
    """

    frame: str
    camera_frame: str
    position: Array
    quaternion: Array


@dataclass(slots=True, kw_only=True)
class PointCloud(Message):
    """Points that a depth camera sees, (n, 3), in the frame of its pictures; none for pixels without a depth."""

    ROS_TYPE: ClassVar[str | None] = "sensor_msgs/msg/PointCloud2"
    ROS_FIELDS: ClassVar[dict[str, Any]] = {
        "height": np.uint32,
        "width": np.uint32,
        "fields": tuple[tuple[str, int, int, int], ...],
        "is_bigendian": bool,
        "point_step": np.uint32,
        "row_step": np.uint32,
        "data": Bytes,
        "is_dense": bool,
    }

    frame: str
    points_m: npt.NDArray[np.float32]

    height: ClassVar[int] = 1
    fields: ClassVar[tuple[tuple[str, int, int, int], ...]] = POINT_FIELDS
    is_bigendian: ClassVar[bool] = False
    point_step: ClassVar[int] = 12
    is_dense: ClassVar[bool] = True

    @property
    def width(self) -> int:
        """Its points."""
        return len(self.points_m)

    @property
    def row_step(self) -> int:
        """Its bytes."""
        return 12 * len(self.points_m)

    @property
    def data(self) -> Bytes:
        """Its bytes, little endian."""
        return np.ascontiguousarray(self.points_m, "<f4").reshape(-1).view(np.uint8)

    @classmethod
    def of_ros(cls, values: dict[str, Any]) -> Self:
        """Returns the message of the fields of its ROS type."""
        flat = np.frombuffer(np.asarray(values["data"], np.uint8).tobytes(), "<f4").astype(np.float32)
        head = {key: values[key] for key in ("time_ns", "sequence", "source", "frame")}
        return cls(**head, points_m=flat.reshape(-1, 3))


@dataclass(slots=True, kw_only=True)
class Segmentation(Message):
    """The true owner of every pixel.

    Attributes:
        frame: That of the picture.
        names: Robots, objects and furniture.
        labels: (height, width): number of the name, from 1; 0 where nothing is seen.
    """

    TRUTH: ClassVar[bool] = True

    frame: str
    names: tuple[str, ...]
    labels: npt.NDArray[np.uint16]
