"""Frames: cut anywhere they give the same items; nothing that lies gets through."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from jupyter_aiarts.engines.kubernetes.frames import (
    LARGEST_FRAME,
    LARGEST_HEADER,
    Chunk,
    FrameReader,
    Gap,
    Garbled,
    Hello,
    Item,
    Mark,
    Told,
)


def header(**keys: Any) -> bytes:
    """A data frame's line, with some keys changed or, by None, left out."""
    known = {"rank": 0, "stream": "stdout", "at": 0, "t": 5, "n": 3, **keys}
    return json.dumps({key: value for key, value in known.items() if value is not None}).encode() + b"\n"


SAMPLE = (
    b'{"type":"log","id":"0123456789abcdef","node":2}\n'
    b'{"type":"status","node":2,"drops":[]}\n'
    + header(at=7, n=6)
    + b"a\n{}\n\n"
    + b'{"type":"news of a later version","x":[1,2]}\n'
    + b'{"type":"drop","rank":1,"stream":"stderr","from":3,"to":9,"reason":"limit"}\n'
    + b'{"type":"caught-up"}\n{"type":"end"}\n'
)
ITEMS: list[Item] = [
    Hello("0123456789abcdef", 2),
    Told("status", {"node": 2, "drops": []}),
    Chunk(0, "stdout", 7, 5, b"a\n{}\n\n"),
    Gap(1, "stderr", 3, 9, "limit"),
    Mark.CAUGHT_UP,
    Mark.END,
]


def joined(items: list[Item]) -> list[Item]:
    """Parts of one chunk put together again."""
    found: list[Item] = []
    for item in items:
        last = found[-1] if found else None
        if isinstance(item, Chunk) and isinstance(last, Chunk) and last.at + len(last.data) == item.at:
            found[-1] = Chunk(last.rank, last.stream, last.at, last.t, last.data + item.data)
        else:
            found.append(item)
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 1000])
def test_the_same_items_come_out_however_the_bytes_are_cut(size: int) -> None:
    reader = FrameReader()
    items = [item for at in range(0, len(SAMPLE), size) for item in reader.feed(SAMPLE[at : at + size])]
    assert joined(items) == ITEMS


def test_bytes_are_handed_on_before_their_frame_is_whole() -> None:
    reader = FrameReader()
    assert reader.feed(header(n=LARGEST_FRAME) + b"ab") == [Chunk(0, "stdout", 0, 5, b"ab")]
    assert reader.feed(b"c") == [Chunk(0, "stdout", 2, 5, b"c")]


@pytest.mark.parametrize(
    "line",
    [
        header(n=0),
        header(n=-1),
        header(n=LARGEST_FRAME + 1),
        header(n=10**30),
        header(n=1.5),
        header(n="3"),
        header(n=None),
        header(at=-1),
        header(at=2**62),
        header(at=None),
        header(t=-1),
        header(t=2**63),
        header(t=None),
        header(t="now"),
        header(rank=-1),
        header(rank=10_000_000),
        header(rank="../../x"),
        header(rank=True),
        header(rank=None),
        header(stream="stdin"),
        header(stream="../x"),
        header(stream=""),
        header(stream=None),
        b"{}\n",
        b"[]\n",
        b"\n",
        b"null\n",
        b"not JSON\n",
        b"\xff\xfe\n",
        b'{"type":1}\n',
        b'{"type":"log","id":"../x","node":0}\n',
        b'{"type":"log","id":"","node":0}\n',
        b'{"type":"log","id":"a\\n","node":0}\n',
        b'{"type":"log","node":0}\n',
        b'{"type":"drop","rank":0,"stream":"stdout","from":-1,"to":3}\n',
        b'{"type":"drop","rank":0,"stream":"stdout","from":1,"to":1e99}\n',
        b'{"type":"drop","rank":"x","stream":"stdout","from":1,"to":2}\n',
        b'{"type":"status","x":' + b"[" * 30_000 + b"]" * 30_000 + b"}\n",
    ],
    ids=lambda line: line[:40].decode("utf-8", "replace"),
)
def test_what_cannot_be_right_ends_the_connection(line: bytes) -> None:
    with pytest.raises(Garbled):
        FrameReader().feed(line)


def test_a_header_without_end_is_not_collected_for_ever() -> None:
    reader = FrameReader()
    with pytest.raises(Garbled):
        for _ in range(2 + LARGEST_HEADER // 65536):
            reader.feed(b"x" * 65536)


def test_a_gap_of_nothing_is_no_gap() -> None:
    assert FrameReader().feed(b'{"type":"drop","rank":0,"stream":"stdout","from":5,"to":5}\n') == []


@pytest.mark.parametrize("seed", range(30))
def test_noise_is_understood_or_refused_and_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    noise = bytearray(SAMPLE)
    for _ in range(chance.randrange(1, 6)):
        noise[chance.randrange(len(noise))] = chance.randrange(256)
    reader = FrameReader()
    try:
        for at in range(0, len(noise), 20):
            reader.feed(bytes(noise[at : at + 20]))
    except Garbled:
        pass
