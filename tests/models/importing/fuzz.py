"""Mutated descriptions, meshes and figures files, one after the other in a process of its own.

`python fuzz.py FOLDER FIRST COUNT` imports the mutants of those numbers and prints one JSON object: how many were
taken and refused, what was neither (a traceback), the slowest, and the memory after the first fifth and at the end. The
mutant of a number is always the same.
"""

from __future__ import annotations

import ctypes
import gc
import json
import random
import re
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

DATA = Path(__file__).parent / "data"
BOX = '<geometry><box size="0.05 0.05 0.2"/></geometry>'
LINK = '<link name="l{0}"><visual>' + BOX + "</visual><collision>" + BOX + "</collision>{1}</link>"
INERTIAL = '<inertial><origin xyz="0 0 0.1"/><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>'
JOINT = (
    '<joint name="j{0}" type="revolute"><parent link="l{1}"/><child link="l{0}"/><origin xyz="0 0 0.2" rpy="0 0.1 0"/>'
    '<axis xyz="{2}"/><limit lower="-2" upper="2" effort="80" velocity="2"/><dynamics damping="0.1"/></joint>'
)
URDF = (
    '<robot name="r"><material name="m"><color rgba="1 0 0 1"/></material>'
    + "".join(LINK.format(n, INERTIAL if n % 2 else "") for n in range(5))
    + "".join(JOINT.format(n, n - 1, ("0 0 1", "0 1 0", "1 0 0")[n % 3]) for n in range(1, 5))
    + '<link name="tool0"/><joint name="t" type="fixed"><parent link="l4"/><child link="tool0"/></joint>'
    '<link name="m1"><visual><geometry><mesh filename="part.stl" scale="0.001 0.001 0.001"/></geometry></visual></link>'
    '<joint name="k" type="fixed"><parent link="l2"/><child link="m1"/></joint></robot>'
)
SRDF = (
    '<robot name="r"><group name="a"><chain base_link="l0" tip_link="tool0"/></group>'
    '<group_state name="home" group="a"><joint name="j2" value="0.4"/></group_state>'
    '<disable_collisions link1="l0" link2="l2" reason="Never"/></robot>'
)
SDF = (
    '<sdf version="1.7"><model name="m"><frame name="f" attached_to="l2"><pose>0 0 .1 0 0 0</pose></frame>'
    + "".join(
        f'<link name="l{n}"><pose relative_to="{"__model__" if not n else f"l{n - 1}"}">0 0 .2 0 0.1 0</pose>'
        "<inertial><mass>1.5</mass><inertia><ixx>.01</ixx><iyy>.01</iyy><izz>.01</izz></inertia></inertial>"
        '<collision name="c"><geometry><box><size>.05 .05 .15</size></box></geometry></collision></link>'
        for n in range(4)
    )
    + "".join(
        f'<joint name="j{n}" type="revolute"><parent>l{n - 1}</parent><child>l{n}</child><axis><xyz>0 1 0</xyz>'
        "<limit><lower>-1</lower><upper>1</upper><effort>50</effort></limit></axis></joint>"
        for n in range(1, 4)
    )
    + "</model></sdf>"
)
MJCF = (
    '<mujoco><compiler angle="radian"/><worldbody><body name="base"><geom type="box" size=".05 .05 .05"/>'
    '<body name="l1" pos="0 0 .2"><joint name="j1" axis="0 0 1" range="-2 2"/><geom type="capsule" size=".03 .08"/>'
    '<body name="l2" pos="0 0 .2"><joint name="j2" axis="0 1 0" range="-2 2"/><geom type="capsule" size=".03 .08"/>'
    '<body name="l3" pos="0 0 .2"><joint name="j3" axis="1 0 0" range="-2 2"/><geom type="box" size=".03 .03 .08"/>'
    '<site name="tcp"/></body></body></body></body></worldbody><contact><exclude body1="base" body2="l2"/></contact>'
    '<actuator><position joint="j2" kp="50" forcerange="-90 90"/></actuator>'
    '<keyframe><key name="home" qpos="0.1 0.4 0.5"/></keyframe></mujoco>'
)
OBJ = (
    "mtllib c.mtl\no part\nv 0 0 0\nv 20 0 0\nv 20 30 0\nv 0 30 0\nv 0 0 40\nv 20 0 40\nv 20 30 40\nv 0 30 40\n"
    "usemtl red\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
)
FIGURES = (
    "file: arm.urdf\nkind: arm\nbase: l0\ntip: tool0\npayload_kg: 1.5\nhome_rad: [0.1, 0.2, 0.3, 0.4]\njoints:\n"
    "  j1: {position_limits_rad: [-2.0, 2.0], velocity_radps: 2.0, effort_nm: 90.0, gear_ratio: 100.0}\n"
)
WORDS = (
    *("", " ", "0", "-0", "-1", "1e-320", "1e308", "1e999", "nan", "inf", "-inf", "9" * 40, "0x10", "1,5", "1 2"),
    *("1 2 3 4", "-170", "170", "200", "1000", "0.5 0.5", "true", "[]", "{}", "a/b", "a::b", "x" * 3000, "<", "&", '"'),
    *("l0", "l1", "l4", "j1", "j2", "world", "__model__", "base", "flange", "tool0", "r", "../x", "/etc/passwd"),
    *("package://r/x.stl", "model://m", "\u00e4\u2028", "\x00", "${x}", "${'a'*10}", "revolute", "prismatic", "ball"),
    *("continuous", "floating", "planar", "screw", "universal", "free", "slide", "hinge", "mesh", "plane"),
)
"""What takes the place of a value."""


