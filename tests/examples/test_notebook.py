"""The example notebook: kept without outputs, run as a notebook runs it."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

FILE = Path(__file__).parents[2] / "examples/notebook.ipynb"


def test_it_is_kept_without_outputs():
    cells = json.loads(FILE.read_text("utf-8"))["cells"]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)
    assert len(cells) < 20


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Runs it and returns the results of its cells: text of the cell -> data by type, merged."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    notebook = nbformat.read(FILE, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    assert list(folder.iterdir()) == [], "it leaves nothing behind where it is run"
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert [out.text for out in cell.outputs if out.output_type == "stream" and out.name == "stderr"] == []
            found[cell.source] = {key: value for out in cell.outputs for key, value in out.get("data", {}).items()}
    return found


def of(outputs, end):
    (found,) = [data for source, data in outputs.items() if source.rstrip().endswith(end)]
    return found


@pytest.mark.peer
def test_it_shows_what_it_is_about(outputs):
    for picture in ("lab.picture()", "size=(480, 480))", "size=(640, 360))", "figure.align_ylabels()"):
        pixels = np.array(Image.open(io.BytesIO(base64.b64decode(of(outputs, picture)["image/png"]))))
        assert pixels.std() > 10
    assert "overhead_detector" in of(outputs, "\nlab")["text/html"]
    assert re.search(r">(19\.9|20\.0)\d<", of(outputs, "\nrobot")["text/html"])
    assert "sku_part_large_gear" in of(outputs, "detector.latest")["text/html"]
    report = of(outputs, "\nreport")["text/html"]
    assert "done, score 100 of 100" in report
    assert "fault drop medium_gear_" in report
    assert "/fanuc/joint_states" in of(outputs, "\nlog")["text/html"]


@pytest.mark.peer
def test_the_cell_is_shown_in_three_dimensions_or_as_a_picture_with_the_reason(outputs):
    shown = of(outputs, "lab.show()")["text/html"]
    assert "<iframe srcdoc=" in shown or ("data:image/png" in shown and "make viewer" in shown)
