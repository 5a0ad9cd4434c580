"""A laboratory as ROS sees it: topics, services, parameters and frames, for any bridge that speaks to ROS programs.

The laboratory's side (`RosBridge`) never waits: it sends what somebody subscribes to, as CDR bytes, over a channel to a
process of the bridge's own (`LabNode`), which speaks to the world. So no subscriber can slow the simulation.
"""

from cellwright._lazy import lazy_names

__all__ = [
    "BRIDGES",
    "BridgeOptions",
    "JointFrame",
    "LabNode",
    "OfferedService",
    "PublishedTopic",
    "RosBridge",
    "RosGraph",
    "RosTypes",
    "SubscribedTopic",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".bridge": "RosBridge",
        ".bridges": "BRIDGES BridgeOptions",
        ".graph": "JointFrame OfferedService PublishedTopic RosGraph SubscribedTopic",
        ".node": "LabNode",
        ".types": "RosTypes",
    },
)
