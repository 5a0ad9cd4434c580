"""Captions of a video: what the robots do at each moment, and what went wrong."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from cellwright.planning import short_action
from cellwright.record import Log

__all__ = ["Caption", "Captions", "draw_caption"]

ACTIONS, FAULTS, VERDICT = "/execution/actions", "/judge/faults", "/judge/verdict"
SHOWN_S = 3.0  # how long a mishap stays to be read
PAPER, INK, ALARM = (16, 20, 26, 165), (245, 246, 248, 255), (255, 176, 120, 255)


class Caption(NamedTuple):
    """Text under a frame: the actions that are being done, and a mishap or a verdict, if there is one to be told."""

    actions: tuple[str, ...]
    mishap: str


class Captions:
    """The captions of a log."""

    def __init__(self, log: Log) -> None:
        self._times: list[float] = []
        self._texts: list[tuple[str, ...]] = []
        self._mishaps: list[tuple[float, str]] = []
        doing: dict[str, str] = {}
        topics = [topic for topic in (ACTIONS, FAULTS, VERDICT) if topic in log.topics]
        for topic, time_ns, message in log.entries(topics) if topics else ():
            time_s = time_ns / 1e9
            if topic == ACTIONS:
                if message.phase in ("start", "check"):
                    doing[message.robot] = f"{message.robot}: {_short(message.action, message.part)}"
                else:
                    doing.pop(message.robot, None)
                if message.phase == "fail":
                    self._mishaps.append((time_s, f"{message.robot} failed: {message.reason}"))
                self._times.append(time_s)
                self._texts.append(tuple(doing[robot] for robot in sorted(doing)))
            else:
                self._mishaps += _told(topic, time_s, message)

    def at(self, time_s: float) -> Caption:
        """Returns the caption of a moment."""
        number = bisect_right(self._times, time_s) - 1
        mishap = [text for told_s, text in self._mishaps if told_s <= time_s < told_s + SHOWN_S]
        return Caption(self._texts[number] if number >= 0 else (), mishap[-1] if mishap else "")


def _told(topic: str, time_s: float, message: Any) -> list[tuple[float, str]]:
    if topic == FAULTS:
        return [(time_s, f"{message.fault}: {message.subject} {message.detail}")]
    failed = [reason for reason, passed in zip(message.reasons, message.passed, strict=True) if not passed]
    return [(time_s, f"not done: {failed[0]}")] if failed else []


def _short(action: str, part: str) -> str:
    """Returns a step in short; one of another controller's words as it is."""
    try:
        return short_action(action, part)
    except (ValueError, IndexError):
        return action


def draw_caption(picture: npt.NDArray[np.uint8], time_s: float, caption: Caption) -> npt.NDArray[np.uint8]:
    """Returns the picture with time, action and mishap in its lower left corner."""
    image = Image.fromarray(picture)
    height = image.height
    size = max(13, round(height / 36))
    font = ImageFont.load_default(size)
    pen = ImageDraw.Draw(image, "RGBA")
    room = image.width - 2 * size
    first, *others = caption.actions or ("",)
    lines = [(f"{time_s:.2f} s   {first}".rstrip(), INK), *((other, INK) for other in others)]
    if caption.mishap:
        lines.append((caption.mishap, ALARM))
    bottom = height - size
    for text, ink in reversed(lines):
        text = _fitted(pen, text, font, room - size)
        width = pen.textlength(text, font=font)
        top_y = bottom - round(1.5 * size)
        box = (size / 2, top_y, size / 2 + width + size, bottom)
        pen.rounded_rectangle(box, radius=size / 4, fill=PAPER)
        pen.text((size, top_y + round(0.2 * size)), text, font=font, fill=ink)
        bottom = top_y - round(0.25 * size)
    return np.asarray(image)


def _fitted(pen: ImageDraw.ImageDraw, text: str, font: Any, width: float) -> str:
    """Returns a text cut off at the width of the picture."""
    while pen.textlength(text, font=font) > width and len(text) > 1:
        text = f"{text.rstrip('.')[:-2]}..."
    return text
