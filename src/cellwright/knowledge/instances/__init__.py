"""Instance files: what a database holds, in OWL and in XML, written and read; and the goal that an order leads to."""

from cellwright.knowledge.instances.content import Content, InstanceEntry, Ref
from cellwright.knowledge.instances.errors import InstanceError
from cellwright.knowledge.instances.files import load_instances, save_instances
from cellwright.knowledge.instances.goal import goal_of
from cellwright.knowledge.instances.owl import write_owl
from cellwright.knowledge.instances.owl_reading import read_owl
from cellwright.knowledge.instances.store import copy_of, read_content, write_content
from cellwright.knowledge.instances.xml_form import write_xml
from cellwright.knowledge.instances.xml_reading import read_xml

__all__ = [
    "Content",
    "InstanceEntry",
    "InstanceError",
    "Ref",
    "copy_of",
    "goal_of",
    "load_instances",
    "read_content",
    "read_owl",
    "read_xml",
    "save_instances",
    "write_content",
    "write_owl",
    "write_xml",
]
