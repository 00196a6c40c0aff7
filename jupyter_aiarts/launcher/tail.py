"""The last lines of a rank, for the summary: what a person wants to read first after a failure."""

from typing import Dict, List

LINES = 20
WIDTH = 500
_KEPT = 32 * 1024


class Tail:
    """Keeps the newest bytes of each stream. Costs one small copy per chunk, no work per line."""

    def __init__(self) -> None:
        self._ends: Dict[str, bytes] = {}
        self.taken = 0
        """Bytes so far."""

    def add(self, stream: str, data: memoryview) -> None:
        """Take note of a chunk."""
        self.taken += len(data)
        if len(data) >= _KEPT:
            self._ends[stream] = bytes(data[-_KEPT:])
        else:
            self._ends[stream] = (self._ends.get(stream, b"") + bytes(data))[-_KEPT:]

    def lines(self) -> List[str]:
        """At most `LINES` lines of at most `WIDTH` characters: the errors, before them what output fits."""
        errors = _lines(self._ends.get("stderr", b""))
        output = _lines(self._ends.get("stdout", b""))
        room = LINES - len(errors)
        return (output[-room:] if room else []) + errors

    def streams(self) -> List[List[str]]:
        """The last lines of each stream."""
        return [_lines(end) for end in self._ends.values()]


def _lines(octets: bytes) -> List[str]:
    """The last lines as a terminal would leave them: of a progress bar only its final state."""
    texts = octets.decode("utf-8", "replace").split("\n")
    shown = [text.rstrip("\r").rpartition("\r")[2][:WIDTH] for text in texts]
    if shown and not shown[-1]:
        shown.pop()
    return shown[-LINES:]