def stl(points: list[tuple[float, float, float]], faces: list[tuple[int, int, int]]) -> bytes:
    """Binary, as most are."""
    data = bytes(80) + struct.pack("<I", len(faces))
    for face in faces:
        data += bytes(12) + b"".join(struct.pack("<3f", *points[corner]) for corner in face) + bytes(2)
    return data


def seeds() -> dict[str, bytes]:
    """Sound files, by the names under which their mutants are written."""
    corners = [(20.0 * x, 30.0 * y, 40.0 * z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    faces = [
        (0, 2, 1),
        (1, 2, 3),
        (4, 5, 6),
        (5, 7, 6),
        (0, 1, 4),
        (1, 5, 4),
        (2, 6, 3),
        (3, 6, 7),
        (0, 4, 2),
        (2, 4, 6),
    ]
    faces += [(1, 3, 5), (3, 7, 5)]
    cuboid = stl(corners, faces)
    text = (
        "solid s\n"
        + "".join(
            "facet normal 0 0 0\nouter loop\n"
            + "".join(f"vertex {' '.join(map(str, corners[c]))}\n" for c in face)
            + "endloop\nendfacet\n"
            for face in faces
        )
        + "endsolid s\n"
    )
    return {
        "arm.urdf": URDF.encode(),
        "gripper.urdf": (DATA / "gripper.urdf").read_bytes(),
        "arm.sdf": SDF.encode(),
        "arm.xml": MJCF.encode(),
        "arm.srdf": SRDF.encode(),
        "part.stl": cuboid,
        "text.stl": text.encode(),
        "part.obj": OBJ.encode(),
        "figures.yaml": FIGURES.encode(),
    }


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One to four changes, as a hand, a disk or another program would make them."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(CHANGES)(data, rng)
    return data


def _other_value(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb'(?<==")[^"]*(?=")|(?<=>)[^<>]+(?=<)|(?<=: )[^,\n}]+|-?\d+\.?\d*(e-?\d+)?', data))
    if not places:
        return data
    place = rng.choice(places)
    word = rng.choice(WORDS) if rng.random() < 0.8 else place[0].decode("utf-8", "replace") * 3
    return data[: place.start()] + word.encode() + data[place.end() :]


def _number_scaled(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb"-?\d+\.?\d*", data))
    if not places:
        return data
    place = rng.choice(places)
    factor = rng.choice((-1.0, 0.0, 1e-9, 1e-3, 57.3, 1e3, 1e9, 1e30))
    return data[: place.start()] + f"{float(place[0]) * factor:g}".encode() + data[place.end() :]


