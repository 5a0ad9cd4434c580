"""A CRCL server as somebody else may have written it: a process of its own, without a line of Cellwright.

    python foreign_server.py HABIT...

prints the port it listens on, and ends with its standard input. Without habits it is sound as far as it goes: a point
that moves straight, three joints that follow it, units per connection, one command at a time. A habit is something bad
that real servers do; `HABITS` lists them.
"""

from __future__ import annotations

import math
import os
import random
import re
import socket
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree

HABITS = {
    "slow-first": "the first answer of all takes a second",
    "slow": "every answer takes 0.8 s",
    "fraction": "accepts fractions above 1, and reports them",
    "always-fraction": "every status tells a relative speed of 1.7",
    "nul": "a NUL in each StateDescription",
    "dies-of-garbage": "the process ends at a message that is not XML",
    "hangs-at-far": "a target 100 m away keeps it busy for ever",
    "mute": "never answers",
    "deaf-to-init": "InitCanon does nothing",
    "keeps-units": "units are everybody's, and survive InitCanon",
    "shuffles": "elements of the status in any order",
    "no-through": "refuses every MoveThroughTo",
    "no-moves": "refuses every move",
    "hangs-up": "closes the connection after each answer",
    "floods": "sends statuses all the time",
    "queues": "looks for commands now and then; a Dwell keeps others waiting, and its end is taken for theirs",
    "strange": "states, units and elements that the schema has not",
    "nan": "tells NaN for where it is",
    "last-number": "tells the highest number of all for its command",
    "endless": "answers with a document that never ends",
    "no-settings": "tells no settings",
    "six-joints": "six joints of its own build, the first in millimetres and never converted, that swing as it moves",
    "damages": "every fourth status has some letters of its inside replaced",
}
PER_METER = {"meter": 1.0, "millimeter": 1000.0, "inch": 1 / 0.0254}
PER_RADIAN = {"radian": 1.0, "degree": math.degrees(1.0)}
DEFAULTS = {"length": "meter", "angle": "radian", "force": "newton", "torque": "newtonMeter"}
XSI_TYPE = "{http://www.w3.org/2001/XMLSchema-instance}type"
MESSAGE = re.compile(rb"\s*\0*\s*(?:<\?xml[^>]*\?>)?\s*<(\w+)[\s>].*?</\1\s*>", re.DOTALL)


