"""Light barriers: one beam between two points, and a curtain of them between two posts."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from cellwright.core.messages import Beam, Message
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorContext
from cellwright.sim.rays import RayFence

__all__ = ["BreakBeamCfg", "BreakBeamSensor", "LightCurtainCfg", "LightCurtainSensor"]

Array = npt.NDArray[np.float64]
Coordinate = Annotated[float, Field(ge=-100, le=100)]
Vector = tuple[Coordinate, Coordinate, Coordinate]
Probability = Annotated[float, Field(ge=0, lt=1)]
MOST_BEAMS = 1000


class BarrierCfg(SensorCfg):
    """The configuration that light barriers have in common.

    Attributes:
        wrong: Probability that a beam tells the opposite of what is true, in each reading: dust, or light of others.
    """

    wrong: Probability = 0.0


class BreakBeamCfg(BarrierCfg):
    """A beam from an emitter to a receiver, both fixed in the cell.

    Attributes:
        name: Its source name.
        from_m: The emitter, in the cell's frame.
        to_m: The receiver.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
    from_m: Vector
    to_m: Vector

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.from_m == self.to_m:
            raise ValueError("from_m and to_m are the same point")
        return self


class LightCurtainCfg(BarrierCfg):
    """Beams above each other between two upright posts, the first at the bottom.

    Attributes:
        name: Its source name.
        from_xy_m: The post of the emitters.
        to_xy_m: The post of the receivers.
        bottom_m: Height of the lowest beam.
        top_m: Height above which there is none.
        pitch_m: From beam to beam; a thing that is larger cannot pass unseen.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
    from_xy_m: tuple[Coordinate, Coordinate]
    to_xy_m: tuple[Coordinate, Coordinate]
    bottom_m: Coordinate
    top_m: Coordinate
    pitch_m: Annotated[float, Field(gt=0, le=10)] = 0.03

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.from_xy_m == self.to_xy_m or self.bottom_m >= self.top_m:
            raise ValueError("the posts must be apart, and bottom_m below top_m")
        if self.count > MOST_BEAMS:
            raise ValueError(f"{self.count} beams, allowed: {MOST_BEAMS}; make pitch_m larger")
        return self

    @property
    def count(self) -> int:
        """The number of beams."""
        return int((self.top_m - self.bottom_m) / self.pitch_m + 1e-9) + 1


class _Barrier(Sensor[Any]):
    """Beams that tell whether something is in them; what can be touched interrupts them, and nothing else does."""

    message_type: ClassVar[type[Message]] = Beam

    def __init__(self, cfg: BarrierCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        starts, ends = self._beams()
        self._fence = RayFence(self.world, starts, ends)

    def _beams(self) -> tuple[Array, Array]:
        raise NotImplementedError

    @property
    def is_skippable(self) -> bool:
        """Whether a reading that nobody listens to need not be made."""
        return bool(self.cfg.wrong == 0)

    def sample(self) -> Beam:
        """Returns one reading of all beams."""
        broken = self._fence.interrupted()
        if self.cfg.wrong:
            broken = broken ^ (self.context.rng.random(len(broken)) < self.cfg.wrong)
        beams = tuple(broken.tolist())
        return Beam(*self.header(), frame="world", interrupted=any(beams), beams=beams)


@SENSORS.register("break_beam")
class BreakBeamSensor(_Barrier):
    """A beam between two points, which something may interrupt, on `/<name>/break_beam`."""

    Cfg: ClassVar[type[SensorCfg]] = BreakBeamCfg

    def _beams(self) -> tuple[Array, Array]:
        return np.array([self.cfg.from_m], float), np.array([self.cfg.to_m], float)


@SENSORS.register("light_curtain")
class LightCurtainSensor(_Barrier):
    """Beams between two posts, which something may interrupt, on `/<name>/light_curtain`."""

    Cfg: ClassVar[type[SensorCfg]] = LightCurtainCfg

    def _beams(self) -> tuple[Array, Array]:
        cfg = self.cfg
        heights = cfg.bottom_m + cfg.pitch_m * np.arange(cfg.count)
        posts = [np.column_stack([np.tile(xy, (cfg.count, 1)), heights]) for xy in (cfg.from_xy_m, cfg.to_xy_m)]
        return posts[0], posts[1]
