"""The camera detector: detections that are recognised in the pictures of a camera, from messages and drawings alone.

A picture is taken only while a controller waits for one, and none while the last is still being recognised. What
recognition takes is charged in simulation time by a configured figure, whatever the machine needs.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from cellwright.core.camera import Camera
from cellwright.core.extras import need_extra
from cellwright.core.messages import CameraInfo, CameraPose, Detections, Image, Message
from cellwright.perception.calibration import Calibration, calibrated_camera_messages
from cellwright.perception.picture import Picture, read_picture
from cellwright.sensors import SENSORS, ColorCamera, ImageCameraCfg, Sensor, SensorCfg, SensorContext
from cellwright.sensors.image_camera import EXPOSURE
from cellwright.sensors.overhead_detector import Height, PlaneCfg
from cellwright.sim.sight import LineOfSight

if TYPE_CHECKING:
    from cellwright.perception.recognition import OverheadRecogniser

__all__ = ["CameraDetector", "CameraDetectorCfg"]

UNBOUNDED_M = 100.0


class CameraDetectorCfg(SensorCfg):
    """A detector that recognises objects in the pictures of its camera.

    Attributes:
        name: Its name, by which a vision server takes it.
        camera: A camera of the cell.
        rate_hz: Moments per second at which it can take a picture, if one is waited for.
        delay_s: From a picture to its detections, recognition included; until then no other picture is taken.
        plane_m: The height of the table, where the drawings have none.
        planes: Parts of the cell in which that height is another.
        min_share: The visible share of an object below which the judge does not expect it to be recognised.
        min_xy_m: One corner of the part of the cell in which it looks for objects.
        max_xy_m: The other.
        binning: Pixels along each axis that become one.
        exposure: Factor of the light before it is cut off at white.
        noise: Models of noise of the pictures, one after the other; by default that of the camera itself.
        renderer: That of its camera.
        shadows: Whether things keep light from others in its pictures.
        samples: Per pixel that shows an edge: 4 or 1.
    """

    name: str
    camera: str
    delay_s: Annotated[float, Field(ge=0, le=10)] = 0.2
    plane_m: Height | None = None
    planes: tuple[PlaneCfg, ...] = ()
    min_share: Annotated[float, Field(gt=0, le=1)] = 0.6
    min_xy_m: tuple[float, float] = (-UNBOUNDED_M, -UNBOUNDED_M)
    max_xy_m: tuple[float, float] = (UNBOUNDED_M, UNBOUNDED_M)
    binning: Literal[1, 2, 4, 8] = 2
    exposure: Annotated[float, Field(gt=0, le=100)] = EXPOSURE
    noise: tuple[dict[str, Any], ...] | None = None
    renderer: Literal["auto", "gl", "soft", "ray"] = "auto"
    shadows: bool = True
    samples: Literal[1, 4] = 4

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.min_xy_m[0] < self.max_xy_m[0] and self.min_xy_m[1] < self.max_xy_m[1]):
            raise ValueError("min_xy_m must be below max_xy_m in both coordinates")
        return self


@SENSORS.register("camera_detector")
class CameraDetector(Sensor[CameraDetectorCfg]):
    """SKU and place of every tray and part that is recognised, on `/<name>/detections`, in the cell's frame.

    The simulation ends with the messages of its camera: what recognises them knows them and the drawings.

    Attributes:
        eye: The camera that takes its pictures.
        sight: Lines of sight of its camera as it really is, for the judge.
        calibration: What was measured of its camera; None as long as it is taken to be as drawn.
    """

    Cfg: ClassVar[type[SensorCfg]] = CameraDetectorCfg
    message_type: ClassVar[type[Message]] = Detections
    topic_name: ClassVar[str] = "detections"
    is_on_demand: ClassVar[bool] = True

    def __init__(self, cfg: CameraDetectorCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        need_extra(f"{context.where}: recognition in pictures", "vision", "cv2")
        keys = ("name", "camera", "rate_hz", "binning", "exposure", "noise", "renderer", "shadows", "samples")
        taken = {key: getattr(cfg, key) for key in keys}
        self.eye = ColorCamera(ImageCameraCfg(type="color_camera", **taken), context)
        self.sight = LineOfSight(self.world, self.eye.mount.actual)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix=cfg.name)
        self._at_work: dict[int, Future[Detections]] = {}
        self.calibration: Calibration | None = None
        self.filters.append(self._finished)

    @property
    def actual(self) -> Camera:
        """Its camera where it is."""
        return self.eye.mount.actual

    @cached_property
    def recogniser(self) -> OverheadRecogniser:
        """The recogniser, which knows the drawings of the cell, made without a seed."""
        from cellwright.drawings.calibration import calibrated_drawings
        from cellwright.drawings.prior import Drawings
        from cellwright.drawings.recognition import recognition_model
        from cellwright.perception.recognition import OverheadRecogniser

        drawings = Drawings.of(self.world.cell)
        if self.calibration is not None:
            drawings = calibrated_drawings(drawings, self.calibration)
        return OverheadRecogniser(recognition_model(drawings))

    def calibrate(self, calibration: Calibration) -> bool:
        """Takes what was measured of its camera in place of what is drawn; returns whether anything was.

        Recognition then knows the drawings as they are corrected by the calibration.
        """
        if self.cfg.camera not in calibration.cameras:
            return False
        self.calibration = calibration
        self.__dict__.pop("recogniser", None)
        return True

    def sample(self) -> Detections:
        """Takes a picture; returns a message without rows, in whose place comes what is recognised in the picture.

        A thread recognises it beside the physics; whoever publishes or saves the message waits for that.
        """
        time_ns, sequence, source = self.header()
        self.eye.sequence = sequence
        image, beside = self.eye.taken()
        info, pose = (message for _, message in beside)
        assert isinstance(image, Image)
        assert isinstance(info, CameraInfo)
        assert isinstance(pose, CameraPose)
        if self.calibration is not None:
            info, pose = calibrated_camera_messages(self.calibration, self.cfg.camera, info, pose)
        self._at_work[sequence] = self._worker.submit(self._recognised, read_picture(image, info, pose), sequence)
        return Detections(
            time_ns,
            sequence,
            source,
            frame="world",
            skus=(),
            positions=np.zeros((0, 3)),
            quaternions=np.zeros((0, 4)),
            variances=np.zeros((0, 6)),
            scores=np.zeros(0),
        )

    def _recognised(self, picture: Picture, sequence: int) -> Detections:
        return self._in_area(self.recogniser.recognise(picture).detections(sequence, self.source))

    def _finished(self, message: Message) -> Message:
        """Returns a message with what was recognised; one that has it already stays as it is."""
        work = self._at_work.pop(message.sequence, None)
        return message if work is None else work.result()

    def save(self) -> Any:
        """Returns what it keeps between samples, once all pictures that were taken are recognised."""
        rows = [(tick, self._finished(message), beside) for tick, message, beside in self.under_way]
        self.under_way.clear()
        self.under_way.extend(rows)
        return super().save()

    def load(self, state: Any) -> None:
        """Restores what `save` returned; pictures that were being recognised are forgotten."""
        self._at_work.clear()
        super().load(state)

    def _in_area(self, found: Detections) -> Detections:
        """Returns the detections in the part of the cell in which it looks."""
        xy = found.positions[:, :2]
        inside = np.asarray(((xy >= self.cfg.min_xy_m) & (xy <= self.cfg.max_xy_m)).all(axis=1))
        if inside.all():
            return found
        return replace(
            found,
            skus=tuple(sku for sku, is_inside in zip(found.skus, inside, strict=True) if is_inside),
            positions=found.positions[inside],
            quaternions=found.quaternions[inside],
            variances=found.variances[inside],
            scores=found.scores[inside],
        )
