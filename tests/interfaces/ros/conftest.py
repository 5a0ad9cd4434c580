from __future__ import annotations

import pytest
from tests.interfaces.ros.roscore import Roscore, need_ros


@pytest.fixture(scope="module")
def ros(tmp_path_factory):
    need_ros()
    roscore = Roscore(tmp_path_factory.mktemp("ros"))
    roscore.start()
    yield roscore
    roscore.kill()
