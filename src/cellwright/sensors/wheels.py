"""The step counters of a mobile robot's wheels."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from cellwright.core.messages import Encoder, Message
from cellwright.sensors.base import SENSORS, Sensor, SensorCfg, SensorContext

__all__ = ["EncoderCfg", "EncoderSensor"]

NAMES = ("left_wheel", "right_wheel")


class EncoderCfg(SensorCfg):
    """Step counters of both wheels.

    Attributes:
        robot: The mobile robot.
        bits: The number of bits after which they wrap, as the 16 of the real robot do after four metres.
    """

    robot: str
    bits: Annotated[int, Field(ge=8, le=63)] | None = None


@SENSORS.register("encoders")
class EncoderSensor(Sensor[EncoderCfg]):
    """Whole steps of the left and the right wheel, on `/<robot>/encoders`.

    They count what the motors are commanded, or what the wheels turn, as the robot's `counters` say.
    """

    Cfg: ClassVar[type[SensorCfg]] = EncoderCfg
    message_type: ClassVar[type[Message]] = Encoder

    def __init__(self, cfg: EncoderCfg, context: SensorContext) -> None:
        super().__init__(cfg, context)
        self.world.mobile(cfg.robot)  # or an error that names those there are
        self._row = self.world.wheels.rows[cfg.robot]
        self._half = 0 if cfg.bits is None else 1 << (cfg.bits - 1)

    def sample(self) -> Encoder:
        """Returns one reading of both counters."""
        left, right = self.world.wheels.count(self._row)
        if self._half:
            left, right = self._wrapped(left), self._wrapped(right)
        return Encoder(*self.header(), names=NAMES, counts=(left, right))

    @property
    def is_skippable(self) -> bool:
        """True: steps are counted without errors."""
        return True

    def _wrapped(self, count: int) -> int:
        return (count + self._half) % (2 * self._half) - self._half
