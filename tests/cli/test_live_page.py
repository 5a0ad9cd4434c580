"""`--view` and `--speed`: what is refused before anything is done, and what goes on without a page."""

import socket

import pytest

from cellwright.cli.app import main
from cellwright.cli.live_page import LivePage, with_addresses
from cellwright.core.errors import BadInput


@pytest.mark.parametrize(
    ("given", "parsed"),
    [
        ("run --view", "run --view=127.0.0.1:8080"),
        ("run --view --seed 7", "run --view=127.0.0.1:8080 --seed 7"),
        ("run --view epucks", "run --view=127.0.0.1:8080 epucks"),
        ("run --view 0", "run --view 0"),
        ("run --view 0.0.0.0:99 aprs", "run --view 0.0.0.0:99 aprs"),
        ("run --view=x", "run --view=x"),
        ("run --viewer", "run --viewer"),
    ],
)
def test_an_address_may_be_left_out(given, parsed):
    assert " ".join(with_addresses(given.split())) == parsed


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["run"], ["serve", "epucks"]])
def test_a_port_that_is_taken_is_told_before_anything_is_done(arguments, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cellwright.viewing.page.viewer_page", str)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(SystemExit) as ended:
        main([*arguments, "--view", str(taken.getsockname()[1])])
    assert ended.value.code == 2
    said = capfd.readouterr()
    assert said.err.splitlines()[-1].endswith("the port is taken; name another one, or take a free one with --view 0")
    assert "Traceback" not in said.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("speed", ["0", "quick", "-1", "nan", "1e9"])
def test_other_speeds_are_refused(speed):
    with pytest.raises(BadInput, match="--speed takes a number"):
        LivePage("0", speed)


def test_a_speed_is_for_somebody_who_watches():
    with pytest.raises(BadInput, match="add --view"):
        LivePage(None, "2")


def test_without_the_built_page_it_goes_on_without(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("cellwright.viewing.page.PAGE_FILE", tmp_path / "none.html")
    with LivePage("0") as page:
        assert not page.is_on
        with page.watching(None):
            page.stay()
    (line,) = capsys.readouterr().err.splitlines()
    assert "make viewer" in line
    assert line.endswith("it goes on without")
