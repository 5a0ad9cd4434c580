"""The graph of a laboratory: what ROS programs see of its robots and sensors, and what they may do."""

from __future__ import annotations

from cellwright.core.messages import LedCommand, VelocityCommand
from cellwright.interfaces.ros.graph import RosGraph
from cellwright.interfaces.ros.mobiles import add_mobile
from cellwright.lab.lab import Lab

__all__ = ["graph_of"]


def graph_of(lab: Lab, *, with_truth: bool = False) -> RosGraph:
    """Returns what ROS programs see of a laboratory: every topic of the bus, and what its robots take.

    Args:
        lab: The laboratory.
        with_truth: Whether topics of truth, below `/truth`, are among them.
    """
    graph = RosGraph()
    for name in lab.mobiles:
        add_mobile(graph, lab, name)
    shown = {topic.bus_topic for topic in graph.published.values()}
    for bus_topic, kind in sorted(lab.bus.topics.items()):
        if bus_topic not in shown and kind not in (VelocityCommand, LedCommand) and (with_truth or not kind.TRUTH):
            graph.publish_bus(lab.bus, bus_topic)
    return graph
