"""The bridge to ROS 1 where there is no roscore, and packages of message types."""

from __future__ import annotations

import socket

import pytest

from cellwright.core.errors import BadInput
from cellwright.interfaces.ros import BRIDGES, BridgeOptions, RosGraph, RosTypes
from cellwright.interfaces.ros import ros1 as module
from cellwright.interfaces.ros.ros1_package import package_files

PLACE = """string name
geometry_msgs/PoseStamped pose
---
bool success
time stamp
"""


@pytest.fixture
def unused_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def refused(address):
    with pytest.raises(BadInput) as refused:
        BRIDGES.get("ros1")(None, RosGraph(), address, BridgeOptions())
    return str(refused.value)


def test_without_rospy_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "ROSPY_PLACE", tmp_path)
    monkeypatch.setattr(module, "find_spec", lambda _name: None)
    assert refused(None) == "the bridge ros1 needs rospy; on Debian and Ubuntu: apt install ros-core"
    assert module.rospy_problem() == "no rospy; on Debian and Ubuntu: apt install ros-core"


@pytest.mark.parametrize("by_environment", [True, False])
def test_without_a_roscore_it_says_where_it_looked(monkeypatch, tmp_path, unused_port, by_environment):
    monkeypatch.setattr(module, "rospy_path", lambda: tmp_path)
    address = f"127.0.0.1:{unused_port}"
    if by_environment:
        monkeypatch.setenv("ROS_MASTER_URI", f"http://{address}/")
    said = refused(None if by_environment else address)
    assert said.startswith(f"no roscore answers at http://{address} (")
    assert "`roscore`" in said


@pytest.mark.parametrize("address", ["127.0.0.1:x", "some host", "127.0.0.1:70000"])
def test_an_address_is_host_and_port(monkeypatch, tmp_path, address):
    monkeypatch.setattr(module, "rospy_path", lambda: tmp_path)
    assert refused(address).startswith("--bridge ros1 takes HOST:PORT")


def test_a_server_that_is_no_roscore_is_none(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "rospy_path", lambda: tmp_path)
    monkeypatch.setattr(module, "ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes calls and never answers
        assert "no roscore answers" in refused(f"127.0.0.1:{mute.getsockname()[1]}")


def test_packages_have_messages_services_and_what_they_need():
    types = RosTypes({"my_msgs/msg/Count": "std_msgs/Header header\nint64[] counts\n", "my_msgs/srv/Place": PLACE})
    files = package_files(types, ["my_msgs/msg/Count", "my_msgs/srv/Place"])
    assert set(files) == {
        f"my_msgs/{name}" for name in ("msg/Count.msg", "srv/Place.srv", "package.xml", "CMakeLists.txt")
    }
    assert files["my_msgs/msg/Count.msg"] == "std_msgs/Header header\nint64[] counts\n"
    assert files["my_msgs/srv/Place.srv"] == PLACE
    assert "<build_depend>geometry_msgs</build_depend>" in files["my_msgs/package.xml"]
    assert "generate_messages(DEPENDENCIES geometry_msgs std_msgs)" in files["my_msgs/CMakeLists.txt"]
    assert "builtin_interfaces" not in "".join(files.values())
