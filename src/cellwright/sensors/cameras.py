"""The cameras that ship: colours, depths, a stereo pair, and the truth of who owns a pixel."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from pydantic import model_validator

from cellwright.core.errors import ConfigError
from cellwright.core.messages import CameraInfo, CameraPose, Depth, Image, Message, PointCloud, Segmentation
from cellwright.rendering import DEPTH, GEOM, RGB
from cellwright.rendering.framing import owners
from cellwright.sensors.base import SENSORS, SensorCfg, SensorContext
from cellwright.sensors.image_camera import CameraMount, ImageCamera, ImageCameraCfg
from cellwright.sensors.image_noise import with_models

__all__ = ["ColorCamera", "DepthCamera", "DepthCameraCfg", "SegmentationCamera", "StereoCamera", "StereoCameraCfg"]


@SENSORS.register("color_camera")
class ColorCamera(ImageCamera[ImageCameraCfg]):
    """Colours on `/<name>/image_raw`, with intrinsics and calibrated pose beside them."""

    Cfg: ClassVar[type[SensorCfg]] = ImageCameraCfg
    message_type: ClassVar[type[Message]] = Image
    topic_name: ClassVar[str] = "image_raw"

    def sample(self) -> Image:
        """Returns one picture."""
        head = self.header()
        self.facts(head, self.mount)
        pixels = self.coloured(self.shoot(), self.noise_of_picture(head[1]))
        return Image(*head, frame=self.optical_frame(), encoding="rgb8", pixels=pixels)


class DepthCameraCfg(ImageCameraCfg):
    """A camera that measures depths.

    Attributes:
        noise: Models of noise of depths; by default `kinect`.
        with_points: Whether it also gives its depths as points.
        with_color: Whether it also takes colours, at the same moment with the same lens, without noise.
    """

    with_points: bool = False
    with_color: bool = False


@SENSORS.register("depth_camera")
class DepthCamera(ImageCamera[DepthCameraCfg]):
    """Depths on `/<name>/depth`; on demand points on `/<name>/points` and colours on `/<name>/image_raw`."""

    Cfg: ClassVar[type[SensorCfg]] = DepthCameraCfg
    message_type: ClassVar[type[Message]] = Depth
    topic_name: ClassVar[str] = "depth"
    of_depth: ClassVar[bool] = True

    def _noise_lines(self, mount: CameraMount) -> tuple[dict[str, object], ...]:
        return self.cfg.noise if self.cfg.noise is not None else ({"model": "kinect"},)

    @property
    def other_topics(self) -> dict[str, type[Message]]:
        """Its topics besides that of the depths."""
        points = {self.topic_of("points"): PointCloud} if self.cfg.with_points else {}
        colours = {self.topic_of("image_raw"): Image} if self.cfg.with_color else {}
        return {**super().other_topics, **points, **colours}

    def sample(self) -> Depth:
        """Returns the depths of one picture."""
        head = self.header()
        self.facts(head, self.mount)
        shot = self.shoot((DEPTH, RGB) if self.cfg.with_color else (DEPTH,))
        depth_m = with_models(shot.depth_m, self.noise, self.noise_of_picture(head[1]))
        low, high = self.mount.actual.range_m
        with np.errstate(invalid="ignore"):
            depth_m = np.where((depth_m >= low) & (depth_m <= high), depth_m, np.nan).astype(np.float32)
        frame = self.optical_frame()
        if self.cfg.with_points:
            cloud = PointCloud(*head, frame=frame, points_m=self._points(depth_m))
            self.beside.append((self.topic_of("points"), cloud))
        if self.cfg.with_color:
            colours = Image(*head, frame=frame, encoding="rgb8", pixels=shot.rgb)
            self.beside.append((self.topic_of("image_raw"), colours))
        return Depth(*head, frame=frame, depth_m=depth_m)

    def _points(self, depth_m: np.ndarray) -> np.ndarray:
        """Returns points in the frame of the picture, with the intrinsics that are told."""
        (_, info), *_ = self.beside
        assert isinstance(info, CameraInfo)
        matrix = info.matrix
        y, x = np.nonzero(np.isfinite(depth_m))
        z = depth_m[y, x].astype(np.float64)
        across, down = (x + 0.5 - matrix[0, 2]) / matrix[0, 0], (y + 0.5 - matrix[1, 2]) / matrix[1, 1]
        return np.column_stack([across * z, down * z, z]).astype(np.float32)


class StereoCameraCfg(ImageCameraCfg):
    """A pair of cameras that take their pictures at the same moment.

    Attributes:
        name: Its name.
        left: The left camera.
        right: The right one.
    """

    name: str
    left: str
    right: str

    @model_validator(mode="before")
    @classmethod
    def _left_is_the_camera(cls, values: object) -> object:
        if isinstance(values, dict) and "left" in values and "camera" not in values and "robot" not in values:
            return {**values, "camera": values["left"]}
        return values

    @model_validator(mode="after")
    def _two(self) -> Self:
        if self.camera != self.left:
            raise ValueError("a pair has left and right, and neither camera nor robot")
        if self.left == self.right:
            raise ValueError("left and right are the same camera")
        return self


@SENSORS.register("stereo_camera")
class StereoCamera(ImageCamera[StereoCameraCfg]):
    """Colours on `/<name>/left/image_raw` and `/<name>/right/image_raw`, each with intrinsics and calibrated pose."""

    Cfg: ClassVar[type[SensorCfg]] = StereoCameraCfg
    message_type: ClassVar[type[Message]] = Image
    topic_name: ClassVar[str] = "left/image_raw"

    def __init__(self, cfg: StereoCameraCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self.right = self.mounted(cfg.right, "right")
        self.right_view = self.view_of(self.right)
        sizes = [mount.actual.resolution_px for mount in (self.mount, self.right)]
        if sizes[0] != sizes[1]:
            problem = f"{cfg.left} has {sizes[0]} pixels, {cfg.right} {sizes[1]}: a pair needs the same"
            raise ConfigError(context.where, "right", problem)
        left, right = (mount.calibrated.pose_in_world for mount in (self.mount, self.right))
        self.baseline_m = -float((left.inverse() @ right).position[1])
        if self.baseline_m <= 0:
            raise ConfigError(context.where, "right", f"{cfg.right} is to the left of {cfg.left}: swap them")

    @property
    def other_topics(self) -> dict[str, type[Message]]:
        """Its topics besides that of the left picture."""
        facts = {"camera_info": CameraInfo, "camera_pose": CameraPose}
        sides = {self.topic_of(f"{side}/{end}"): kind for side in ("left", "right") for end, kind in facts.items()}
        return {**sides, self.topic_of("right/image_raw"): Image}

    def sample(self) -> Image:
        """Returns the left picture, and puts the right one beside it."""
        head = self.header()
        pictures, patterns = [], self.patterns()
        sides = (("left/", self.mount, self.viewfinder), ("right/", self.right, self.right_view))
        for part, (side, mount, view) in enumerate(sides):
            self.facts(head, mount, prefix=side, baseline_m=part * self.baseline_m)
            pixels = self.coloured(
                self.shoot(mount=mount, view=view, patterns=patterns), self.noise_of_picture(head[1], part)
            )
            pictures.append(Image(*head, frame=self.optical_frame(side), encoding="rgb8", pixels=pixels))
        self.beside.append((self.topic_of("right/image_raw"), pictures[1]))
        return pictures[0]


@SENSORS.register("segmentation_camera")
class SegmentationCamera(ImageCamera[ImageCameraCfg]):
    """The true owner of every pixel on `/<name>/segmentation`, for the judge and the recorder alone."""

    Cfg: ClassVar[type[SensorCfg]] = ImageCameraCfg
    message_type: ClassVar[type[Message]] = Segmentation
    topic_name: ClassVar[str] = "segmentation"

    def sample(self) -> Segmentation:
        """Returns one picture."""
        head = self.header()
        self.facts(head, self.mount)
        geoms = self.shoot((GEOM,)).geom
        names, own = np.unique(owners(self.world.appearance.now()[0]), return_inverse=True)
        labels = np.where(geoms >= 0, own[np.maximum(geoms, 0)] + 1, 0).astype(np.uint16)
        return Segmentation(*head, frame=self.optical_frame(), names=tuple(names.tolist()), labels=labels)
