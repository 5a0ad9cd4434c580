"""Messages as ROS messages: types, CDR bytes, objects. Imported where it is used; rosbags takes a moment to load."""

from cellwright.core.ros.convert import COLUMNS, decode, from_ros, message_class, newer_class
from cellwright.core.ros.encoder import CdrEncoder, encode
from cellwright.core.ros.layout import Definition, definition, layout_of, types_of_text

__all__ = [
    "COLUMNS",
    "CdrEncoder",
    "Definition",
    "decode",
    "definition",
    "encode",
    "from_ros",
    "layout_of",
    "message_class",
    "newer_class",
    "types_of_text",
]
