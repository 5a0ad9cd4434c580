"""Maps of a calibration: as large as the offsets at their points, and a picture of the size that is asked for."""

import numpy as np
import pytest
from PIL import Image

from cellwright.core import PoseOffsets
from cellwright.core.errors import OutputError
from cellwright.perception.calibration import CompensationMap

POINTS = np.array([[0.5359, 0.1577], [0.7231, -0.4003], [0.5238, -0.1067], [0.7473, 0.1554]])
OFFSETS = np.array([[0.0, 0.005, 0.0], [-0.009, -0.007, 0.0], [-0.004, 0.0, 0.0], [0.005, 0.0, 0.0]])
TABLE_1 = CompensationMap(PoseOffsets(POINTS, OFFSETS, np.zeros((4, 3))), frame="Motoman")


def test_the_papers_map_has_its_offsets_at_their_points():
    """In the reference the offsets over this region are 0.11 to 11.26 mm."""
    (x_m, y_m), values = TABLE_1.axes_m, TABLE_1.magnitudes_m
    assert values.shape == (len(y_m), len(x_m))
    assert 1e3 * values.max() == pytest.approx(np.hypot(9, 7), abs=0.5)
    assert 1e3 * values.min() < 0.3
    for point, offset in zip(POINTS, OFFSETS, strict=True):
        row, column = np.abs(y_m - point[1] - offset[1]).argmin(), np.abs(x_m - point[0] - offset[0]).argmin()
        assert 1e3 * values[row, column] == pytest.approx(1e3 * np.linalg.norm(offset), abs=0.6)
    assert x_m.min() < POINTS[:, 0].min() < POINTS[:, 0].max() < x_m.max()


def test_a_map_becomes_a_picture(tmp_path):
    pytest.importorskip("matplotlib")
    TABLE_1.save(tmp_path / "map.png")
    picture = np.asarray(Image.open(tmp_path / "map.png").convert("RGB"), float)
    assert min(picture.shape[:2]) > 400
    assert picture.std() > 20  # colours, not an empty sheet
    with pytest.raises(OutputError, match="cannot write"):
        TABLE_1.save(tmp_path / "none" / "map.png")
    with pytest.raises(OutputError, match="cannot write"):
        TABLE_1.save(tmp_path / "map.xyz")
