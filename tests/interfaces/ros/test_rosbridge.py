"""The rosbridge server, by clients that speak the protocol by hand: topics, services, rosapi, and what is refused."""

import asyncio
import base64
import hashlib
import json
import re
import time
from contextlib import suppress

import cbor2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from tests.interfaces.ros.rosbridge_rig import JOINTS, NOTES, PATIENCE_S, PICTURES, SPEEDS, joints, picture, rig
from websockets.exceptions import ConnectionClosed, InvalidStatus

from cellwright.interfaces.ros import rosbridge, rosbridge_client
from cellwright.interfaces.ros.rosapi import ROSAPI

TWIST = "geometry_msgs/Twist"


def served(test):
    """Runs a test with a server of its own."""

    def run():
        async def with_rig():
            async with rig() as server, asyncio.timeout(3 * PATIENCE_S):
                await test(server)

        asyncio.run(with_rig())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@pytest.fixture(scope="module")
def loop():
    """An event loop for several tests, in which one server serves them all."""
    with asyncio.Runner() as runner:
        yield runner


async def shared(loop):
    """The server in that loop."""
    if not hasattr(loop, "served"):
        loop.served = rig()
        loop.server = await loop.served.__aenter__()
    return loop.server


# ---------------------------------------------------------------- topics


@served
async def test_only_what_somebody_subscribes_to_is_wanted_and_everybody_gets_the_same(server):
    async with server.client() as one, server.client() as two:
        await one.subscribe(JOINTS, type="sensor_msgs/JointState")
        await two.subscribe("arm/joint_states", type="sensor_msgs/msg/JointState")
        await server.lab.until(lambda lab: lab.wanted)
        assert server.lab.wanted == [[JOINTS, NOTES]]  # what is latched is always wanted
        server.lab.publish(JOINTS, joints(3))
        first, second = await one.receive(), await two.receive()
        assert first["op"] == "publish"
        assert (first.pop("topic"), second.pop("topic")) == (JOINTS, "arm/joint_states")  # as each has spelt it
        assert first == second
        assert first["msg"] == {
            "header": {"seq": 0, "stamp": {"secs": 0, "nsecs": 6_000_000}, "frame_id": "arm"},
            "name": ["a", "b"],
            "position": [0.5, -0.25],
            "velocity": [0.0, 0.0],
            "effort": [0.0, 0.0],
        }
        await one.send(op="unsubscribe", topic=JOINTS)
        await one.settle()
        server.lab.publish(JOINTS, joints(4))
        assert (await two.receive())["msg"]["header"]["stamp"]["nsecs"] == 8_000_000
        assert await one.settle() == []
    await server.lab.until(lambda lab: lab.wanted[-1] == [NOTES])  # the second has gone, too


@served
async def test_an_image_comes_as_base64_or_as_bytes(server):
    async with server.client() as plain, server.client() as binary, server.client("/?ros=2") as ros2:
        await plain.subscribe(PICTURES)
        await binary.subscribe(PICTURES, compression="cbor")
        await ros2.subscribe(JOINTS)
        await binary.subscribe(JOINTS, compression="cbor")
        server.lab.publish(PICTURES, picture())
        raw = bytes(range(18))
        assert base64.b64decode((await plain.receive())["msg"]["data"]) == raw
        assert (await binary.receive())["msg"]["data"] == raw
        server.lab.publish(JOINTS, joints(1, (np.nan, np.inf)))
        message = (await ros2.receive())["msg"]
        assert message["position"] == [None, None]
        assert message["header"]["stamp"] == {"sec": 0, "nanosec": 2_000_000}
        assert message["header"].keys() == {"stamp", "frame_id"}
        position = (await binary.receive())["msg"]["position"]
        assert position.tag == 86  # little-endian doubles
        assert np.frombuffer(position.value).tolist() == pytest.approx([np.nan, np.inf], nan_ok=True)


