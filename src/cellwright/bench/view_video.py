"""Processor time of a second of video."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from cellwright.lab import Lab
from cellwright.viewing import ReplayWorld, write_video

__all__ = ["film_log", "video_cpu_s_per_s"]

SIZE_PX, FPS = (640, 480), 25.0
FROM_S, WHOLE_S, QUICK_S = 4.0, 8.0, 2.0  # of a kit, where the robot moves most of the time


def video_cpu_s_per_s(log: Path | None = None, *, quick: bool = False) -> float:
    """Returns the processor seconds, of all threads, for one second of video as `--fast` makes it.

    The first frames are not counted: drivers of graphics, and what numba compiles, are loaded then.

    Args:
        log: Of a run that moves from 4 to 12 s; a kit is built when None.
        quick: Films fewer seconds.
    """
    with TemporaryDirectory() as folder:
        if log is None:
            log = Path(folder) / "log.mcap"
            with Lab.from_cell("aprs", seed=7) as lab:
                lab.record(log)
                lab.run("kit_m2l1")
        return film_log(log, Path(folder) / "video.mp4", QUICK_S if quick else WHOLE_S)


def film_log(log: Path, out: Path, seconds: float) -> float:
    """Returns the processor seconds per second of video of a log, filmed from its fifth second on."""
    replayed = ReplayWorld(log)
    options = {"size": SIZE_PX, "fps": FPS, "fast": True}
    write_video(replayed, out, from_s=FROM_S - 0.2, to_s=FROM_S, **options)  # type: ignore[arg-type]
    start_s = process_time()
    made = write_video(replayed, out, from_s=FROM_S, to_s=FROM_S + seconds, **options)  # type: ignore[arg-type]
    return (process_time() - start_s) / made.duration_s
