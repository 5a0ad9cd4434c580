"""`cellwright log video` and `run --video`: files by their ending, one line for what cannot be."""

import pytest

from cellwright.cli.watching import WatchFiles
from cellwright.core.errors import BadInput
from cellwright.lab import Lab
from cellwright.viewing.video import write_video


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.mcap"
    with Lab.from_cell("epucks", seed=3) as lab:
        lab.record(path)
        lab.mobiles["ePuck0"].drive(5.0, 3.0)
        lab.advance(0.5)
    return path


def test_a_video_is_written_and_told(log, tmp_path, cellwright):
    out = tmp_path / "made" / "run.gif"
    options = ["--fps", "10", "--size", "96x64", "--fast", "--json", "--speed", "2"]
    told = cellwright("log", "video", log, "--out", out, *options).json
    assert told["file"] == str(out)
    assert out.stat().st_size > 100
    assert told["frames"] == 2
    assert told["size_px"] == [96, 64]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--size", "96"], "give width and height in pixels, such as 1280x720"),
        (["--eye", "1,2,3"], "needs both --eye X,Y,Z and --target X,Y,Z"),
        (["--eye", "1,2", "--target", "0,0,0"], "give three numbers in m"),
        (["--camera", "none"], "unknown camera 'none'"),
        (["--cell", "aprs"], "is not the one that was recorded"),
        (["--from", "9"], "there is nothing between 9 and"),
    ],
)
def test_bad_options_are_refused_in_one_line(log, tmp_path, refused, options, said):
    assert said in refused("log", "video", log, "--out", tmp_path / "run.webp", *options)


def test_a_run_without_a_renderer_goes_on_without_a_video(log, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("CELLWRIGHT_RENDERER", "none")
    watched = WatchFiles(video=tmp_path / "run.webp")
    watched.write(log)
    assert watched.written == {}
    assert capsys.readouterr().err.startswith("no video: CELLWRIGHT_RENDERER: unknown renderer 'none'")


def test_ctrl_c_leaves_the_video_out_and_nothing_else(log, tmp_path, capsys, monkeypatch):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("cellwright.viewing.video.write_video", interrupted)
    watched = WatchFiles(video=tmp_path / "run.webp")
    watched.write(log)
    assert watched.written == {}
    (line,) = capsys.readouterr().err.splitlines()
    assert f"cellwright log video {log}" in line


def test_what_could_not_be_written_is_refused_before_the_run(tmp_path):
    there = tmp_path / "there.webp"
    there.write_bytes(b"")
    WatchFiles(video=there, overwrite=True)
    with pytest.raises(BadInput, match="exists, and is not overwritten"):
        WatchFiles(video=there)
    with pytest.raises(BadInput, match="by the ending of its file"):
        WatchFiles(video=tmp_path / "run.avi")


@pytest.mark.slow
def test_the_video_of_a_run_is_drawn_fast_when_asked(log, tmp_path):
    wanted = write_video(log, tmp_path / "wanted.gif", fast=True)
    watched = WatchFiles(video=tmp_path / "run.gif", fast=True)
    watched.write(log)
    assert (tmp_path / "run.gif").read_bytes() == wanted.path.read_bytes()
    plain = write_video(log, tmp_path / "plain.gif")
    assert plain.path.read_bytes() != wanted.path.read_bytes()
    with pytest.raises(BadInput, match="needs --video"):
        WatchFiles(fast=True)


def test_a_video_takes_the_name_of_no_other_file(tmp_path):
    name = tmp_path / "run.webp"
    with pytest.raises(BadInput, match="another file of this command"):
        WatchFiles(trace=name, video=name)
    with pytest.raises(BadInput, match="another file of this command"):
        WatchFiles(video=name).keep_apart((None, "sqlite:///run.db", tmp_path / "x" / ".." / "run.webp"))
