"""A short run of e-pucks, filmed and replayed by the tests."""

import pytest

from cellwright.lab import Lab


@pytest.fixture(scope="session")
def epuck_log(tmp_path_factory):
    """A log of 1.2 s in which e-pucks stand for half a second and then drive."""
    path = tmp_path_factory.mktemp("epucks") / "log.mcap"
    with Lab.from_cell("epucks", seed=3) as lab:
        lab.record(path)
        lab.advance(0.5)
        for robot in lab.mobiles.values():
            robot.drive(6.0, 4.0)
        lab.mobiles["ePuck1"].set_led(2)
        lab.advance(0.7)
    return path
