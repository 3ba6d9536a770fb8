"""What the spool reads from the broker: packets in any pieces, messages as lines that Telegraf can read back."""

import re

import mqtt_packets as mqtt
import pytest
from hypothesis import given
from hypothesis import strategies as st

TOPIC = b"sda/v1/phone/%b/readings"
LINE = re.compile(rb'batch,kind=phone,receiver=([A-Za-z0-9_.-]+) message="((?:[^"\\\n]|\\["\\])*)"\n')
PINGRESP = b"\xd0\x00"

payloads = st.one_of(st.binary(max_size=300), st.from_regex(rb'\{("[a-z\\"\n\t]*":[0-9],?)*\}', fullmatch=True))


def packet(first: int, body: bytes) -> bytes:
    length, encoded = len(body), bytearray()
    while True:
        length, seven = divmod(length, 128)
        encoded.append(seven | (0x80 if length else 0))
        if not length:
            return bytes([first]) + bytes(encoded) + body


def publication(topic: bytes, payload: bytes, packet_id: int) -> bytes:
    return packet(0x32, len(topic).to_bytes(2) + topic + packet_id.to_bytes(2) + payload)


def read_back(line: bytes) -> tuple[bytes, bytes]:
    """Receiver and message, as Telegraf's parser takes them apart."""
    match = LINE.fullmatch(line)
    assert match, line
    return match[1], re.sub(rb'\\(["\\])', rb"\1", match[2])


@given(st.lists(payloads, min_size=1, max_size=8), st.data())
def test_any_pieces_make_the_same_lines(messages: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(
        publication(TOPIC % str(number).encode(), message, number + 1) + PINGRESP
        for number, message in enumerate(messages)
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    reader, others = mqtt.PacketReader(), []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        others += reader.feed(stream[begin:end])
    marks = re.compile(rb"\A(?:\xef\xbb\xbf|\xfe\xff|\xff\xfe(?:\0\0)?|\0\0\xfe\xff)")
    wanted = [(str(n).encode(), marks.sub(b"", one).replace(b"\n", b"\t")) for n, one in enumerate(messages)]
    assert [read_back(line) for line in reader.lines] == wanted
    assert reader.acknowledgements == [(number + 1).to_bytes(2) for number in range(len(messages))]
    assert reader.size == sum(map(len, reader.lines))
    assert others == [(0xD0, b"")] * len(messages)


@pytest.mark.parametrize("receiver", [b"with space", b"comma,b", b"a=b", b"n\xc3\xa4me", b"", b"x" * 65])
def test_a_receiver_that_the_contract_does_not_have_is_acknowledged_and_left_out(receiver: bytes) -> None:
    reader = mqtt.PacketReader()
    reader.feed(publication(TOPIC % receiver, b"{}", 7))
    assert (reader.lines, reader.acknowledgements) == ([], [b"\0\7"])


def test_a_length_that_does_not_end_is_no_mqtt() -> None:
    with pytest.raises(mqtt.ProtocolError):
        mqtt.PacketReader().feed(b"\x32\xff\xff\xff\xff\x01")


def test_connecting_continues_the_session_of_the_account() -> None:
    assert mqtt.connect("telegraf/readings", "telegraf-readings", "secret", 60) == packet(
        0x10, b"\0\4MQTT\4\xc0\0\x3c\0\x11telegraf/readings\0\x11telegraf-readings\0\6secret"
    )
    assert mqtt.subscribe(["a/+", "b"]) == packet(0x82, b"\0\1\0\3a/+\1\0\1b\1")


def test_a_chain_ends_within_a_packet_until_its_end_and_nothing_is_missing() -> None:
    acknowledged = [number.to_bytes(2) for number in range(1, 5001)]
    pieces = [
        mqtt.begin_chain(mqtt.subscribe(["a"])),
        *(mqtt.continue_chain(mqtt.acknowledge(acknowledged[at : at + 1000])) for at in range(0, 5000, 1000)),
        mqtt.continue_chain(),
        mqtt.end_chain(mqtt.DISCONNECT),
    ]
    broker, read, read_after = mqtt.PacketReader(), [], []
    for piece in pieces:
        read += broker.feed(piece)
        read_after.append(len(read))
    assert read_after == [1, 1002, 2003, 3004, 4005, 5006, 5007, 5009], (
        "the last packet of a piece is read with the next"
    )
    assert [body for first, body in read if first == mqtt.PUBACK] == acknowledged
    assert [first for first, _ in read[1:] if first not in {mqtt.PUBACK, mqtt.PINGREQ}] == [0xE0]
