"""The base of detectors: what recognition sees of the true objects, and how it errs."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Self, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.core.camera import Camera
from cellwright.core.errors import ConfigError, UnknownName
from cellwright.core.messages import Detections, Message
from cellwright.core.pose import Pose
from cellwright.core.registration_points import OffsetsCfg
from cellwright.sensors.base import Sensor, SensorCfg, SensorContext
from cellwright.sensors.pose_noise import PoseNoise
from cellwright.sim.sight import LineOfSight, ObjectsInView
from cellwright.sim.sight_points import surface_middle, surface_points

__all__ = ["Detector", "DetectorCfg", "Seen"]

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Probability = Annotated[float, Field(ge=0, lt=1)]

UNBOUNDED_M = 100.0
SCORES = (0.6, 0.97)  # of classes, on the average; the laboratory's frames have 0.58 to 1.0
SCORE_SPREAD, SCORE_SD = 0.032, 0.013  # from place to place of a class, from frame to frame: as in these frames
SCORE_WAVES, SCORE_WAVE_M = 12, (0.03, 0.12)  # how scores differ over a table; neighbours in a tray are 57 mm apart
FALSE_SCORES = (0.5, 1.0)  # of what is not there, as a share of its class's: no threshold tells it from the rest


class DetectorCfg(SensorCfg):
    """The configuration that detectors have in common.

    Attributes:
        name: Its name, by which a vision server takes it.
        camera: The camera through which it looks; without one it looks straight down from far above.
        min_share: The visible share of an object below which it is not recognised.
        pull: How much of the way by which the middle of the visible part is off becomes an error, for what is partly
            hidden; estimated.
        miss: Probability that an object is not recognised in a frame.
        false_detection: Probability that a frame has an object that is not there.
        wrong_class: Probability that an object is taken for another part, or another tray, in a frame.
        flip: Probability that a tray is seen turned by a half in a frame.
        bias_sd_m: Standard deviation of an error of each object's position that lasts the whole run.
        bias_sd_deg: The same for its rotation.
        min_xy_m: One corner of the part of the cell in which it looks for objects.
        max_xy_m: The other.
        offsets: Errors of a real detector: the offsets that correct them. What it reports is off by their inverse.
    """

    name: str
    camera: str | None = None
    min_share: Annotated[float, Field(gt=0, le=1)] = 0.6
    pull: Annotated[float, Field(ge=0, le=1)] = 0.1
    miss: Probability = 0.0
    false_detection: Probability = 0.0
    wrong_class: Probability = 0.0
    flip: Probability = 0.0
    bias_sd_m: Annotated[float, Field(ge=0, le=1)] = 0.0
    bias_sd_deg: Annotated[float, Field(ge=0, le=180)] = 0.0
    min_xy_m: tuple[float, float] = (-UNBOUNDED_M, -UNBOUNDED_M)
    max_xy_m: tuple[float, float] = (UNBOUNDED_M, UNBOUNDED_M)
    offsets: OffsetsCfg | None = None

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.min_xy_m[0] < self.max_xy_m[0] and self.min_xy_m[1] < self.max_xy_m[1]):
            raise ValueError("min_xy_m must be below max_xy_m in both coordinates")
        return self


class Seen:
    """The objects that are recognised in a frame, one row each.

    Attributes:
        objects: Their numbers in `World.objects`.
        classes: The classes as which they are recognised, as numbers.
        errors: Of x, y, z and about x, y, z, without those of the camera, n x 6.
        shares: Their visible shares.
        shifts_m: The way of the visible middle, n x 3.
        flipped: Whether they seem turned by a half.
    """

    def __init__(self, detector: Detector[Any], rows: Rows, classes: Rows, errors: Array, view: ObjectsInView) -> None:
        self.objects = rows
        self.classes = classes[rows]
        self.errors = errors[rows]
        self.shares = view.shares[rows]
        self.shifts_m = detector.cfg.pull * view.shifts_m[rows]
        self.flipped = np.zeros(len(rows), bool)


C = TypeVar("C", bound=DetectorCfg)


class Detector(Sensor[C]):
    """SKU and pose of every tray and part that is seen, on `/<name>/detections`, in the cell's frame.

    An object is recognised when enough of it is seen past everything in between. Objects have no identity: rows are
    ordered by SKU and, inside it, by a score that changes from frame to frame, as the lab's own recognition does.

    Attributes:
        calibrated: Its camera where it is thought to be.
        actual: Its camera where it is.
        skus: The classes that it knows: those of the cell.
        figures: Class -> its figures.
        middles: Of the upper faces of the classes, in the objects' frames.
        true_poses: Positions and quaternions of all objects, at the last sample.
    """

    message_type: ClassVar[type[Message]] = Detections
    topic_name: ClassVar[str] = "detections"

    def __init__(self, cfg: C, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self.calibrated, self.actual = self._cameras(cfg, context)
        self.sight = LineOfSight(self.world, self.actual)
        self.noise = self.noise_of(cfg)
        self._corners = np.array([cfg.min_xy_m, cfg.max_xy_m])
        self._class_scores: dict[str, float] = {}
        self._biases_of: dict[str, Array] = {}
        self._waves = self._draw_waves()
        self._offset_frame = self._drawn_base(cfg.offsets.robot if cfg.offsets else None, context)
        self.world.bind(self._look_up)

    def _cameras(self, cfg: C, context: SensorContext) -> tuple[Camera, Camera]:
        if cfg.camera is None:
            above = Camera.straight_down(cfg.min_xy_m, cfg.max_xy_m)
            return above, above
        cameras = self.world.layout.cameras
        if cfg.camera not in cameras:
            raise UnknownName("camera", cfg.camera, cameras, f"{context.where}.camera")
        camera = cameras[cfg.camera]
        if cfg.rate_hz > camera.rate_hz:
            problem = f"{cfg.camera} takes {camera.rate_hz:g} pictures per second; a detector cannot exceed that"
            raise ConfigError(context.where, "rate_hz", problem)
        return self.world.calibrated_cameras[cfg.camera], camera

    def _drawn_base(self, robot: str | None, context: SensorContext) -> Pose:
        """Returns the base of a robot in the world, as drawn."""
        robots = self.world.cell.robots
        if robot is None:
            return Pose.identity()
        if robot not in robots:
            raise UnknownName("robot", robot, robots, f"{context.where}.offsets.robot")
        return robots[robot].base.pose

    @classmethod
    @abstractmethod
    def noise_of(cls, cfg: C) -> PoseNoise:
        """Returns the noise of x, y, z and about x, y, z."""

    @abstractmethod
    def measured(self, seen: Seen) -> tuple[Array, Array, Array]:
        """Returns positions, quaternions and variances, n x 6, of what is recognised, as it is reported."""

    def variances_of(self, seen: Seen) -> Array:
        """Returns the variances that it states, n x 6: more where it sees less of an object, which it knows."""
        if not self.cfg.wrong_class:
            return self._stated[seen.objects]
        return self._variances(seen.classes, seen.shares)

    def _variances(self, classes: Rows, shares: Array) -> Array:
        variances: Array = self._class_variances[classes]
        hidden_m = self.cfg.pull * (1.0 - shares) * self._radii[classes]
        variances[:, :3] += hidden_m[:, None] ** 2
        return variances

    @abstractmethod
    def imagined(self, position: Array, yaw_rad: float, sku: int, errors: Array) -> tuple[Array, Array, Array]:
        """Returns the same for one object that is not there, n = 1, as noisy as those that are."""

    def _look_up(self) -> None:
        objects = list(self.world.objects.values())
        self.figures = {item.sku: item.figures for item in objects}
        self.skus = sorted(self.figures)
        self.own_classes = np.array([self.skus.index(item.sku) for item in objects], np.intp)
        self.is_tray = np.array([item.is_tray for item in objects], bool)
        trays = [sku for sku in self.skus if any(item.is_tray for item in objects if item.sku == sku)]
        self._kinds = [[k for k, sku in enumerate(self.skus) if (sku in trays) is kind] for kind in (False, True)]
        streams, own = self.world.streams, f"sensors/{self.source}"
        for item in objects:
            if item.sku not in self._class_scores:
                self._class_scores[item.sku] = float(streams.stream(f"{own}/class/{item.sku}").uniform(*SCORES))
            if item.name not in self._biases_of:
                self._biases_of[item.name] = self._bias(streams.stream(f"{own}/object/{item.name}"))
        self._scores_of_classes = np.array([self._class_scores[sku] for sku in self.skus])
        self._biases = np.array([self._biases_of[item.name] for item in objects]).reshape(-1, 6)
        sides = [surface_points(self.figures[sku], 0) for sku in self.skus]
        self.middles = np.array([surface_middle(self.figures[sku], 0) for sku in self.skus]).reshape(-1, 3)
        self._radii = np.array([np.hypot(*points[:, :2].T).max() for points in sides])
        self._class_variances = np.tile(self.noise.variances, (len(self.skus), 1))
        self._gather = np.array([item.qpos + np.arange(7) for item in objects], np.intp).reshape(-1, 7)
        self._view: ObjectsInView | None = None

    def _bias(self, rng: np.random.Generator) -> Array:
        """Returns the lasting error of an object: the same whatever comes."""
        sds = np.array([self.cfg.bias_sd_m] * 3 + [np.radians(self.cfg.bias_sd_deg)] * 3)
        bias: Array = rng.standard_normal(6) * sds
        return bias

    def _draw_waves(self) -> tuple[Array, Array]:
        """Returns the waves of which the scores over the cell are made: vectors in rad/m, n x 2, and phases."""
        rng = self.world.streams.stream(f"sensors/{self.source}/places")
        directions, phases = rng.uniform(0.0, 2 * np.pi, (2, SCORE_WAVES))
        lengths_m = rng.uniform(*SCORE_WAVE_M, SCORE_WAVES)
        vectors = np.column_stack([np.cos(directions), np.sin(directions)]) * (2 * np.pi / lengths_m)[:, None]
        return vectors, phases

    def _scores_of_places(self, xy: Array) -> Array:
        """Returns how much better or worse than usual things are recognised there: by light and place, not by object.

        A score that an object kept wherever it went would tell which object it is.
        """
        vectors, phases = self._waves
        scores: Array = SCORE_SPREAD * np.sqrt(2 / SCORE_WAVES) * np.cos(xy @ vectors.T + phases).sum(axis=1)
        return scores

    def sample(self) -> Detections:
        """Returns one frame."""
        rng, cfg, count = self.context.rng, self.cfg, len(self.own_classes)
        # Drawn for all, so that what is in view does not shift the stream.
        errors = self.noise.draw(rng, count) + self._biases
        uniform, jitter, phantom = rng.random((count, 4)), rng.standard_normal(count), rng.random(6)
        view = self.sight.look()
        if view is not self._view:
            self.take(view)
        rows = self._visible[uniform[self._visible, 0] >= cfg.miss] if cfg.miss else self._visible
        seen = Seen(self, rows, self._classes(uniform[:, 1], uniform[:, 2]), errors, view)
        if cfg.flip:
            seen.flipped = self.is_tray[rows] & (uniform[rows, 3] < cfg.flip)
        positions, quaternions, variances = self.measured(seen)
        classes = seen.classes  # the score is of what it seems to be
        scores = self._scores_of_classes[classes] + self._place_scores[rows] + SCORE_SD * jitter[rows]
        scores *= np.sqrt(seen.shares)
        if phantom[0] < cfg.false_detection and (made := self._phantom(phantom)) is not None:
            sku, score, pose = made
            positions, quaternions, variances = (
                np.concatenate(pair) for pair in zip((positions, quaternions, variances), pose, strict=True)
            )
            classes, scores = np.append(classes, sku), np.append(scores, score)
        if cfg.offsets is not None:
            positions, quaternions = self._uncorrected(cfg.offsets, positions, quaternions)
        # By the score before it is cut: of two that are both 1 the first would always be the same object.
        order = np.lexsort((-scores, classes))
        return Detections(
            *self.header(),
            frame="world",
            skus=tuple([self.skus[number] for number in classes[order].tolist()]),
            positions=positions[order],
            quaternions=quaternions[order],
            variances=variances[order],
            scores=scores[order].clip(0.05, 1.0),
        )

    def _uncorrected(self, offsets: OffsetsCfg, positions: Array, quaternions: Array) -> tuple[Array, Array]:
        """Returns poses as a detector with these errors reports them: a client's correction brings them back."""
        frame, table = self._offset_frame, offsets.table
        back = frame.inverse()
        poses = [frame @ table.reported(back @ Pose(*row)) for row in zip(positions, quaternions, strict=True)]
        if not poses:
            return positions, quaternions
        return np.array([pose.position for pose in poses]), np.array([pose.quaternion for pose in poses])

    def take(self, view: ObjectsInView) -> None:
        """Reckons what is the same in all frames until an object moves, or is seen otherwise."""
        self._view, self.true_poses = view, self.world.data.qpos[self._gather]
        xy = self.true_poses[:, :2]
        in_area = ((xy >= self._corners[0]) & (xy <= self._corners[1])).all(axis=1)
        self._visible = np.flatnonzero(in_area & (view.shares >= self.cfg.min_share))
        self._place_scores = self._scores_of_places(xy)
        self._stated = self._variances(self.own_classes, view.shares)

    def _classes(self, chance: Array, which: Array) -> Rows:
        """Returns the class as which each object is recognised: its own, or another of parts, or of trays."""
        if not self.cfg.wrong_class:
            return self.own_classes
        classes = self.own_classes.copy()
        for row in np.flatnonzero(chance < self.cfg.wrong_class).tolist():
            others = [k for k in self._kinds[int(self.is_tray[row])] if k != classes[row]]
            if others:
                classes[row] = others[int(which[row] * len(others))]
        return classes

    def _phantom(self, chance: Array) -> tuple[int, float, tuple[Array, Array, Array]] | None:
        """Returns class, score and pose of something that is not there, somewhere in the picture."""
        columns, rows = self.calibrated.resolution_px
        if not self.skus:
            return None
        sku = int(chance[1] * len(self.skus))
        low, high = FALSE_SCORES
        pixel = np.array([[chance[2] * columns, chance[3] * rows]])
        height_m = float(np.median(self.true_poses[:, 2]))
        position = self.calibrated.on_plane(pixel, height_m)
        if not np.isfinite(position).all():
            return None
        if not ((position[0, :2] >= self._corners[0]).all() and (position[0, :2] <= self._corners[1]).all()):
            return None
        yaw_rad = 2 * np.pi * chance[4] - np.pi
        # Its own small stream, made of its chances: frames without it are drawn as if there were none.
        errors = self.noise.draw(np.random.default_rng([int(one * 2**53) for one in chance]), 1)
        score = (low + (high - low) * float(chance[5])) * float(self._scores_of_classes[sku])
        return sku, score, self.imagined(position, yaw_rad, sku, errors)
