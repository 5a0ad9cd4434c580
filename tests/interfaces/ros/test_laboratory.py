"""Every cell makes a graph, without truth unless it is asked for; names are unique."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.interfaces.ros.graph_rig import GraphRig, graph_rig
from tests.interfaces.ros.test_types import content

from cellwright import Lab, load_cell
from cellwright.cells.interfaces import RosCfg
from cellwright.core.errors import BadInput
from cellwright.core.messages import Range
from cellwright.interfaces.ros.graph import PublishedTopic, RosGraph, SubscribedTopic
from cellwright.interfaces.ros.laboratory import graph_of
from cellwright.interfaces.ros.types import RosTypes

EXPECTED = {
    "aprs": {"/fanuc/joint_states", "/motoman/wrench", "/fanuc/crcl_status", "/detector_fanuc/detections"},
    "kitting": {"/motoman/joint_states", "/motoman/crcl_status_xml", "/detector/detections"},
    "rovi": {"/joint_states", "/stereo/left/camera_info", "/rbrovi/camera_stereo/right/image_raw"},
    "epucks": {"/ePuck0/odom", "/ePuck3/odom"},
}


@pytest.mark.parametrize(
    "cell", [pytest.param(cell, marks=[pytest.mark.slow] if cell in ("aprs", "kitting") else []) for cell in EXPECTED]
)
def test_every_cell_has_a_graph_whose_types_all_exist(cell):
    with graph_rig(cell) as rig:
        graph, types = rig.graph, rig.types
        assert set(graph.published) >= EXPECTED[cell]
        for topic in (*graph.published.values(), *graph.subscribed.values()):
            assert len(types.md5(topic.ros_type)) == 32
            assert types.store.hash_rihs01(topic.ros_type).startswith("RIHS01_")
        for service in graph.services.values():
            assert len(types.service_md5(service.service_type)) == 32
        assert not any("truth" in name for name in (*graph.published, *graph.subscribed, *graph.services))
        bus_topics = {topic.bus_topic for topic in graph.published.values()}
        assert not any(rig.lab.bus.topics[topic].TRUTH for topic in bus_topics if topic)
        children = [frame.child for frame in graph.frames]
        assert len(children) == len(set(children))


def test_truth_is_below_its_own_name_and_only_where_it_is_asked_for():
    with graph_rig("rovi", with_truth=True) as rig:
        for topic in rig.graph.published.values():
            is_truth = bool(topic.bus_topic) and rig.lab.bus.topics[topic.bus_topic].TRUTH
            assert is_truth == topic.topic.startswith("/truth/")
        assert {"/truth/poses", "/truth/judge/faults"} <= set(rig.graph.published)


def test_a_name_that_is_taken_is_refused():
    graph = RosGraph()
    topic = PublishedTopic(topic="/a", ros_type="std_msgs/msg/String")
    graph.publish(topic)
    with pytest.raises(BadInput, match="'/a' is given twice"):
        graph.publish(topic)
    graph.subscribe(SubscribedTopic(topic="/a", ros_type="std_msgs/msg/String", take=lambda *_: None))  # another way
    with Lab.from_cell("rovi") as lab, pytest.raises(BadInput, match="no topic /nothing; topics: "):
        graph.publish_bus(lab.bus, "/nothing")


def test_a_type_that_no_package_has_is_known_by_its_text():
    graph = RosGraph()
    with Lab.from_cell("rovi") as lab:
        graph.publish_bus(lab.bus, "/ur5/tool_status")
    assert "float64 width_m" in RosTypes(graph.definitions).text("cellwright_msgs/msg/ToolStatus")
    assert graph.know(Range) == "sensor_msgs/msg/Range" not in graph.definitions


def test_another_name_of_the_cells_file_must_mean_a_topic():
    cell = load_cell("rovi").model_copy(update={"ros": RosCfg(names={"/mine": "/nobody"})})
    with Lab.from_cell(cell) as lab, pytest.raises(BadInput, match=r"ros.names./mine: there is no topic /nobody"):
        graph_of(lab)
    with pytest.raises(ValueError, match="pattern"):
        RosCfg(names={"no slash": "/ur5/wrench"})


def test_a_projector_is_switched_by_a_number():
    with graph_rig("rovi") as rig:
        switch = rig.lab.projector("stereo")
        topic, number = "/projector_controller/projector", "std_msgs/msg/Int32"
        for value in (1, 1, 0):
            rig.send(topic, rig.make(number, data=value))
            assert switch.is_on == bool(value)
        with pytest.raises(BadInput, match=r"0 \(off\) or 1 \(on\), not 2"):
            rig.send(topic, rig.make(number, data=2))


@pytest.mark.slow
def test_a_camera_without_a_rate_takes_pictures_while_somebody_listens():
    with Lab.from_cell("rovi") as lab:
        rig = GraphRig(lab)
        lab.advance(1.2)
        pictures, facts = rig.hear("/rbrovi/camera_stereo/left/image_raw"), rig.hear("/stereo/left/camera_info")
        lab.advance(1.2)
        assert len(pictures) == len(facts) == 2
        assert pictures[0].header.frame_id == facts[0].header.frame_id == "stereo/left/optical"
        assert pictures[0].header.stamp == facts[0].header.stamp
        assert (pictures[0].header.stamp.sec, pictures[0].header.stamp.nanosec) == (1, 500_000_000)


@pytest.mark.slow
def test_every_frame_that_a_message_names_is_in_the_tree():
    sensors = (
        {"type": "laser_range", "robot": "ur5", "name": "pointer", "rate_hz": 20, "xyz_m": [0.05, 0, 0.02]},
        {"type": "laser_scanner", "name": "floor_scanner", "rate_hz": 10, "xyz_m": [0, 0, 0.9], "beams": 9},
        {
            "type": "laser_scanner",
            "name": "hand_scanner",
            "robot": "ur5",
            "rate_hz": 10,
            "xyz_m": [0, 0, 0.1],
            "beams": 9,
        },
        {"type": "color_camera", "name": "hand", "robot": "ur5", "resolution_px": [32, 24], "rate_hz": 5},
        {"type": "depth_camera", "name": "depths", "camera": "kinect", "resolution_px": [32, 24], "with_points": True},
    )
    cell = load_cell("rovi")
    cell = cell.model_copy(update={"sensors": (*cell.sensors, *sensors)})
    with Lab.from_cell(cell, seed=3) as lab:
        rig = GraphRig(lab)
        rig.listen_to_tf()
        framed = {}

        def note(topic, message):
            if hasattr(message, "frame"):
                framed[topic] = message.frame

        for topic in rig.graph.published.values():
            lab.bus.subscribe(topic.bus_topic, note, subscriber="test")
        lab.advance(1.1)
        expected = {"/pointer/laser_range", "/floor_scanner/scan", "/hand_scanner/scan", "/hand/image_raw"}
        assert {*expected, "/depths/points", "/depths/depth", "/stereo/right/image_raw", "/ur5/wrench"} <= set(framed)
        for frame in framed.values():
            rig.frame_in_world(frame)  # a KeyError where the tree does not lead there
        hand, flange = rig.frame_in_world("hand/optical"), rig.frame_in_world("ur5/flange")
        assert np.allclose(hand.rotation_matrix[:, 2], flange.rotation_matrix[:, 2], atol=1e-9)  # it looks along z
        assert np.allclose(flange.inverse().apply(rig.frame_in_world("pointer/laser_range").position), [0.05, 0, 0.02])


HARMLESS = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@pytest.mark.parametrize("cell", ["rovi", "epucks"])
def test_whatever_comes_is_taken_or_refused_with_a_reason(cell):
    """Of any content, finite or not: never an error of another kind, which would say nothing to its sender."""
    with Lab.from_cell(cell, fidelity="kinematic" if cell == "rovi" else None) as lab:
        rig = GraphRig(lab)
        counts = {"taken": 0, "refused": 0}

        @HARMLESS
        @given(data=st.data())
        def sent(topic, data):
            message = data.draw(content(rig.types, rig.graph.subscribed[topic].ros_type))
            try:
                rig.send(topic, message)
                counts["taken"] += 1
            except BadInput:
                counts["refused"] += 1

        async def work():
            for topic in rig.graph.subscribed:
                sent(topic)
                await lab.clock.sleep(0.02)

        lab.perform(work())
        lab.advance(0.1)
        assert counts["taken"] > 0 < counts["refused"]
