"""A laboratory in a notebook: the viewer's page in a frame, with the cell as it is at this moment."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cellwright import __version__
from cellwright.core.errors import BadInput, OutOfRange, OutputError
from cellwright.core.json_text import json_text
from cellwright.core.rich_text import html_note
from cellwright.lab.cell_picture import CellPicture
from cellwright.viewing.document import RunDocument
from cellwright.viewing.packet import Blob, pack
from cellwright.viewing.page import viewer_page
from cellwright.viewing.scene import make_scene

if TYPE_CHECKING:
    from cellwright.lab import Lab

__all__ = ["CellFrame", "show_lab", "still_page"]

HEIGHT_PX, LEAST_PX, MOST_PX = 600, 100, 4000


@dataclass(frozen=True, eq=False)
class CellFrame:
    """A page of the viewer that a notebook shows in a frame; where there is no page, a picture and the reason.

    Attributes:
        title: What is shown.
        height_px: The frame's height.
        page: The page; empty where there is none.
        picture: A picture in its place.
        reason: Why there is no page.
    """

    title: str
    height_px: int
    page: str
    picture: CellPicture | None = None
    reason: str = ""

    def save(self, path: str | Path) -> Path:
        """Writes the page to a file, which opens from disk, and returns its path."""
        if not self.page:
            raise BadInput(f"there is no page to save: {self.reason}")
        path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.page, encoding="utf-8")
        except OSError as error:
            raise OutputError(path, error.strerror or str(error)) from None
        return path

    def _repr_html_(self) -> str:
        if not self.page:
            assert self.picture is not None
            data = base64.b64encode(self.picture._repr_png_()).decode("ascii")
            return f'<div><img alt="The cell" src="data:image/png;base64,{data}"/>{html_note(self.reason)}</div>'
        page = self.page.replace("&", "&amp;").replace('"', "&quot;")
        style = f"width:100%;height:{self.height_px}px;border:0"
        return f'<iframe srcdoc="{page}" style="{style}" title="The cell in three dimensions"></iframe>'

    def __repr__(self) -> str:
        how = "a notebook shows it, .save(FILE.html) writes it" if self.page else self.reason
        return f"<{self.title} in three dimensions: {how}>"


def show_lab(lab: Lab, height_px: int = HEIGHT_PX) -> CellFrame:
    """Returns a laboratory as it is now, to be turned and looked at in a notebook; a picture where no page is built."""
    if not LEAST_PX <= height_px <= MOST_PX:
        raise OutOfRange("the height of the frame", height_px, LEAST_PX, MOST_PX, "px")
    title = f"{lab.cell.name} at {lab.world.clock.time_s:.2f} s"
    try:
        return CellFrame(title, height_px, still_page(lab))
    except BadInput as missing:
        return CellFrame(title, height_px, "", lab.picture(), str(missing))


def still_page(lab: Lab) -> str:
    """Returns the viewer's page with one moment: the scene as it is, and what the detectors said last.

    Raises:
        BadInput: The page was not built.
    """
    viewer_page()
    time_s, blob = lab.world.clock.time_s, Blob()
    keys = {"hz": 1.0, "times": blob.add(np.array([time_s], "<f4")), "count": 1, "columns": []}
    run = json_text(_document(lab, time_s)).encode()
    return viewer_page({"scene": make_scene(lab.world), "keys": pack("keys", keys, blob), "run": run})


def _document(lab: Lab, time_s: float) -> dict[str, Any]:
    """Returns a run document in which nothing happens; what the sensors said last counts as said now."""
    about = {
        "cell": lab.cell.name,
        "seed": lab.seed,
        "fidelity": lab.cell.fidelity,
        "status": "ended",
        "start_s": time_s,
        "end_s": time_s,
        "versions": {"cellwright": __version__},
        "configuration": {},
        "is_truth_shown": True,
        "notes": ["The cell at one moment, as `lab.show()` found it."],
    }
    unsaid = ("order", "controller", "reason", "score", "failure_s", "command", "log")
    said = RunDocument(lab.cell)
    for sensor in lab.sensors:
        if sensor.latest is not None:
            said.take(sensor.topic, time_s, sensor.latest)
    return {"about": about | dict.fromkeys(unsaid), "robots": said.robots, **said.whole()}
