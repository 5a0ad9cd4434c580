"""Video of a run, made from its log: any run can be filmed afterwards, from any side, without a graphics card."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cellwright.core.errors import BadInput, OutOfRange
from cellwright.record import Log
from cellwright.rendering import View, choose_renderer
from cellwright.rendering.pattern_light import add_light
from cellwright.rendering.quality import BEST, Quality
from cellwright.rendering.shot import DEPTH, RGB
from cellwright.sim import World
from cellwright.viewing.captions import Caption, Captions, draw_caption
from cellwright.viewing.encoders import check_rate, usable_file, write_frames
from cellwright.viewing.eyes import Eye, eye_of
from cellwright.viewing.replay import ReplayWorld

__all__ = ["FAST", "SIZE_PX", "Video", "write_video"]

SIZE_PX = (1280, 720)
LEAST_PX, MOST_PX = 16, 4096
FAST = Quality(shadows=False, samples=1)
SAMPLES = 8  # frames from which a GIF takes its colours

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Video:
    """A video that was written.

    Attributes:
        path: The file.
        frames: Its frames.
        drawn: Those of them that were drawn: what looks the same is drawn once.
        duration_s: The time that it plays.
        size_px: Its size.
        renderer: Name of the renderer.
        note: What is another way than was asked for, in one line; empty when nothing is.
    """

    path: Path
    frames: int
    drawn: int
    duration_s: float
    size_px: tuple[int, int]
    renderer: str
    note: str = ""


class _Film:
    """Draws the frames of a replayed world."""

    def __init__(self, replayed: ReplayWorld, eye: Eye, size_px: tuple[int, int], quality: Quality) -> None:
        self._replayed = replayed
        self._eye = eye
        self._size_px = size_px
        self._quality = quality
        self._key: Any = None
        self._picture: Picture = np.empty((0, 0, 3), np.uint8)
        self.renderer = choose_renderer()
        self.drawn = 0

    def picture(self, time_s: float) -> Picture:
        """Returns the picture of a moment; the last one when nothing looks otherwise."""
        world = self._replayed.pose(time_s)
        frustum = self._eye.frustum()
        aim = (frustum.eye_in_world_m.tobytes(), frustum.axes_in_world.tobytes())
        key = (world.appearance.look(), aim, tuple(world.projectors.on.items()))
        if key != self._key:
            self._key = key
            self._picture = self._draw(world, frustum)
            self.drawn += 1
        return self._picture

    def _draw(self, world: World, frustum: Any) -> Picture:
        model, data = world.appearance.now()
        patterns = tuple(light.throw(self.renderer, model, data) for light in world.projectors.lights())
        layers = (RGB, DEPTH) if patterns else (RGB,)
        shot = self.renderer.shoot(model, data, frustum, self._size_px, layers=layers, quality=self._quality)
        return (add_light(shot, frustum, patterns, 1.0) if patterns else shot).rgb


def write_video(
    log: Log | ReplayWorld | Path | str,
    out: Path | str,
    *,
    camera: str | View | None = None,
    fps: float = 25.0,
    size: tuple[int, int] | None = None,
    speed: float = 1.0,
    from_s: float | None = None,
    to_s: float | None = None,
    fast: bool = False,
    caption: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Video:
    """Writes a video of a run: MP4, GIF or WebP, by the ending of its file.

    >>> write_video("out/run.mcap", "out/run.mp4", camera="detector_fanuc", speed=2)  # doctest: +SKIP

    Args:
        log: The log, or a world that was made of it.
        out: The file. Without PyAV, an MP4 becomes a WebP beside it, of which the note tells.
        camera: A camera of the cell, or a sensor that looks through one; or a view; the cell's own when None.
        fps: Frames per second.
        size: Width and height in pixels, both even; the usual one, or in the shape of the camera's picture, when None.
        speed: Simulated seconds per second of video.
        from_s: Where it begins, in simulation time; where the log does when None.
        to_s: Where it ends; where the log does when None.
        fast: Draws without shadows and with plain edges: four to ten times as fast.
        caption: Whether time, action and mishaps stand at the lower edge.
        progress: Called with the frames that are done and their number.

    Raises:
        BadInput: There is nothing to film, or an argument makes no sense.
        OutputError: The file cannot be written.
    """
    path, note = usable_file(Path(out))
    check_rate(path, fps)
    if not 0.001 <= speed <= 1000:
        raise OutOfRange("speed", speed, 0.001, 1000)
    replayed = log if isinstance(log, ReplayWorld) else ReplayWorld(log)
    start_s, end_s = _span(replayed, from_s, to_s)
    replayed.pose(start_s)
    size_px = _checked_size(size or SIZE_PX)
    eye = eye_of(replayed.world, camera, size_px[0] / size_px[1])
    if size is None and eye.size_px is not None:
        size_px = _shaped(eye.size_px)
    film = _Film(replayed, eye, size_px, FAST if fast else BEST)
    times = start_s + np.arange(max(1, round((end_s - start_s) / speed * fps))) * speed / fps
    captions = Captions(replayed.log) if caption else None

    def frame(time_s: float) -> Picture:
        picture = film.picture(time_s)
        return picture if captions is None else _captioned(picture, time_s, captions.at(time_s))

    def frames() -> Iterator[Picture]:
        for number, time_s in enumerate(times.tolist(), 1):
            yield frame(time_s)
            if progress is not None:
                progress(number, len(times))

    samples = []
    if path.suffix.lower() == ".gif":
        samples = [frame(float(time_s)) for time_s in times[:: max(1, len(times) // SAMPLES)]]
    write_frames(path, frames(), fps, samples, fast=fast)
    return Video(path, len(times), film.drawn, len(times) / fps, size_px, film.renderer.name, note)


def _captioned(picture: Picture, time_s: float, caption: Caption) -> Picture:
    return draw_caption(picture, time_s, caption)


def _span(replayed: ReplayWorld, from_s: float | None, to_s: float | None) -> tuple[float, float]:
    first_s, last_s = replayed.start_s, replayed.end_s
    start_s, end_s = first_s if from_s is None else from_s, last_s if to_s is None else min(to_s, last_s)
    if not (first_s - 1 <= start_s < end_s):
        raise BadInput(
            f"{replayed.log.path}: there is nothing between {start_s:g} and {end_s:g} s; "
            f"the log is from {first_s:g} to {last_s:g} s"
        )
    return max(start_s, first_s), end_s


def _checked_size(size_px: tuple[int, int]) -> tuple[int, int]:
    if any(side % 2 or not LEAST_PX <= side <= MOST_PX for side in size_px):
        raise BadInput(
            f"a video of {size_px[0]} x {size_px[1]} pixels cannot be made; "
            f"allowed: even numbers from {LEAST_PX} to {MOST_PX}, such as 1280x720"
        )
    return size_px


def _shaped(size_px: tuple[int, int]) -> tuple[int, int]:
    """Returns a size of the usual height in the shape of another one, even as encoders want it."""
    width, height = size_px
    return 2 * round(SIZE_PX[1] * width / height / 2), SIZE_PX[1]