@served
async def test_the_bytes_of_ros_are_read_by_the_text_of_their_type(server):
    """As Foxglove does: it takes no fields but bytes, and the definitions of all topics at once."""
    long = "sensor_msgs/msg/JointState"
    async with server.client() as ros1, server.client("/?ros=2") as ros2:
        server.lab.tell_time(3_000_000_004)
        for client in (ros1, ros2):
            _, told = await client.call("/rosapi/topics_and_raw_types")
            types = get_typestore(Stores.EMPTY)
            types.register(get_types_from_msg(told["typedefs_full_text"][told["topics"].index(JOINTS)], long))
            await client.subscribe(JOINTS, compression="cbor-raw")
            server.lab.publish(JOINTS, joints(1, (0.5, np.nan)))
            message = (await client.receive())["msg"]
            assert (message["secs"], message["nsecs"]) == (3, 4)
            read = types.deserialize_ros1 if client is ros1 else types.deserialize_cdr
            state = read(message["bytes"], long)
            assert state.name == ["a", "b"]
            assert state.position.tolist() == pytest.approx([0.5, np.nan], nan_ok=True)
            await client.subscribe(JOINTS, id="fields")
            server.lab.publish(JOINTS, joints(2))
            assert (await client.receive())["msg"]["name"] == ["a", "b"]  # what a client wants both ways has fields


@served
async def test_what_clients_publish_reaches_the_laboratory_and_other_clients(server):
    async with server.client() as driver, server.client() as looker:
        await looker.subscribe("base/cmd_vel")
        await looker.subscribe("/chatter")
        await driver.send(op="advertise", topic="/chatter", type="std_msgs/String")
        await driver.send(op="publish", topic="/chatter", msg={"data": "äöü"})
        assert (await looker.receive())["msg"] == {"data": "äöü"}
        await driver.send(op="publish", topic=SPEEDS, msg={"linear": {"x": 0.1}, "angular": {"z": -1}})
        assert (await looker.receive())["msg"]["angular"] == {"x": 0.0, "y": 0.0, "z": -1.0}
        await server.lab.until(lambda lab: lab.messages)
        number, sender, cdr = server.lab.messages[0]
        twist = server.node.types.store.deserialize_cdr(cdr, "geometry_msgs/msg/Twist")
        assert (number, twist.linear.x, twist.angular.z) == (0, 0.1, -1.0)
        server.lab.refuse(sender, SPEEDS, "too fast")
        assert await driver.receive() == {"op": "status", "level": "error", "msg": f"{SPEEDS}: too fast"}
        assert await looker.settle() == []


@served
async def test_no_message_is_ahead_of_the_clock(server):
    async with server.client() as client:
        await client.subscribe("/clock")
        await client.subscribe(JOINTS)
        server.lab.tell_time(6_000_000)
        for number in (3, 5):  # at 6 and 10 ms
            server.lab.publish(JOINTS, joints(number))
        heard = [await client.receive() for _ in range(4)]
        stamps = [m["msg"].get("clock") or m["msg"]["header"]["stamp"] for m in heard]
        assert [m["topic"] for m in heard] == ["/clock", JOINTS, "/clock", JOINTS]
        assert [stamp["nsecs"] for stamp in stamps] == [6_000_000, 6_000_000, 10_000_000, 10_000_000]


@served
async def test_a_latched_message_waits_for_those_who_come_later_and_goes_with_its_publisher(server):
    async with server.client() as late:
        async with server.client() as early:
            await early.send(op="advertise", topic="/map_name", type="std_msgs/String", latch=True)
            await early.send(op="publish", topic="/map_name", msg={"data": "hall"})
            await early.settle()
            assert [m["msg"] for m in await late.subscribe("map_name")] == [{"data": "hall"}]
            (frames,) = await late.subscribe("/tf_static")
            assert frames["msg"] == {"transforms": []}
        await late.send(op="unsubscribe", topic="map_name")
        while server.node._kept:
            await asyncio.sleep(0.002)
        assert [m for m in await late.subscribe("map_name") if m["op"] == "publish"] == []


