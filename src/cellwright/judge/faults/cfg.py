"""Configuration of faults: what all kinds have in common, and the values that their keys take."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cellwright.core.config import Cfg, Normal, Number, Uniform, draw
from cellwright.core.errors import UnknownName

if TYPE_CHECKING:
    from cellwright.sim import ObjectIndex

__all__ = [
    "Duration",
    "Event",
    "FaultCfg",
    "LastingFaultCfg",
    "Pattern",
    "Quantity",
    "Shift",
    "Turn",
    "Way",
    "drawn_shift_m",
    "matches",
    "matches_name",
    "need_object",
]

EVENTS = {"before": ("grasp",), "during": ("transfer",), "after": ("grasp", "place")}
RANGE = re.compile(r"(-?[\d.]+)\.\.(-?[\d.]+)")


class Event(Cfg):
    """The n-th time that something happens to a matching part.

    Attributes:
        what: `grasp`, `transfer` or `place`.
        count: The number of the time, from 1.
    """

    what: str
    count: int

    def __str__(self) -> str:
        return f"{self.what}:{self.count}"


def _event(key: str) -> BeforeValidator:
    """Reads `transfer:2`; without a number the first time is meant."""

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        what, _, count = value.partition(":")
        if what not in EVENTS[key] or not (count or "1").isdigit() or int(count or 1) < 1:
            allowed = " or ".join(f"{what}:N" for what in EVENTS[key])
            raise ValueError(f"should be {allowed} with N from 1, such as {EVENTS[key][0]}:2")
        return Event(what=what, count=int(count or 1))

    text = Annotated[
        str, Field(pattern=f"^({'|'.join(EVENTS[key])})(:[1-9][0-9]*)?$", examples=[f"{EVENTS[key][0]}:2"])
    ]
    return BeforeValidator(read, json_schema_input_type=text | Event | None)


def _range(value: Any) -> Any:
    """Reads `20..60`, evenly drawn."""
    found = RANGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    try:
        return Uniform(low=float(found[1]), high=float(found[2]))
    except ValueError:
        raise ValueError("should be a number or a range such as 20..60") from None


def _shift(value: Any) -> Any:
    """Reads `40/0`, along x and y; one number or a range is a distance in a direction that is drawn."""
    if isinstance(value, str) and "/" in value:
        try:
            x, y = (float(word) for word in value.split("/"))
        except ValueError:
            raise ValueError("should be x/y such as 40/0, a distance such as 40, or a range such as 20..60") from None
        return (x, y)
    return _range(value)


def _within(low: float, high: float) -> AfterValidator:
    """Returns a validator: all that may be drawn must be possible; of a normal distribution its mean."""

    def check(value: Any) -> Any:
        ends = value if isinstance(value, tuple) else (value,)
        if isinstance(value, Uniform):
            ends = (value.low, value.high)
        elif isinstance(value, Normal):
            ends = (value.mean,)
        if not all(low <= end <= high for end in ends):
            raise ValueError(f"should be between {low:g} and {high:g}")
        return value

    return AfterValidator(check)


RangeText = Annotated[str, Field(pattern=f"^{RANGE.pattern}$", examples=["20..60"])]
ShiftText = Annotated[str, Field(pattern=r"^-?[\d.]+/-?[\d.]+$", examples=["40/0"])]
Quantity = Annotated[Number, BeforeValidator(_range, json_schema_input_type=Number | RangeText)]
Seconds = Annotated[Quantity, _within(0, 1e6)]
Way = Annotated[Quantity, _within(0, 2000)]
Turn = Annotated[Quantity, _within(-360, 360)]
Shift = Annotated[
    tuple[float, float] | Number,
    BeforeValidator(_shift, json_schema_input_type=tuple[float, float] | Number | RangeText | ShiftText),
    _within(-1000, 1000),
]
Pattern = Annotated[str, Field(min_length=1)]
Duration = Annotated[float, Field(gt=0, le=1e6)]


class FaultCfg(Cfg):
    """The keys of every fault: when it happens, and whose hands are counted.

    Exactly one of `at`, `before`, `during` and `after` is given.

    Attributes:
        kind: The kind of fault.
        at: Simulation time in seconds; the fault then waits until it is possible.
        before: `grasp:2`: an empty hand comes to a matching part, for its second grasp.
        during: `transfer:2`: a matching part is held, lifted and under way, for the second time.
        after: `grasp:2` or `place:2`: a matching part was gripped, or set down, for the second time.
        part: Which parts, by name, SKU or model, with `*` and `?`.
        tray: Which trays instead, in the same way.
        on: Which parts and trays the event is counted of, when they are not those that the fault is about.
        robot: The robot whose hands count.
    """

    kind: str
    at: Seconds | None = None
    before: Annotated[Event | None, _event("before")] = None
    during: Annotated[Event | None, _event("during")] = None
    after: Annotated[Event | None, _event("after")] = None
    part: Pattern = "*"
    tray: Pattern | None = None
    on: Pattern | None = None
    robot: Pattern = "*"

    @model_validator(mode="after")
    def _one_moment(self) -> Self:
        given = [key for key in ("at", *EVENTS) if getattr(self, key) is not None]
        if len(given) != 1:
            ways = "at=SECONDS, before=grasp:N, during=transfer:N, after=grasp:N or after=place:N"
            raise ValueError(f"say once when it happens, by {ways}; given: {', '.join(given) or 'none'}")
        if self.tray is not None and self.part != "*":
            raise ValueError("is about parts or about trays: give part or tray, not both")
        return self

    @property
    def event(self) -> tuple[str, Event] | None:
        """The key and its event; None for a time."""
        return next(((key, getattr(self, key)) for key in EVENTS if getattr(self, key) is not None), None)

    def is_about(self, item: ObjectIndex) -> bool:
        """Returns whether a part or a tray is meant."""
        return item.is_tray == (self.tray is not None) and matches(item, self.tray or self.part)


class LastingFaultCfg(FaultCfg):
    """A fault that lasts for a while or for good.

    Attributes:
        for_s: The duration; without it, for good.
    """

    for_s: Duration | None = None

    @property
    def duration_text(self) -> str:
        """The duration in words."""
        return "for good" if self.for_s is None else f"for {self.for_s:g} s"


def matches_name(name: str, pattern: str) -> bool:
    """Returns whether a pattern means a robot or a detector."""
    return fnmatchcase(name, pattern)


def matches(item: ObjectIndex, pattern: str) -> bool:
    """Returns whether a pattern means an object: by its name, its SKU or its model."""
    return any(fnmatchcase(word, pattern) for word in (item.name, item.sku, item.figures.name))


def drawn_shift_m(shift_mm: Any, rng: np.random.Generator) -> tuple[float, float]:
    """Returns the shift along x and y: as given, or of a given length in a random direction."""
    if isinstance(shift_mm, tuple):
        return shift_mm[0] / 1000, shift_mm[1] / 1000
    length_m, angle_rad = draw(shift_mm, rng) / 1000, rng.uniform(0, 2 * np.pi)
    return float(length_m * np.cos(angle_rad)), float(length_m * np.sin(angle_rad))


def need_object(where: str, key: str, pattern: str, items: Iterable[ObjectIndex]) -> None:
    """Refuses a pattern that means none of the objects.

    Raises:
        UnknownName: With the names and SKUs that there are.
    """
    items = list(items)
    if not any(matches(item, pattern) for item in items):
        names = [word for item in items for word in (item.name, item.sku)]
        raise UnknownName(key, pattern, dict.fromkeys(names), where)
