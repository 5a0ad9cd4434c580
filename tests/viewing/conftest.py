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


@pytest.fixture(scope="session")
def kit_log(tmp_path_factory):
    """A log of a whole kit, and its report: for tests marked `slow` or `peer`."""
    return _kit(tmp_path_factory.mktemp("kit"))


@pytest.fixture(scope="session")
def failed_kit_log(tmp_path_factory):
    """The same of one that fails for good: a gear is lost on its way, and nothing is done about that."""
    faults = ["drop:during=transfer:2"]
    return _kit(tmp_path_factory.mktemp("failed_kit"), recovery="none", faults=faults)


def _kit(folder, **options):
    with Lab.from_cell("aprs", seed=7) as lab:
        recorder = lab.record(folder / "log.mcap")
        report = lab.run("kit_m2l1", **options)
        recorder.close()
    return folder / "log.mcap", report
