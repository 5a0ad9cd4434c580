"""Every type of CRCL 2021Apr28 as a frozen dataclass.

A class is called as in the schema without the ending `Type`, a field as its element in snake case
(`CommandID` is `command_id`), repeated elements are tuples. Fields stand in the order of the elements. What may be left
out, and what stands after it, is given by keyword.
"""

from cellwright.crcl.messages import commands, data, documents, enums, motion, sensors, settings, status, tools
from cellwright.crcl.messages.base import DataThing
from cellwright.crcl.messages.commands import *  # noqa: F403
from cellwright.crcl.messages.data import *  # noqa: F403
from cellwright.crcl.messages.documents import *  # noqa: F403
from cellwright.crcl.messages.enums import *  # noqa: F403
from cellwright.crcl.messages.motion import *  # noqa: F403
from cellwright.crcl.messages.sensors import *  # noqa: F403
from cellwright.crcl.messages.settings import *  # noqa: F403
from cellwright.crcl.messages.status import *  # noqa: F403
from cellwright.crcl.messages.tools import *  # noqa: F403

__all__ = ["DataThing"]
__all__ += data.__all__
__all__ += enums.__all__
__all__ += commands.__all__
__all__ += motion.__all__
__all__ += tools.__all__
__all__ += settings.__all__
__all__ += status.__all__
__all__ += sensors.__all__
__all__ += documents.__all__
