"""Videos of a run: decoded again and compared with what the renderer draws."""

import sys

import numpy as np
import pytest
from PIL import Image, ImageSequence

from cellwright.core.errors import BadInput, OutOfRange, OutputError, UnknownName
from cellwright.lab import Lab
from cellwright.rendering import View
from cellwright.viewing import video as module
from cellwright.viewing.replay import ReplayWorld
from cellwright.viewing.video import FAST, write_video

SIZE = (160, 120)


@pytest.fixture(scope="module")
def replayed(epuck_log):
    return ReplayWorld(epuck_log)


@pytest.fixture
def film(replayed, tmp_path):
    """Writes a video that is quick to draw, under a name."""
    return lambda name, **options: write_video(
        replayed, tmp_path / name, **{"size": SIZE, "fps": 10, "fast": True, "caption": False} | options
    )


def decoded(path):
    import av

    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)], stream


def test_an_mp4_has_the_frames_that_the_renderer_draws(film, replayed):
    made = film("run.mp4")
    pictures, stream = decoded(made.path)
    seconds = replayed.end_s - replayed.start_s
    assert len(pictures) == made.frames == round(seconds * 10)
    assert float(stream.duration * stream.time_base) == pytest.approx(seconds, abs=0.1)
    assert stream.codec_context.pix_fmt == "yuv420p"
    world = replayed.pose(replayed.start_s + 0.9)
    from cellwright.rendering import choose_renderer
    from cellwright.sim.picture import cell_view

    scene = world.appearance.now()
    view = cell_view(replayed.pose(replayed.start_s), SIZE[0] / SIZE[1]).resolve(*scene)
    world = replayed.pose(replayed.start_s + 0.9)
    drawn = choose_renderer().shoot(*world.appearance.now(), view, SIZE, quality=FAST).rgb
    error = np.abs(pictures[9].astype(float) - drawn)
    assert error.mean() < 4
    assert np.abs(pictures[1].astype(float) - drawn).mean() > 1.2 * error.mean()  # robots had not moved yet


def test_index_comes_before_the_pictures_so_that_pages_can_play_at_once(film):
    data = film("run.mp4").path.read_bytes()
    assert 0 < data.index(b"moov") < data.index(b"mdat")


@pytest.mark.parametrize("ending", ["gif", "webp"])
def test_gif_and_webp_are_the_same_bytes_each_time(film, ending):
    first, again = film(f"a.{ending}", fps=5), film(f"b.{ending}", fps=5)
    assert first.path.read_bytes() == again.path.read_bytes()
    with Image.open(first.path) as image:
        assert image.size == SIZE
        shown_ms = 0
        for frame in ImageSequence.Iterator(image):
            frame.load()  # that of a WebP is known only then
            shown_ms += frame.info["duration"]
        assert image.is_animated
    assert shown_ms == pytest.approx(first.duration_s * 1000, abs=50)


def test_what_looks_the_same_is_drawn_once(tmp_path):
    with Lab.from_cell("epucks@one", seed=3) as lab:
        lab.advance(2.0)  # its tyres settle
        lab.record(tmp_path / "log.mcap")
        lab.advance(0.5)
    standing = write_video(
        ReplayWorld(tmp_path / "log.mcap"), tmp_path / "still.webp", size=SIZE, fps=10, fast=True, caption=False
    )
    assert standing.frames > 3
    assert standing.drawn == 1


def test_speed_and_span_decide_how_long_it_plays(film):
    assert film("slow.webp", from_s=0.6, to_s=0.8, speed=0.5).duration_s == pytest.approx(0.4)
    assert film("fast.webp", speed=4).frames == 3


def test_a_caption_tells_the_time_and_leaves_the_rest_as_it_is(film):
    plain, told = (decoded(film(f"{on}.mp4", caption=on, to_s=0.2).path)[0][0].astype(int) for on in (False, True))
    rows = np.flatnonzero(np.abs(plain - told).max(axis=(1, 2)) > 40)
    assert len(rows)
    assert rows.min() > 0.7 * SIZE[1]


def test_any_camera_or_point_of_view(film, replayed):
    from_above = film("above.webp", camera=View(eye_in_world_m=(0, 0, 3), target_in_world_m=(0, 0, 0)), to_s=0.2)
    own = film("own.webp", camera="ePuck0/camera", to_s=0.2)
    assert from_above.path.read_bytes() != own.path.read_bytes()
    with pytest.raises(UnknownName, match=r"unknown camera 'camrea'.*ePuck0/camera"):
        film("none.webp", camera="camrea")


def test_without_pyav_an_mp4_becomes_a_webp_beside_it(film, monkeypatch):
    monkeypatch.setattr("cellwright.viewing.encoders.has_extra", lambda *modules: False)
    made = film("run.mp4", to_s=0.3)
    assert made.path.name == "run.webp"
    assert made.path.exists()
    assert made.note.endswith("pip install 'cellwright[video]'")


def test_bad_input_is_refused_in_one_line(film, tmp_path):
    with pytest.raises(BadInput, match=r"a video is \.mp4, \.gif or \.webp"):
        film("run.avi")
    with pytest.raises(BadInput, match=r"161 x 120 pixels cannot be made.*even numbers"):
        film("run.mp4", size=(161, 120))
    with pytest.raises(BadInput, match=r"nothing between 5 and 1\.2 s"):
        film("run.mp4", from_s=5)
    with pytest.raises(OutOfRange, match="frames per second"):
        film("run.gif", fps=100)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="file"):
        film("file/run.webp", to_s=0.1)
    assert not list(tmp_path.glob("*.mp4"))
    assert module.SIZE_PX == (1280, 720)


@pytest.mark.peer
def test_chromium_plays_it(film):
    from playwright.sync_api import sync_playwright

    made = film("run.mp4")
    page_file = made.path.with_suffix(".html")
    page_file.write_text(f'<video id="v" src="{made.path.name}" muted autoplay></video>')
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        page = browser.new_page()
        page.goto(page_file.as_uri())
        page.wait_for_function("document.getElementById('v').ended", timeout=20_000)
        seen = page.evaluate("(v => [v.videoWidth, v.videoHeight, v.duration, v.error])(document.getElementById('v'))")
        browser.close()
    assert seen[:2] == list(SIZE)
    assert seen[2] == pytest.approx(made.duration_s, abs=0.05)
    assert seen[3] is None


@pytest.mark.parametrize("renderer", ["soft", "ray"])
def test_other_renderers_film_too(film, monkeypatch, renderer):
    if renderer == "soft" and "numba" not in sys.modules:
        pytest.importorskip("numba")
    monkeypatch.setenv("CELLWRIGHT_RENDERER", renderer)
    made = film("run.webp", to_s=0.2, size=(64, 48))
    assert made.renderer == renderer
