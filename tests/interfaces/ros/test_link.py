"""Packets between a laboratory and the process of a bridge, however the bytes are cut."""

from hypothesis import given
from hypothesis import strategies as st

from cellwright.core.channel import HEADER
from cellwright.interfaces.ros.link import NodePacket, PacketReader, json_packet, message_head, read_json, split_message

packets = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=300)), max_size=8)


@given(packets=packets, cuts=st.lists(st.integers(1, 200), max_size=40))
def test_packets_are_whole_however_the_bytes_are_cut(packets, cuts):
    stream = b"".join(HEADER.pack(kind, len(content)) + content for kind, content in packets)
    reader, read = PacketReader(), []
    for cut in cuts:
        read += reader.take(stream[:cut])
        stream = stream[cut:]
    assert read == packets[: len(read)]
    assert read + reader.take(stream) == packets
    assert reader.take(b"") == []


@given(number=st.integers(0, 2**16 - 1), time_ns=st.integers(-(2**63), 2**63 - 1), cdr=st.binary(max_size=50))
def test_a_message_keeps_its_number_and_time(number, time_ns, cdr):
    assert split_message(message_head(number, time_ns) + cdr) == (number, time_ns, cdr)


def test_a_packet_of_json_is_read_as_it_was_written():
    content = {"id": 3, "text": "ä\n"}
    ((kind, packet),) = PacketReader().take(json_packet(NodePacket.CALL, content))
    assert (kind, read_json(packet)) == (NodePacket.CALL, content)