class Server:
    def __init__(self, habits):
        self.habits, self.random = set(habits), random.Random(7)
        self.lock = threading.RLock()
        self.ready, self.command_id, self.state, self.text, self.status_id = False, 0, "CRCL_Ready", "", 0
        self.joint = 0.5
        self.z, self.from_z, self.to_z, self.start_s, self.end_s = 0.3, 0.3, 0.3, 0.0, 0.0
        self.speed_mps, self.relative = 0.25, None
        self.dwells = False
        self.is_first, self.waiting, self.everybodys = True, [], {**DEFAULTS, "parts": None}
        if "queues" in self.habits:
            threading.Thread(target=self.look_now_and_then, daemon=True).start()

    def has(self, habit):
        return habit in self.habits

    def look_now_and_then(self):
        while True:
            time.sleep(self.random.uniform(0.02, 0.2))
            with self.lock:
                self.advance()
                if not self.dwells:
                    todo, self.waiting = self.waiting, []
                    for kind, command, units in todo:
                        try:
                            self.execute(kind, command, units)
                        except (TypeError, ValueError):
                            self.garbage()

    def advance(self):
        if self.state == "CRCL_Working" and self.end_s:
            now_s = time.monotonic()
            done = min((now_s - self.start_s) / max(self.end_s - self.start_s, 1e-9), 1.0)
            self.z = self.from_z + done * (self.to_z - self.from_z)
            if done >= 1.0:
                self.state, self.end_s, self.dwells = "CRCL_Done", 0.0, False

    def begin(self, to_z, duration_s):
        self.from_z, self.to_z, self.start_s = self.z, to_z, time.monotonic()
        self.end_s, self.state = self.start_s + duration_s, "CRCL_Working"

    def error(self, text):
        self.state, self.text, self.end_s = "CRCL_Error", text, 0.0

    def take(self, kind, command, units):
        with self.lock:
            self.advance()
            if "queues" in self.habits:
                self.waiting.append((kind, command, units))
                self.command_id, self.state = int(command.findtext("CommandID")), "CRCL_Working"
            else:
                self.execute(kind, command, units)

    def execute(self, kind, command, units):
        if kind == "InitCanon" and self.has("deaf-to-init"):
            return
        self.command_id, self.text = int(command.findtext("CommandID")), ""
        if kind == "InitCanon":
            self.ready = True
            if not self.has("keeps-units"):
                units.update(DEFAULTS)
        elif not self.ready:
            return self.error("not initialised")
        elif self.state == "CRCL_Error" and kind not in ("EndCanon", "StopMotion"):
            return None
        self.state, self.end_s, self.dwells = "CRCL_Done", 0.0, False
        act = getattr(self, f"do_{kind}", None)
        if act is not None:
            act(command, units)
        elif kind.startswith(("Enable", "Disable", "RunProgram", "SetRobotP", "SetEndEffectorP", "MoveScrew")):
            self.error(f"{kind} is not supported")
        return None

    def do_EndCanon(self, _command, _units):
        self.ready = False

    def do_Dwell(self, command, _units):
        self.begin(self.z, min(float(command.findtext("DwellTime")), 6.0))
        self.dwells = True

    def do_SetLengthUnits(self, command, units):
        if command.findtext("UnitName") not in PER_METER:
            raise ValueError
        units["length"] = command.findtext("UnitName")

    def do_SetAngleUnits(self, command, units):
        units["angle"] = command.findtext("UnitName")

    def do_SetForceUnits(self, command, units):
        units["force"] = command.findtext("UnitName")

    def do_SetTorqueUnits(self, command, units):
        units["torque"] = command.findtext("UnitName")

    def do_SetTransSpeed(self, command, units):
        fraction = command.findtext("TransSpeed/Fraction")
        if fraction is None:
            setting = float(command.findtext("TransSpeed/Setting"))
            self.relative, self.speed_mps = None, setting / PER_METER[units["length"]]
        elif float(fraction) > 1.0 and not self.has("fraction"):
            self.error("the fraction is above 1")
        else:
            self.relative, self.speed_mps = float(fraction), 0.5 * float(fraction)

    def do_ConfigureStatusReport(self, command, units):
        units["parts"] = {flag.tag.removeprefix("Report") for flag in command if flag.text in ("true", "1")}

    def do_MoveTo(self, command, units):
        self.go(command.find("EndPosition"), units)

    def do_MoveThroughTo(self, command, units):
        if self.has("no-through"):
            return self.error("MoveThroughTo is not supported")
        poses = command.findall("Waypoint")
        if len(poses) != int(command.findtext("NumPositions")):
            return self.error("NumPositions is not the number of waypoints")
        return self.go(poses[-1], units)

    def go(self, pose, units):
        if self.has("no-moves"):
            return self.error("the drives are off")
        x, y, z = (float(pose.findtext(f"Point/{axis}")) / PER_METER[units["length"]] for axis in "XYZ")
        axes = [[float(pose.findtext(f"{axis}Axis/{i}")) for i in "IJK"] for axis in "XZ"]
        dot = sum(x * z for x, z in zip(*axes, strict=True))
        if any(abs(math.hypot(*axis) - 1) > 1e-3 for axis in axes) or abs(dot) > 1e-3:
            return self.error("the axes are not unit vectors at a right angle")
        if abs(x) > 50 and self.has("hangs-at-far"):
            time.sleep(3600)
        if not (abs(x) < 1 and abs(y) < 1 and abs(z) < 1):
            return self.error(f"X at {x}, limit 1")
        return self.begin(z, abs(z - self.z) / self.speed_mps)

    def do_ActuateJoints(self, command, units):
        if self.has("no-moves"):
            return self.error("the drives are off")
        if [joint.findtext("JointNumber") for joint in command.findall("ActuateJoint")] != ["1"]:
            return self.error("there is joint 1 alone")
        self.joint = float(command.findtext("ActuateJoint/JointPosition")) / PER_RADIAN[units["angle"]]
        return self.begin(self.z, 0.05)

    def joints(self, units):
        if self.has("six-joints"):
            return [200 + 1000 * self.z, *(360 * math.sin(300 * self.z + number) for number in range(5))]
        return [self.joint * PER_RADIAN[units["angle"]]]

    def status(self, units):
        with self.lock:
            self.advance()
            self.status_id += 1
            factor, parts = PER_METER[units["length"]], units["parts"]
            state = "CRCL_Thinking" if self.has("strange") and self.state == "CRCL_Working" else self.state
            text = self.text + ("\0" if self.has("nul") else "")
            number = (1 << 63) - 1 if self.has("last-number") else self.command_id
            z = "NaN" if self.has("nan") else self.z * factor
            relative = 1.7 if self.has("always-fraction") else self.relative
            speed = f"<TransSpeedAbsolute><Setting>{self.speed_mps * factor}</Setting></TransSpeedAbsolute>"
            if relative is not None:
                speed = f"<TransSpeedRelative><Fraction>{relative}</Fraction></TransSpeedRelative>"
            unit = "furlong" if self.has("strange") else units["length"]
            inside = {
                "CommandStatus": f"<CommandID>{number}</CommandID><StatusID>{self.status_id}</StatusID>"
                f"<CommandState>{state}</CommandState>"
                + (f"<StateDescription>{text}</StateDescription>" if text else ""),
                "JointStatuses": "".join(
                    f"<JointStatus><JointNumber>{number}</JointNumber><JointPosition>{angle}</JointPosition></JointStatus>"
                    for number, angle in enumerate(self.joints(units), 1)
                ),
                "PoseStatus": f"<Pose><Point><X>{0.1 * factor}</X><Y>0</Y><Z>{z}</Z></Point>"
                "<XAxis><I>1</I><J>0</J><K>0</K></XAxis><ZAxis><I>0</I><J>0</J><K>1</K></ZAxis></Pose>",
                "SettingsStatus": f"<AngleUnitName>{units['angle']}</AngleUnitName>"
                f"<ForceUnitName>{units['force']}</ForceUnitName><LengthUnitName>{unit}</LengthUnitName>"
                f"<TorqueUnitName>{units['torque']}</TorqueUnitName>{speed}",
            }
        if self.has("no-settings"):
            del inside["SettingsStatus"]
        names = [name for name in inside if parts is None or name == "CommandStatus" or name in parts]
        if self.has("shuffles"):
            self.random.shuffle(names)
        body = "".join(f"<{name}>{inside[name]}</{name}>" for name in names)
        extra = "<Mood>good</Mood>" if self.has("strange") else ""
        whole = f'<?xml version="1.0" encoding="UTF-8"?><CRCLStatus>{body}{extra}</CRCLStatus>'
        if self.has("damages") and self.random.random() < 0.25:
            at = self.random.randrange(len("<?xml?><CRCLStatus>") + 20, len(whole) - 20)
            whole = whole[:at] + self.random.choice(["\0", "<", "&", "7e999", "</a>", "\x01\x02"]) + whole[at + 3 :]
        return (whole[:-2] + "x" * 3_000_000 if self.has("endless") else whole).encode()

    def serve(self, peer):
        units = self.everybodys if self.has("keeps-units") else {**DEFAULTS, "parts": None}
        if self.has("floods"):
            threading.Thread(target=self.flood, args=(peer, units), daemon=True).start()
        held = b""
        try:
            while data := peer.recv(65536):
                held += data
                while found := MESSAGE.match(held):
                    held = held[found.end() :]
                    if not self.message(found[0].strip(b" \r\n\t\0"), peer, units):
                        return
                if held.strip(b" \r\n\t\0") and not held.lstrip(b" \r\n\t\0").startswith(b"<"):
                    return self.garbage()
        except OSError:
            pass
        finally:
            peer.close()

    def garbage(self):
        if self.has("dies-of-garbage"):
            os._exit(3)
        with self.lock:
            self.error("what is this?")

    def message(self, text, peer, units):
        try:
            instance = ElementTree.fromstring(text)
            command = instance.find("CRCLCommand")
            kind = command.get(XSI_TYPE).removesuffix("Type")
            if kind != "GetStatus":
                if b"<!" in text or kind == "MakeCoffee":
                    raise ValueError
                self.take(kind, command, units)
                return True
        except (ElementTree.ParseError, AttributeError, TypeError, ValueError, KeyError):
            self.garbage()
            return False
        if self.has("mute"):
            return True
        if self.has("slow-first") and self.is_first:
            self.is_first = False
            time.sleep(1.0)
        if self.has("slow"):
            time.sleep(0.8)
        peer.sendall(self.status(units))
        return not self.has("hangs-up")

    def flood(self, peer, units):
        try:
            while True:
                peer.sendall(self.status(units))
                time.sleep(0.002)
        except OSError:
            pass


def main():
    server = Server(sys.argv[1:])
    unknown = server.habits - set(HABITS)
    if unknown:
        sys.exit(f"unknown habits {sorted(unknown)} (allowed: {', '.join(HABITS)})")
    door = socket.create_server(("127.0.0.1", 0))
    print(door.getsockname()[1], flush=True)

    def accept():
        while True:
            peer, _ = door.accept()
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=server.serve, args=(peer,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
