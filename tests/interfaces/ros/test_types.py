"""Types are those of real ROS: their checksums are, and the bytes of ROS 1 and of ROS 2 say the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.interfaces import Nodetype

from cellwright.core.errors import BadInput
from cellwright.interfaces.ros.crcl_messages import COMMAND, DEFINITIONS, STATUS, STATUS_TEXT
from cellwright.interfaces.ros.types import RosTypes, long_name, short_name

MD5 = {  # as `rosmsg md5` of ROS Noetic prints them
    "std_msgs/msg/String": "992ce8a1687cec8c8bd883ec73ca41d1",
    "std_msgs/msg/Float64": "fdb28210bfa9d7c91146260178d9a584",
    "std_msgs/msg/Int32": "da5909fbe378aeaf85e547e830cc1bb7",
    "std_msgs/msg/UInt8MultiArray": "82373f1612381bb6ee473b5cd6f5d89c",
    "geometry_msgs/msg/Twist": "9f195f881246fdfa2798d1d3eebca84a",
    "geometry_msgs/msg/PoseStamped": "d3812c3cbc69362b77dc0b19b345f8f5",
    "geometry_msgs/msg/WrenchStamped": "d78d3cb249ce23087ade7e7d0c40cfa7",
    "nav_msgs/msg/Odometry": "cd5e73d190d741a2f92e81eda573aca7",
    "rosgraph_msgs/msg/Clock": "a9c97c1d230cfc112e270351a944ee47",
    "sensor_msgs/msg/CameraInfo": "c9a58c1b0b154e0e6da7578cb991d214",
    "sensor_msgs/msg/Image": "060021388200f6f0f447d0fcd9c64743",
    "sensor_msgs/msg/Imu": "6a62c6daae103f4ff57a132d6f95cec2",
    "sensor_msgs/msg/JointState": "3066dcd76a6cfaef579bd0f34173e9fd",
    "sensor_msgs/msg/LaserScan": "90c7ef2dc6895d81024acba2ac42f369",
    "sensor_msgs/msg/PointCloud2": "1158d486dd51d683ce2f1be655c3c181",
    "sensor_msgs/msg/Range": "c005c34273dc426c67a020a87bc24148",
    "tf2_msgs/msg/TFMessage": "94810edda583a504dfda3829e70d7eec",
    "trajectory_msgs/msg/JointTrajectory": "65b4f94a94d1ed67169da35a02f33d3f",
    "control_msgs/msg/GripperCommand": "680acaff79486f017132a7f198d40f08",
}
SERVICE_MD5 = {
    "std_srvs/srv/Empty": "d41d8cd98f00b204e9800998ecf8427e",
    "std_srvs/srv/Trigger": "937c9679a518e3a18d831e57125ea522",
    "std_srvs/srv/SetBool": "09fb03525b03e7ea1fd3992bafd87e16",
}
RIHS01 = {  # as ROS 2 prints them
    "std_msgs/msg/String": "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    "geometry_msgs/msg/Twist": "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a",
    "sensor_msgs/msg/JointState": "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e",
}
GRIPPER = {"control_msgs/msg/GripperCommand": "float64 position\nfloat64 max_effort\n"}


@pytest.fixture(scope="module")
def types():
    return RosTypes({**GRIPPER, **DEFINITIONS, STATUS: STATUS_TEXT})


@pytest.mark.parametrize("name", MD5)
def test_types_have_the_checksums_of_ros_1(types, name):
    assert types.md5(name) == MD5[name]


@pytest.mark.parametrize("name", SERVICE_MD5)
def test_services_have_the_checksums_of_ros_1(types, name):
    assert types.service_md5(name) == SERVICE_MD5[name]


@pytest.mark.parametrize("name", RIHS01)
def test_types_have_the_hashes_of_ros_2(types, name):
    assert types.store.hash_rihs01(name) == RIHS01[name]


def test_names_are_written_as_in_ros_1_and_in_ros_2():
    assert long_name("sensor_msgs/Imu") == long_name("sensor_msgs/msg/Imu") == "sensor_msgs/msg/Imu"
    assert short_name("sensor_msgs/msg/Imu") == short_name("sensor_msgs/Imu") == "sensor_msgs/Imu"


def test_constants_keep_their_own_names(types):
    assert "uint8 moveThroughTo=7\n" in types.text(COMMAND)
    assert "uint8 working=2\n" in types.text(STATUS)


@pytest.mark.parametrize(
    ("name", "text", "word"),
    [
        ("a_msgs/msg/A", "float64", "cannot be read"),
        ("a_msgs/srv/A", "string a\n", "no line '---'"),
    ],
)
def test_a_text_that_is_no_definition_is_refused(name, text, word):
    with pytest.raises(BadInput, match=word):
        RosTypes({name: text})


NUMBERS = {"float64": st.floats(width=64), "float32": st.floats(width=32), "bool": st.booleans()}


def content(types, name):
    """Returns a strategy of messages of a type."""

    def values(kind, detail):
        if kind == Nodetype.NAME:
            return content(types, detail)
        if kind == Nodetype.BASE:
            base = detail[0]
            if base == "string":
                return st.text(max_size=9).filter(lambda text: "\0" not in text)
            if base in NUMBERS:
                return NUMBERS[base]
            info = np.iinfo(base)
            return st.integers(int(info.min), int(info.max))
        (inner, of), count = detail
        size = {"min_size": count, "max_size": count} if kind == Nodetype.ARRAY else {"max_size": 3}
        rows = st.lists(values(inner, of), **size)
        if inner == Nodetype.NAME or of[0] == "string":
            return rows
        return rows.map(lambda row, base=of[0]: np.array(row, base))

    fields = {field: values(*description) for field, description in types.store.fielddefs[name][1]}
    return st.builds(types.store.types[name], **fields)


ROUND = [
    "sensor_msgs/msg/JointState",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("tf2_msgs/msg/TFMessage", COMMAND, STATUS)),
    pytest.param("sensor_msgs/msg/CameraInfo", marks=pytest.mark.slow),
]
TYPES = RosTypes({**DEFINITIONS, STATUS: STATUS_TEXT})


@pytest.mark.parametrize("name", ROUND)
@settings(max_examples=20)
@given(data=st.data())
def test_bytes_of_ros_1_and_back_are_the_same_bytes(name, data):
    cdr = bytes(TYPES.store.serialize_cdr(data.draw(content(TYPES, name)), name))
    raw = TYPES.to_ros1(name, cdr)
    again = TYPES.of_ros1(name, raw)
    assert again == cdr
    assert TYPES.to_ros1(name, again) == raw


@pytest.mark.peer
def test_debians_own_classes_have_these_checksums(types):
    import subprocess

    names = [name for name in MD5 if not name.startswith("control_msgs")]
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    package, kind, own = name.split('/')\n"
        "    print(getattr(importlib.import_module(f'{package}.{kind}'), own)._md5sum)\n"
    )
    asked = [*names, *SERVICE_MD5]
    try:
        run = subprocess.run(["/usr/bin/python3", "-c", program, *asked], capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("no Python of Debian")
    if "No module named" in run.stderr:
        pytest.skip("ROS 1 is not installed: " + run.stderr.strip().splitlines()[-1])
    assert run.stdout.split() == [*(MD5[name] for name in names), *SERVICE_MD5.values()]
    assert run.stdout.split() == [*map(types.md5, names), *map(types.service_md5, SERVICE_MD5)]


@pytest.mark.peer
def test_the_generator_of_ros_1_gives_our_own_types_these_checksums(types):
    """`genpy` makes a class of the full text of a type, and its checksum, by itself."""
    import subprocess

    program = (
        "import sys\n"
        "from genpy.dynamic import generate_dynamic\n"
        "name = sys.argv[1]\n"
        "print(generate_dynamic(name, sys.stdin.read())[name]._md5sum)\n"
    )
    for name in (COMMAND, STATUS):
        try:
            command = ["/usr/bin/python3", "-c", program, short_name(name)]
            run = subprocess.run(command, input=types.text(name), capture_output=True, text=True, timeout=60)
        except FileNotFoundError:
            pytest.skip("no Python of Debian")
        if "No module named" in run.stderr:
            pytest.skip("ROS 1 is not installed: " + run.stderr.strip().splitlines()[-1])
        assert run.stdout.strip() == types.md5(name), run.stderr


@pytest.mark.peer
def test_the_generators_of_ros_1_make_classes_of_the_packages_with_the_same_checksums(tmp_path):
    """What `ros messages` writes is known to every tool of ROS 1."""
    import subprocess

    from cellwright.interfaces.ros.ros1_package import package_files, python_modules
    from cellwright.interfaces.ros.services import DEFINITIONS as SERVICES

    definitions = {**DEFINITIONS, STATUS: STATUS_TEXT, **SERVICES}
    types = RosTypes(definitions)
    files = package_files(types, definitions)
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    if (built := python_modules(tmp_path, types, files)) is None:
        pytest.skip("ROS 1 is not installed")
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    package, kind, own = name.split('/')\n"
        "    print(getattr(importlib.import_module(f'{package}.{kind}'), own)._md5sum)\n"
    )
    command = ["/usr/bin/python3", "-c", program, *definitions]
    sums = subprocess.run(command, capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(built)})
    expected = [types.service_md5(name) if "/srv/" in name else types.md5(name) for name in definitions]
    assert sums.stdout.split() == expected, sums.stderr
