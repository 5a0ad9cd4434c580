"""The base of cameras that take pictures: their place, their lens, their noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.core.camera import Camera
from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.messages import CameraInfo, CameraPose, Message
from cellwright.core.pose import Pose
from cellwright.rendering import RGB, Quality, Renderer, Shot, choose_renderer
from cellwright.rendering.pattern_light import ThrownPattern
from cellwright.sensors.base import Sensor, SensorCfg, SensorContext
from cellwright.sensors.image_noise import PictureNoise, make_noises, with_models
from cellwright.sensors.viewfinder import OPTICAL, Viewfinder
from cellwright.sim.flange_camera import actual_flange_camera

__all__ = ["EXPOSURE", "CameraMount", "ImageCamera", "ImageCameraCfg"]

Pixels = Annotated[int, Field(ge=0, le=20000)]
Vector = tuple[float, float, float]
EXPOSURE = 0.72  # white in full light, with its highlight, stays below the largest value
LEAST_PX = 16
Side = Annotated[int, Field(ge=LEAST_PX, le=20000)]


class ImageCameraCfg(SensorCfg):
    """The configuration that cameras have in common: which camera, and how it takes pictures.

    Attributes:
        name: Its source name; the default is that of its camera, or else of its robot.
        camera: A camera of the cell: of a fixture, or one of its own under `cameras`.
        robot: The robot on whose flange it is, in place of `camera`; or the mobile robot whose own camera it is, with
            the place and the angle of its figures where none are given.
        xyz_m: There, its centre of projection in the flange's frame.
        rpy_deg: There, its turn: x is the way it looks, y the left of its picture, z the top; `[0, -90, 0]` looks along
            the flange's z.
        fov_deg: There, its angle of view across the columns.
        resolution_px: Columns and rows in place of the camera's own, across the same angle; 640 x 480 on a flange.
        region_px: First column, first row, columns and rows of the part that is taken; all by default.
        binning: Pixels along each axis that become one.
        rate_hz: Pictures per second; 0 takes them on demand alone.
        exposure: Factor of the light before it is cut off at white; with the default nothing of the work is.
        noise: Models of noise, one after the other; by default that of the camera itself.
        renderer: `auto` is `soft`, which gives the same bits every time, where numba is installed and no other is
            asked for by CELLWRIGHT_RENDERER; else the best that works here.
        shadows: Whether things keep light from others; without shadows a picture takes much less time.
        samples: Per pixel that shows an edge: 4, or 1, which is faster and leaves edges jagged.
    """

    rate_hz: Annotated[float, Field(ge=0, le=5000)] = 0.0
    camera: str | None = None
    robot: str | None = None
    xyz_m: Vector = (0.0, 0.0, 0.0)
    rpy_deg: Vector = (0.0, -90.0, 0.0)
    fov_deg: Annotated[float, Field(ge=1, le=170)] = 60.0
    resolution_px: tuple[Side, Side] | None = None
    region_px: tuple[Pixels, Pixels, Pixels, Pixels] | None = None
    binning: Literal[1, 2, 4, 8] = 1
    exposure: Annotated[float, Field(gt=0, le=100)] = EXPOSURE
    noise: tuple[dict[str, Any], ...] | None = None
    renderer: Literal["auto", "gl", "soft", "ray"] = "auto"
    shadows: bool = True
    samples: Literal[1, 4] = 4

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.camera is None) == (self.robot is None):
            raise ValueError("give either camera, one of the cell's, or robot, on whose flange it is")
        return self


C = TypeVar("C", bound=ImageCameraCfg)


@dataclass(frozen=True)
class CameraMount:
    """The place of a camera: fixed in the cell, or on a flange.

    Attributes:
        calibrated: The camera as it is known, its pose in `frame`.
        actual: The camera as it really is, its pose in `frame`.
        robot: The robot on whose flange it is, or the mobile robot; None for one that is fixed.
        is_mobile: Whether that is a mobile robot.
    """

    calibrated: Camera
    actual: Camera
    robot: str | None = None
    is_mobile: bool = False

    @property
    def frame(self) -> str:
        """The frame in which its pose is known."""
        return "world" if self.robot is None else f"{self.robot}/{'base_link' if self.is_mobile else 'flange'}"


class ImageCamera(Sensor[C]):
    """Takes pictures of the world as it looks; beside the physics, which does not know of it.

    Pictures that nobody listens to are not taken. The noise of a picture depends on the seed, the sensor and the
    picture's number alone.

    Attributes:
        mount: Where it is.
        viewfinder: What part of its picture it takes.
        of_depth: Whether its noise is that of depths.
    """

    is_costly: ClassVar[bool] = True
    of_depth: ClassVar[bool] = False

    def __init__(self, cfg: C, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self.mount = self.mounted(cfg.camera, "camera")
        self.viewfinder = self.view_of(self.mount)
        self.noise = make_noises(self._noise_lines(self.mount), context.where, of_depth=self.of_depth)
        self._key = int(context.rng.integers(2**63))

    @cached_property
    def source(self) -> str:
        """The source in its messages: its name, or else its camera's or its robot's."""
        return self.cfg.name or self.cfg.camera or self.cfg.robot or self.cfg.type

    @property
    def is_skippable(self) -> bool:
        """Whether a picture that nobody listens to need not be taken."""
        return True

    def _noise_lines(self, mount: CameraMount) -> tuple[Mapping[str, Any], ...]:
        if self.cfg.noise is not None:
            return self.cfg.noise
        own = mount.actual.noise_sd
        return ({"model": "gaussian", "sd": own},) if own else ()

    def mounted(self, name: str | None, key: str) -> CameraMount:
        """Returns the camera of that name, or the one on the configured flange."""
        cfg, where = self.cfg, self.context.where
        if name is None:
            assert cfg.robot is not None
            if cfg.robot in self.world.mobiles:
                return self._on_mobile(cfg.robot)
            self.world.robot(cfg.robot)
            pose = Pose.from_xyz_rpy(cfg.xyz_m, np.radians(cfg.rpy_deg))
            size = cfg.resolution_px or (640, 480)
            told = Camera(self.source, pose, float(np.radians(cfg.fov_deg)), size, rate_hz=5000.0)
            return CameraMount(told, actual_flange_camera(self.world, told), cfg.robot)
        cameras = self.world.layout.cameras
        if name not in cameras:
            raise UnknownName("camera", name, cameras, f"{where}.{key}")
        actual, calibrated = cameras[name], self.world.calibrated_cameras[name]
        if cfg.rate_hz > actual.rate_hz:
            problem = f"{name} takes {actual.rate_hz:g} pictures per second at most"
            raise ConfigError(where, "rate_hz", problem)
        if cfg.resolution_px is not None:
            actual = _with_resolution(actual, cfg.resolution_px)
            calibrated = replace(calibrated, resolution_px=cfg.resolution_px)
        return CameraMount(calibrated, actual)

    def _on_mobile(self, robot: str) -> CameraMount:
        """Returns the camera of a mobile robot, which is exactly where its figures, or the line, say."""
        cfg, figures = self.cfg, self.world.mobile(robot).figures.camera
        given = cfg.model_fields_set
        pose = Pose.from_xyz_rpy(
            cfg.xyz_m if "xyz_m" in given else figures.xyz_m,
            np.radians(cfg.rpy_deg) if "rpy_deg" in given else figures.rpy_rad,
        )
        fov_rad = float(np.radians(cfg.fov_deg)) if "fov_deg" in given else figures.fov_rad
        camera = Camera(self.source, pose, fov_rad, cfg.resolution_px or figures.resolution_px, rate_hz=5000.0)
        return CameraMount(camera, camera, robot, is_mobile=True)

    def view_of(self, mount: CameraMount) -> Viewfinder:
        """Returns the part of a camera's picture that is configured."""
        (columns, rows), region, binning = mount.actual.resolution_px, self.cfg.region_px, self.cfg.binning
        wide, high = (columns, rows) if region is None else region[2:]
        if region is not None and (region[0] + wide > columns or region[1] + high > rows):
            problem = f"{list(region)} is not inside the picture of {columns} x {rows} pixels"
            raise ConfigError(self.context.where, "region_px", problem)
        if min(wide, high) // binning < LEAST_PX:
            problem = f"{wide} x {high} pixels, {binning} made one, are fewer than {LEAST_PX} along an axis"
            raise ConfigError(self.context.where, "region_px" if region else "binning", problem)
        return Viewfinder(mount.actual, region, binning)

    @cached_property
    def renderer(self) -> Renderer:
        """The renderer that draws its pictures."""
        return choose_renderer(None if self.cfg.renderer == "auto" else self.cfg.renderer, repeatable=True)

    def shoot(
        self,
        layers: tuple[str, ...] = (RGB,),
        mount: CameraMount | None = None,
        view: Viewfinder | None = None,
        patterns: tuple[ThrownPattern, ...] | None = None,
    ) -> Shot:
        """Returns a picture without noise, of the world as it is now.

        Args:
            layers: Which are wanted.
            mount: Another camera than its own.
            view: What part of that camera's picture.
            patterns: What projectors throw now, where that is known already.
        """
        mount, view = mount or self.mount, view or self.viewfinder
        pose = mount.actual.pose_in_world
        if mount.robot is not None:
            of = self.world.pose_of if mount.is_mobile else self.world.flange_pose
            pose = of(mount.robot) @ pose
        if patterns is None:
            patterns = self.patterns() if RGB in layers else ()
        quality = Quality(self.cfg.shadows, self.cfg.samples)
        return view.shoot(self.world, self.renderer, pose, self.cfg.exposure, layers, patterns, quality)

    def patterns(self) -> tuple[ThrownPattern, ...]:
        """Returns what the projectors that are on throw at this moment."""
        lights = self.world.projectors.lights()
        return tuple(light.throw(self.renderer, *self.world.appearance.now()) for light in lights)

    def noise_of_picture(self, sequence: int, part: int = 0) -> np.random.Generator:
        """Returns the random stream of one picture."""
        return np.random.default_rng([self._key, sequence, part])

    def coloured(self, shot: Shot, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
        """Returns the colours of a picture with noise."""
        return with_noise(shot.rgb, self.noise, rng)

    def facts(
        self, head: tuple[int, int, str], mount: CameraMount, *, prefix: str = "", baseline_m: float = 0.0
    ) -> None:
        """Puts intrinsics and calibrated pose beside the message that is being made."""
        camera, view = mount.calibrated, self.viewfinder
        columns, rows = camera.resolution_px
        frame, pose = self.optical_frame(prefix), camera.pose_in_world @ OPTICAL
        info = CameraInfo(
            *head,
            frame=frame,
            width=columns,
            height=rows,
            focal_px=np.full(2, camera.focal_px),
            centre_px=np.array([columns / 2, rows / 2]),
            distortion=np.zeros(5),
            baseline_m=baseline_m,
            binning=view.binning,
            region_px=view.region_px,
        )
        place = CameraPose(
            *head,
            frame=mount.frame,
            camera_frame=frame,
            position=np.array(pose.position),
            quaternion=np.array(pose.quaternion),
        )
        self.beside += [(self.topic_of(f"{prefix}camera_info"), info), (self.topic_of(f"{prefix}camera_pose"), place)]

    def optical_frame(self, prefix: str = "") -> str:
        """Returns the frame of its pictures."""
        return f"{self.source}/{prefix}optical"

    def topic_of(self, end: str) -> str:
        """Returns one of its topics."""
        return f"/{self.source}/{end}"

    @property
    def other_topics(self) -> dict[str, type[Message]]:
        """Its topics besides that of the picture."""
        return {self.topic_of("camera_info"): CameraInfo, self.topic_of("camera_pose"): CameraPose}

    def capture(self) -> Message | None:
        """Takes a picture now, publishes it, and returns it; None where a fault keeps it back."""
        message, beside = self.taken()
        return message if self.deliver is None else self.deliver(message, beside)


def with_noise(
    rgb: npt.NDArray[np.uint8], noise: list[PictureNoise[Any]], rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Returns colours with noise."""
    if not noise:
        return rgb.copy()
    picture = rgb.astype(np.float32)
    picture /= np.float32(255)
    levels = np.clip(with_models(picture, noise, rng), 0, 1)
    levels *= 255
    return np.round(levels, out=levels).astype(np.uint8)


def _with_resolution(camera: Camera, resolution_px: tuple[int, int]) -> Camera:
    """Returns a camera with another resolution and the same lens, whose error is that of the same place."""
    error, scale = camera.lens_error, resolution_px[0] / camera.resolution_px[0]
    if error is not None:
        column, row = error.centre_px
        error = replace(error, edge_px=error.edge_px * scale, centre_px=(column * scale, row * scale))
    return replace(camera, resolution_px=resolution_px, lens_error=error)