@served
async def test_a_throttle_leaves_out_and_a_queue_keeps_the_newest(server):
    async with server.client() as client:
        await client.subscribe(JOINTS, throttle_rate=150)
        for number in range(20):
            server.lab.publish(JOINTS, joints(number))
        server.lab.tell_time(1)
        assert len(await client.settle()) <= 1
        await client.send(op="unsubscribe", topic=JOINTS)
        await client.subscribe(JOINTS, throttle_rate=30, queue_length=2)
        for number in range(20):
            server.lab.publish(JOINTS, joints(number))
        first_s, numbers = time.monotonic(), []
        while not numbers or numbers[-1] != 19:
            numbers.append((await client.receive())["msg"]["header"]["stamp"]["nsecs"] // 2_000_000)
        assert time.monotonic() - first_s >= 0.05
        assert numbers == [0, 18, 19]


@served
async def test_several_subscriptions_of_one_client_are_one_until_the_last_ends(server):
    async with server.client() as client:
        await client.subscribe(JOINTS, id="slow", throttle_rate=60_000)
        await client.subscribe(JOINTS, id="fast")
        await client.send(op="unsubscribe", topic=JOINTS, id="slow")
        await client.settle()
        for number in range(3):
            server.lab.publish(JOINTS, joints(number))
        assert [(await client.receive())["op"] for _ in range(3)] == ["publish"] * 3
        await client.send(op="unsubscribe", topic=JOINTS, id="fast")
        await client.settle()
        assert server.node._subscribers == {}


# ---------------------------------------------------------------- services


@served
async def test_services_of_the_laboratory_and_of_clients(server):
    async with server.client() as asker, server.client() as provider:
        calling = asyncio.ensure_future(asker.call("lab/pause", [True]))
        await server.lab.until(lambda lab: lab.calls)
        (call,) = server.lab.calls
        assert (call["service"], call["request"]) == ("/lab/pause", {"data": True})
        server.lab.answer(id=call["id"], response={"success": True, "message": "paused"})
        assert await calling == (True, {"success": True, "message": "paused"})
        result, why = await asker.call("/lab/pause", {"data": "yes"})
        assert (result, why) == (False, "args.data: must be true or false, not yes")
        await provider.send(op="advertise_service", service="add", type="rospy_tutorials/AddTwoInts")
        await provider.settle()
        calling = asyncio.ensure_future(asker.call("/add", {"a": 2, "b": 3}))
        call = await provider.receive()
        assert (call["op"], call["service"], call["args"]) == ("call_service", "/add", {"a": 2, "b": 3})
        values = {"op": "service_response", "service": "/add", "id": call["id"], "result": True, "values": {"sum": 5}}
        await provider.send(**values)
        assert await calling == (True, {"sum": 5})
        assert await asker.call("/rosapi/service_type", {"service": "add"}) == (
            True,
            {"type": "rospy_tutorials/AddTwoInts"},
        )
        calling = asyncio.ensure_future(asker.call("/add", {"a": 1}))
        await provider.receive()
        await provider.websocket.close()
        assert await calling == (False, "the client that offers this service has gone")
        result, why = await asker.call("/add")
        assert not result
        assert why.startswith("there is no service /add; services: /lab/pause")


@served
async def test_a_service_that_says_nothing_is_not_waited_for_for_ever(server):
    async with server.client() as asker, server.client() as provider:
        await provider.send(op="advertise_service", service="/never", type="std_srvs/Empty")
        await provider.settle()
        assert await asker.call("/never", timeout=0.05) == (False, "service /never did not answer in time")


@served
async def test_rosapi_tells_what_there_is(server):
    async with server.client() as client, server.client("/?ros=2") as ros2:

        async def ask(what, who=client, **args):
            result, values = await who.call(f"rosapi/{what}", args)
            assert result, values
            return values

        server.lab.tell_time(12_345_678_901)
        await client.subscribe(JOINTS)
        topics = await ask("topics")
        types = dict(zip(topics["topics"], topics["types"], strict=True))
        assert types[JOINTS] == "sensor_msgs/JointState"
        assert types.keys() == {JOINTS, PICTURES, SPEEDS, NOTES, "/clock", "/tf", "/tf_static"}
        assert (await ask("topics", ros2))["types"][0] == "sensor_msgs/msg/JointState"
        raw = await ask("topics_and_raw_types")
        assert raw["topics"] == topics["topics"]
        assert "float64[] position" in raw["typedefs_full_text"][raw["topics"].index(JOINTS)]
        assert await ask("topic_type", topic="arm/joint_states") == {"type": "sensor_msgs/JointState"}
        assert await ask("topic_type", topic="/none") == {"type": ""}
        assert await ask("topics_for_type", type="tf2_msgs/msg/TFMessage") == {"topics": ["/tf", "/tf_static"]}
        assert set((await ask("services"))["services"]) == {*ROSAPI, "/lab/pause"}
        assert await ask("service_type", service="lab/pause") == {"type": "std_srvs/SetBool"}
        assert await ask("services_for_type", type="std_srvs/SetBool") == {"services": ["/lab/pause"]}
        assert await ask("service_providers", service="/lab/pause") == {"providers": ["/cellwright"]}
        assert await ask("nodes") == {"nodes": ["/cellwright", "/rosbridge_websocket"]}
        details = await ask("node_details", node="cellwright")
        assert details["subscribing"] == [SPEEDS]
        assert JOINTS in details["publishing"]
        assert details["services"] == ["/lab/pause"]
        assert await ask("publishers", topic=JOINTS) == {"publishers": ["/cellwright"]}
        assert await ask("subscribers", topic=JOINTS) == {"subscribers": ["/rosbridge_websocket"]}
        assert await ask("get_time") == {"time": {"secs": 12, "nsecs": 345_678_901}}
        assert await ask("get_time", ros2) == {"time": {"sec": 12, "nanosec": 345_678_901}}
        assert await ask("action_servers") == {"action_servers": []}
        twist, vector = (await ask("message_details", type=TWIST))["typedefs"]
        assert twist["fieldnames"] == ["linear", "angular"]
        assert twist["fieldtypes"] == ["geometry_msgs/Vector3"] * 2
        assert twist["fieldarraylen"] == [-1, -1]
        assert (vector["type"], vector["fieldtypes"]) == ("geometry_msgs/Vector3", ["float64"] * 3)
        camera, header, *_ = (await ask("message_details", type="sensor_msgs/CameraInfo"))["typedefs"]
        assert dict(zip(camera["fieldnames"], camera["fieldarraylen"], strict=True))["K"] == 9
        assert dict(zip(header["fieldnames"], header["fieldtypes"], strict=True))["stamp"] == "time"
        (request,) = (await ask("service_request_details", type="std_srvs/SetBool"))["typedefs"]
        assert (request["fieldnames"], request["fieldtypes"]) == (["data"], ["bool"])
        (response,) = (await ask("service_response_details", type="std_srvs/SetBool"))["typedefs"]
        assert response["fieldnames"] == ["success", "message"]
        assert await ask("get_param", name="speed_limit") == {"value": "0.25"}
        assert await ask("get_param", name="none", default="7") == {"value": "7"}
        await ask("set_param", name="/mine", value='{"a": [1]}')
        assert await ask("get_param", ros2, name="mine") == {"value": '{"a": [1]}'}
        assert await ask("get_param_names") == {"names": ["/mine", "/speed_limit", "/use_sim_time"]}
        assert await ask("get_param", name="use_sim_time") == {"value": "true"}
        await ask("delete_param", name="/mine")
        assert await ask("has_param", name="/mine") == {"exists": False}


# ---------------------------------------------------------------- refusals


# Twenty lists, each with the one in it twice: 130 bytes by shared values, without them 2 ** 20 numbers.
DOUBLED = (
    b"\xa1\x62op"
    + b"\xd8\x1c\x82" * 20
    + b"\x80\xd8\x1c\x80"
    + b"".join(b"\xd8\x1d" + cbor2.dumps(n) for n in range(19, 0, -1))
)


@pytest.mark.parametrize(
    ("operation", "says"),
    [
        ({"op": "fragment", "id": "f"}, "unknown operation 'fragment'; operations: advertise"),
        ({"id": "f"}, "unknown operation 'null'"),
        ({"op": ["publish"]}, "unknown operation"),
        ({"op": "publish", "msg": {}}, "publish: topic is text, not 'null'"),
        ({"op": "publish", "topic": "/a b", "msg": {}}, "'/a b' is no name"),
        ({"op": "publish", "topic": "/" + "x" * 300, "msg": {}}, "is no name"),
        ({"op": "publish", "topic": "/unheard", "msg": {}}, "the type of /unheard is not known: advertise it first"),
        ({"op": "publish", "topic": SPEEDS, "msg": {"linear": {"x": "fast"}}}, "msg.linear.x: must be a number"),
        ({"op": "publish", "topic": SPEEDS, "msg": {"lin": {}}}, "Twist has no field 'lin'; fields: linear, angular"),
        ({"op": "publish", "topic": SPEEDS, "msg": [1]}, "a geometry_msgs/Twist is an object of fields, not [1]"),
        ({"op": "advertise", "topic": SPEEDS, "type": "std_msgs/String"}, "has type geometry_msgs/Twist"),
        ({"op": "advertise", "topic": "/x", "type": "geometry_msgs/Twits"}, "near it are geometry_msgs/Twist"),
        ({"op": "subscribe", "topic": JOINTS, "type": TWIST}, "has type sensor_msgs/JointState"),
        ({"op": "subscribe", "topic": JOINTS, "throttle_rate": -1}, "throttle_rate is a number from 0"),
        ({"op": "subscribe", "topic": JOINTS, "queue_length": "many"}, "queue_length is a number from 0"),
        ({"op": "subscribe", "topic": "/z", "compression": "png"}, "there are none, cbor, cbor-raw"),
        ({"op": "unsubscribe", "topic": JOINTS}, "does not subscribe to /arm/joint_states"),
        ({"op": "unadvertise", "topic": "/x"}, "does not advertise /x"),
        ({"op": "set_level", "level": "loud"}, "a level is none, error, warning, info, not 'loud'"),
        ({"op": "advertise_service", "service": "/lab/pause", "type": "a/B"}, "is offered by another"),
        ({"op": "unadvertise_service", "service": "/mine"}, "does not offer /mine"),
        ({"op": "service_response", "id": "call:/a:1", "values": {}}, "nobody waits for the response"),
        ({"op": "publish", "topic": "/clock", "msg": {}}, "/clock is published by the laboratory alone"),
        ({"op": "advertise", "topic": JOINTS, "type": "sensor_msgs/JointState"}, "by the laboratory alone"),
        ({"op": "advertise_service", "service": "/mine", "type": "x" * 300}, "is no name"),
        ("{", "is no JSON"),
        ("[1, 2]", "is no object with the field op"),
        ("[" * 100_000, "is no JSON"),
        ('{"op": ' + "1" * 10_000 + "}", "is no JSON"),
        (b"\xff\xff", "is no CBOR"),
        (b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "is no CBOR"),  # an array of 2**64 - 1 items
        (b"\x81" * 100_000 + b"\x00", "is no CBOR"),
        (DOUBLED, "is no CBOR"),
    ],
)
def test_what_is_wrong_is_told_to_who_sent_it_and_counted(loop, operation, says):
    async def main():
        server = await shared(loop)
        server.node.refused.clear()
        server.lab.told.clear()
        async with server.client() as client, server.client() as other:
            await other.subscribe(JOINTS)
            asked = isinstance(operation, dict)
            await client.websocket.send(json.dumps(operation) if asked else operation)
            status = await client.receive()
            assert (status["op"], status["level"]) == ("status", "error")
            assert says in status["msg"]
            assert len(status["msg"]) < 1200
            assert sum(server.node.refused.values()) == 1
            server.lab.publish(JOINTS, joints())
            assert (await other.receive())["op"] == "publish"
            await server.lab.until(lambda lab: lab.told)
            assert server.lab.told[0].startswith("refused: ")

    loop.run(main())


@served
async def test_commands_of_a_robot_that_there_is_not_are_counted_and_told(server):
    async with server.client() as client:
        await client.send(op="set_level", level="warning")
        (taken, kind), *_ = server.node.subscribed.items()
        wrong = f"{taken}x"
        await client.send(op="advertise", topic=wrong, type=kind)
        for _ in range(3):
            await client.send(op="publish", topic=wrong, msg={})
        told = [message["msg"] for message in await client.settle()]
        assert told == [f"nobody takes {wrong}; did you mean {taken}?"] * 2  # of the first and the second
        assert server.node.unheard == {wrong: 3}
        await server.lab.until(lambda lab: len(lab.told) == 2)
        assert server.lab.told[1].endswith("(2 times)")
        async with server.client() as other:
            await other.subscribe(wrong)
            await client.send(op="publish", topic=wrong, msg={})
            assert (await other.receive())["op"] == "publish"
        assert server.node.unheard == {wrong: 3}


@served
async def test_a_client_that_wants_no_status_messages_gets_none(server):
    async with server.client() as client:
        await client.send(op="set_level", level="none")
        await client.send(op="publish", topic="/unheard")
        assert await client.settle() == []
        await client.send(op="set_level", level="warning")
        (warning,) = await client.subscribe("/unheard", id="s1")
        assert warning == {"op": "status", "level": "warning", "msg": "/unheard is published by nobody yet", "id": "s1"}
        assert server.node.refused == {"publish": 1}


@pytest.mark.slow
@served
async def test_a_message_of_100_mb_ends_the_connection_of_who_sent_it_and_no_other(server):
    async with server.client() as other:
        await other.subscribe(JOINTS)
        with suppress(Exception):  # it is cut off while it sends
            async with server.client() as client:
                await client.websocket.send("x" * 100_000_000)
        while not server.node.refused:
            await asyncio.sleep(0.002)
        assert server.node.refused == {"a message": 1}
        server.lab.publish(JOINTS, joints())
        assert (await other.receive())["op"] == "publish"


@served
async def test_more_messages_in_a_second_than_allowed_are_dropped_and_counted(server):
    async with server.client() as client:
        most, rosbridge.MAX_RATE_HZ = rosbridge.MAX_RATE_HZ, 50
        try:
            for _ in range(120):
                await client.send(op="publish", topic=SPEEDS, msg={})
            while server.node.refused["rate"] < 70:
                await asyncio.sleep(0.002)
            assert "more than 50 messages in a second" in (await client.receive())["msg"]
        finally:
            rosbridge.MAX_RATE_HZ = most
        assert await client.settle() == []  # it is told once in a second
        await server.lab.until(lambda lab: len(lab.messages) == 50)


@served
async def test_what_a_client_has_kept_for_it_has_an_end(server):
    limits, (rosbridge.MAX_NAMES, rosbridge.MAX_KEPT_BYTES) = (rosbridge.MAX_NAMES, rosbridge.MAX_KEPT_BYTES), (3, 1000)
    try:
        async with server.client() as client:
            for number in range(3):
                assert await client.subscribe(JOINTS, id=f"n{number}") == []
            assert "at most 3 ids for one topic" in (await client.subscribe(JOINTS, id="n3"))[0]["msg"]
            for number in range(2):
                await client.send(op="advertise", topic=f"/t{number}", type="std_msgs/String", latch=True)
            for topic, length in (("/t0", 600), ("/t0", 700), ("/t1", 400)):
                await client.send(op="publish", topic=topic, msg={"data": "x" * length})
            (refused,) = await client.settle()
            assert refused["msg"] == "publish: the last messages of a client's latched topics have at most 1000 bytes"
            assert server.node._kept.keys() == {"/t0"}
            done, why = await client.call("/rosapi/set_param", {"name": "x" * 300, "value": "1"})
            assert not done
            assert "at most 256 letters" in why
    finally:
        rosbridge.MAX_NAMES, rosbridge.MAX_KEPT_BYTES = limits


def test_a_client_that_reads_no_answers_is_cut_off_once_and_what_else_it_sent_is_not_taken(monkeypatch):
    monkeypatch.setattr(rosbridge_client, "ANSWERS_BYTES", 100_000)
    monkeypatch.setattr(rosbridge, "MAX_RATE_HZ", 1_000_000)

    async def main():
        async with rig() as server, server.client(max_queue=1) as bad:
            bad.websocket.transport.pause_reading()
            with suppress(ConnectionClosed):
                for _ in range(20_000):
                    await bad.send(op="call_service", service="/rosapi/topics_and_raw_types")
            await server.lab.until(lambda _: not server.node._clients)
            assert server.node.refused["a client is cut off"] == 1
            bad.websocket.transport.abort()

    asyncio.run(main())


@served
async def test_there_is_an_end_to_clients_and_names(server):
    limits, (rosbridge.MAX_CLIENTS, rosbridge.MAX_NAMES) = (rosbridge.MAX_CLIENTS, rosbridge.MAX_NAMES), (2, 3)
    try:
        async with server.client() as client, server.client():
            with pytest.raises(InvalidStatus) as refused:
                async with server.client():
                    pass
            assert refused.value.response.body == b"2 clients are connected already\n"
            for number in range(4):
                told = await client.subscribe(f"/t{number}")
            assert told[0]["msg"] == "subscribe: a client has at most 3 subscriptions"
    finally:
        rosbridge.MAX_CLIENTS, rosbridge.MAX_NAMES = limits


def test_a_client_that_reads_too_slowly_is_told_what_it_missed(monkeypatch):
    monkeypatch.setattr(rosbridge_client, "QUEUE_BYTES", 2_000_000)
    monkeypatch.setattr(rosbridge, "WATCH_S", 0.02)

    async def main():
        async with rig() as server, server.client(max_queue=1) as slow, server.client() as other:
            await slow.send(op="set_level", level="warning")
            await slow.subscribe(PICTURES)
            slow.websocket.transport.pause_reading()
            big, sent = picture(480, 640), 30
            for _ in range(sent):
                await server.lab.publish_large(PICTURES, big)
            await other.settle()
            (subscription,) = next(iter(server.node._clients.values())).subscriptions.values()
            await server.lab.until(lambda lab: any("reads too slowly" in line for line in lab.told))
            slow.websocket.transport.resume_reading()
            came = []
            while sum(m["op"] == "publish" for m in came) < sent - subscription.dropped:
                came.append(await slow.receive())
            warnings = [m["msg"] for m in came if m["op"] == "status"]
            told = rf"this client reads too slowly: (\d+) messages on {PICTURES} are dropped so far"
            assert all(0 < int(re.fullmatch(told, line)[1]) <= subscription.dropped for line in warnings)
            assert warnings

    asyncio.run(main())


@pytest.mark.slow
def test_a_client_that_never_reads_is_cut_off_and_the_others_miss_nothing(monkeypatch):
    monkeypatch.setattr(rosbridge_client, "STALL_S", 0.3)
    monkeypatch.setattr(rosbridge_client, "QUEUE_BYTES", 2_000_000)
    monkeypatch.setattr(rosbridge, "WATCH_S", 0.05)

    async def main():
        async with rig() as server, server.client() as good, server.client(max_queue=1) as bad:
            await good.subscribe(PICTURES)
            await bad.send(op="subscribe", topic=PICTURES)
            await bad.settle()
            bad.websocket.transport.pause_reading()
            big, sent = picture(480, 640), 0
            for _ in range(40):
                await server.lab.publish_large(PICTURES, big)
                sent += (await good.receive())["op"] == "publish"
            assert sent == 40
            await server.lab.until(lambda lab: any("cut off" in line for line in lab.told))
            assert any("reads too slowly" in line and PICTURES in line for line in server.lab.told)
            await server.lab.until(lambda _lab: len(server.node._clients) == 1)
            bad.websocket.transport.abort()

    asyncio.run(main())


# ---------------------------------------------------------------- the gate


def test_a_token_is_said_in_the_address_or_by_auth():
    secret = "a secret of ours"

    async def main():
        async with rig(token=secret, host="0.0.0.0") as server:
            with pytest.raises(InvalidStatus) as refused:
                async with server.client("/?token=another"):
                    pass
            assert refused.value.response.status_code == 403
            async with server.client("/?token=a%20secret%20of%20ours", origin="https://elsewhere.example") as client:
                await client.subscribe(JOINTS)
            async with server.client() as client:
                await client.send(op="auth", token=secret)
                await client.subscribe(JOINTS)
            async with server.client() as client:  # as rosauth does
                now = time.time()
                fields = {"client": "a", "dest": "b", "rand": "r", "t": int(now), "level": "user", "end": int(now) + 60}
                mac = hashlib.sha512((secret + "".join(map(str, fields.values()))).encode()).hexdigest()
                await client.send(op="auth", mac=mac, **fields)
                await client.subscribe(JOINTS)
            for first in ({"op": "subscribe", "topic": JOINTS}, {"op": "auth", "token": "wrong"}, {"op": "auth"}):
                async with server.client() as client:
                    await client.send(**first)
                    with pytest.raises(ConnectionClosed, match="needs its token first"):
                        await client.settle()

    asyncio.run(main())


# ---------------------------------------------------------------- fuzz

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(
    ["op", "id", "topic", "type", "msg", "service", "args", "values", "result", "compression", "throttle_rate",
     "queue_length", "level", "latch", "timeout", "linear", "x", "data", "token", "mac"]
)  # fmt: skip
near = (
    plain
    | st.sampled_from([*rosbridge.OPERATIONS, *ROSAPI, JOINTS, SPEEDS, "/lab/pause", TWIST, "std_msgs/String", "cbor"])
    | st.fixed_dictionaries({"linear": st.dictionaries(st.sampled_from("xyzw"), plain, max_size=3)})
)
operations = st.dictionaries(keys, near, max_size=8).map(
    lambda asked: asked | ({"op": "publish"} if "op" not in asked else {})
)


class Sink:
    """The connection of a client of which nobody reads."""

    remote_address = ("127.0.0.1", 1)

    def __init__(self):
        self.transport = self

    def abort(self):
        raise AssertionError("a client is cut off without a reason")


@pytest.mark.slow
@settings(max_examples=300)
@given(operation=operations, as_cbor=st.booleans())
def test_no_operation_ends_the_server(loop, operation, as_cbor):
    async def main():
        server = await shared(loop)
        node, lab = server.node, server.lab
        client = rosbridge_client.RosbridgeClient(Sink(), node._plain[1], is_admitted=True)
        node._clients[client.number] = client
        try:
            raw = cbor2.dumps(operation) if as_cbor else json.dumps(operation, default=repr)
            node.take(client, raw)
            for _ in range(3):
                await asyncio.sleep(0)
            while (packet := client._next()) is not None:
                json.loads(packet) if isinstance(packet, str) else cbor2.loads(packet)
            lab.read()
        finally:
            node._forget(client)

    loop.run(main())


@settings(max_examples=100)
@given(raw=st.binary(max_size=40) | st.text(max_size=40))
def test_no_bytes_end_the_server(loop, raw):
    async def main():
        server = await shared(loop)
        node, lab = server.node, server.lab
        client = rosbridge_client.RosbridgeClient(Sink(), node._plain[2], is_admitted=True)
        node.take(client, raw)
        assert json.loads(client._next())["op"] == "status"
        lab.read()

    loop.run(main())
