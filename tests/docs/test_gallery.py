"""The moving pictures of the docs: all there, made by the script, and small enough to be looked at."""

import re
import runpy
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
MOST_MB, MOST_OF_FIRST_MB = 6.0, 1.5


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(ROOT / "scripts" / "make-pictures"))["PICTURES"]


def test_the_gallery_shows_what_the_script_makes(made):
    shown = re.findall(r"\]\(images/(.*?)\)", (ROOT / "docs/gallery.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(made)


def test_pictures_move_and_are_small(made):
    sizes = {name: (IMAGES / name).stat().st_size / 1e6 for name in made}
    assert sum(sizes.values()) < MOST_MB
    assert sizes["recovery.webp"] < MOST_OF_FIRST_MB
    for name in made:
        with Image.open(IMAGES / name) as image:
            assert getattr(image, "n_frames", 1) > 50


def test_readme_and_start_page_begin_with_one():
    assert "](docs/images/recovery.webp)" in (ROOT / "README.md").read_text(encoding="utf-8")[:1000]
    assert "](images/recovery.webp)" in (ROOT / "docs/index.md").read_text(encoding="utf-8")[:1000]
