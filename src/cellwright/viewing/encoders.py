"""Moving pictures as files: MP4 with PyAV, GIF and WebP with Pillow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from cellwright.core.errors import BadInput, OutOfRange, OutputError
from cellwright.core.extras import has_extra

__all__ = ["FORMATS", "check_rate", "usable_file", "write_frames"]

Frames = Iterator[npt.NDArray[np.uint8]]

FORMATS = (".mp4", ".gif", ".webp")
INSTALL = "pip install 'cellwright[video]'"
COLOURS = 255  # of a GIF; the last one of its 256 says that a pixel stays as it was
CRF = 23  # what x264 takes for good
WEBP_QUALITY = 60
FASTEST_GIF_FPS = 50.0  # browsers slow down what is faster


def usable_file(out: Path) -> tuple[Path, str]:
    """Returns the file that can be written, and a note when it is another one than was asked for.

    Raises:
        BadInput: The file's ending is of no known format.
    """
    ending = out.suffix.lower()
    if ending not in FORMATS:
        raise BadInput(f"{out}: a video is {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, by the ending of its file")
    if ending == ".mp4" and not _can_encode():
        instead = out.with_suffix(".webp")
        return instead, f"{instead} in place of {out.name}: for MP4, {INSTALL}"
    return out, ""


def _can_encode() -> bool:
    if not has_extra("av"):
        return False
    import av.codec

    return "libx264" in av.codec.codecs_available  # builds without it exist


def check_rate(out: Path, fps: float) -> None:
    """Refuses what the format cannot show at its own speed."""
    most = FASTEST_GIF_FPS if out.suffix.lower() == ".gif" else 240.0
    if not 0.1 <= fps <= most:
        raise OutOfRange("frames per second", fps, 0.1, most)


def write_frames(out: Path, frames: Frames, fps: float, samples: list[npt.NDArray[np.uint8]], *, fast: bool) -> None:
    """Writes a file from frames that come one after the other; equal frames take hardly any room.

    Args:
        out: The file.
        frames: The pictures, all of one size.
        fps: Frames per second.
        samples: Some of them, from which a GIF takes its one palette.
        fast: Whether the encoder may spend less time for a somewhat larger file.
    """
    partial = out.with_name(f".{out.name}.part{out.suffix}")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        ending = out.suffix.lower()
        if ending == ".mp4":
            _write_mp4(partial, frames, fps, fast=fast)
        elif ending == ".gif":
            _write_gif(partial, frames, fps, samples)
        else:
            _write_webp(partial, frames, fps, fast=fast)
        partial.replace(out)
    except OSError as error:
        raise OutputError(out, error.strerror or str(error)) from None
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _write_mp4(out: Path, frames: Frames, fps: float, *, fast: bool) -> None:
    import av

    rate = Fraction(fps).limit_denominator(1001)
    with av.open(str(out), "w", options={"movflags": "+faststart"}) as container:
        stream: Any = container.add_stream("libx264", rate=rate)
        stream.pix_fmt = "yuv420p"
        stream.options = {"crf": str(CRF), "preset": "veryfast" if fast else "medium"}
        stream.codec_context.thread_count = 1  # the same bytes on any machine; drawing takes longer anyway
        first = next(frames)
        stream.height, stream.width = first.shape[:2]
        for picture in chain([first], frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))


def _write_gif(out: Path, frames: Frames, fps: float, samples: list[npt.NDArray[np.uint8]]) -> None:
    """Writes all frames with one palette: palettes of each frame's own flicker, and take three times the room."""
    stack = np.concatenate([sample[::2, ::2] for sample in samples])
    palette = Image.fromarray(stack).quantize(COLOURS, method=Image.Quantize.MEDIANCUT, kmeans=1)
    pictures = (Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    first = next(pictures)
    ms = max(20, round(100 / fps) * 10)
    first.save(out, "GIF", save_all=True, append_images=pictures, duration=ms, loop=0, optimize=False)


def _write_webp(out: Path, frames: Frames, fps: float, *, fast: bool) -> None:
    pictures = [Image.fromarray(frame) for frame in frames]
    pictures[0].save(
        out,
        "WEBP",
        save_all=True,
        append_images=pictures[1:],
        duration=round(1000 / fps),
        loop=0,
        quality=WEBP_QUALITY,
        method=2 if fast else 4,
        kmin=60,
        kmax=120,
    )