def _element_gone(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb"<(\w+)[^<>]*/>|<(\w+)[^<>]*>[^<>]*</\2>|\n[^\n]*", data))
    if not places:
        return data
    place = rng.choice(places)
    again = place[0] * rng.choice((0, 0, 2, 3))
    return data[: place.start()] + again + data[place.end() :]


def _element_moved(data: bytes, rng: random.Random) -> bytes:
    places = list(re.finditer(rb"<(\w+)[^<>]*/>", data))
    if len(places) < 2:
        return data
    one, other = sorted(rng.sample(places, 2), key=lambda place: place.start())
    return data[: one.start()] + data[one.end() : other.end()] + one[0] + data[other.end() :]


def _name_changed(data: bytes, rng: random.Random) -> bytes:
    names = [place[0] for place in re.finditer(rb"[A-Za-z_]\w*", data)]
    if not names:
        return data
    old, new = rng.choice(names), rng.choice(names)
    return data.replace(old, new, 1) if rng.random() < 0.7 else data.replace(old, new)


def _bytes_changed(data: bytes, rng: random.Random) -> bytes:
    made = bytearray(data)
    for _ in range(rng.choice((1, 2, 8))):
        if made:
            made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)


def _cut(data: bytes, rng: random.Random) -> bytes:
    first, last = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return rng.choice((data[:first], data[:first] + data[last:], data[:last] + data[first:], data[first:]))


CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_other_value, _other_value, _other_value, _number_scaled, _number_scaled, _name_changed, _name_changed),
    *(_element_gone, _element_gone, _element_moved, _bytes_changed, _cut),
)


def memory_mb() -> float:
    """What the process holds, without what only waits to be collected, by Python or by the C library.

    The C library keeps freed pages between those in use: without giving them back the figure grows by 6 kB per file,
    though what is allocated (`mallinfo2`) stays the same to 1 MB.
    """
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def mutants(first: int, count: int) -> Iterator[tuple[int, str, bytes]]:
    """Number, file and contents."""
    sound = seeds()
    for number in range(first, first + count):
        name = list(sound)[number % len(sound)]
        yield number, name, mutated(sound[name], random.Random(number))


def main(folder: Path, first: int, count: int) -> dict[str, object]:
    """Imports mutants; whatever is no error of a user is told."""
    from cellwright.catalogue.model_settings import ModelSettings
    from cellwright.core.errors import CellwrightError
    from cellwright.models import build
    from cellwright.models.importing import import_figures, write_figures

    found: dict[str, object] = {"taken": 0, "refused": 0}
    broken: list[dict[str, object]] = []
    slowest, early = (0.0, -1), 0.0
    sound = seeds()
    for number, name, data in mutants(first, count):
        for file, own in sound.items():
            (folder / file).write_bytes(own if file != name else data)
        target = "arm.urdf" if name == "arm.srdf" else name
        settings = ModelSettings(file=target, srdf="arm.srdf" if name == "arm.srdf" else "")
        kind = (None, None, "arm", "tool", "fixture", "part")[number // len(sound) % 6]
        kind = kind if target.endswith((".urdf", ".sdf", ".xml")) else None
        start = time.perf_counter()
        (folder / "now").write_text(f"{number} {name}")  # where it was, should the process die
        try:
            figures = import_figures("it", settings, folder, kind)  # type: ignore[arg-type]
            build(figures).compile()
            write_figures(figures, settings, folder / target, folder / "out")
            found["taken"] = int(str(found["taken"])) + 1
        except CellwrightError as error:
            found["refused"] = int(str(found["refused"])) + 1
            if error.exit_code != 2 or "\n" in str(error) or not str(error):
                broken.append({"number": number, "file": name, "error": repr(error)})
        except BaseException:
            broken.append({"number": number, "file": name, "error": traceback.format_exc()[-1500:]})
        took = time.perf_counter() - start
        slowest = max(slowest, (took, number))
        if number == first + count // 5:
            early = memory_mb()
    return {
        **found,
        "broken": broken,
        "slowest_s": slowest[0],
        "slowest": slowest[1],
        "early_mb": early,
        "mb": memory_mb(),
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
