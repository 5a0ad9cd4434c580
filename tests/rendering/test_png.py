import numpy as np
import pytest
from PIL import Image

from cellwright.core.errors import OutputError
from cellwright.rendering import save_png

PICTURE = np.arange(12 * 16 * 3, dtype=np.uint8).reshape(12, 16, 3)


def test_round_trip_and_same_bytes(tmp_path):
    first, second = save_png(PICTURE, tmp_path / "new" / "a.png"), save_png(PICTURE.copy(), tmp_path / "b.png")
    assert np.array_equal(np.asarray(Image.open(first)), PICTURE)
    assert first.read_bytes() == second.read_bytes()


def test_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*file/a\.png: "):
        save_png(PICTURE, tmp_path / "file" / "a.png")
    with pytest.raises(OutputError, match="cannot write"):
        save_png(PICTURE, tmp_path)
