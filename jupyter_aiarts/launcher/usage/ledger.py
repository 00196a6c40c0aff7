"""Numbers over a whole run, however long: the last, the mean and the most of each, and a bounded past.

When the past has too many looks, every second one is forgotten: a run of an hour is told by the half minute, one of a
week by the hour or two, and it always begins where the run did.
"""

from typing import Any, Dict, List, Mapping, Optional, Tuple

NAME = "usage.json"
"""The file that has the past of a node's cards and ranks."""
MOST = 120

Values = Mapping[str, Optional[float]]


class Gauge:
    """One number; a look that does not tell it changes nothing but `last`."""

    def __init__(self) -> None:
        self.last: Optional[float] = None
        self.most: Optional[float] = None
        self.looks = 0
        self._sum = 0.0

    def add(self, value: Optional[float]) -> None:
        """Take note of a look."""
        self.last = value
        if value is not None:
            self.looks += 1
            self._sum += value
            self.most = value if self.most is None else max(self.most, value)

    def as_json(self) -> List[Optional[float]]:
        """Last, mean, most."""
        return [self.last, round(self._sum / self.looks, 2) if self.looks else None, self.most]


class Past:
    """Looks at several numbers, `{name: value}`, at times in seconds since 1970."""

    def __init__(self) -> None:
        self._looks: List[Tuple[float, Values]] = []
        self._every, self._count = 1, 0  # each how many looks one is kept

    def add(self, at: float, values: Values) -> None:
        """Take note of a look."""
        if self._count % self._every == 0:
            if len(self._looks) == MOST:
                self._looks, self._every = self._looks[::2], 2 * self._every
            self._looks.append((at, values))
        self._count += 1

    def as_json(self) -> Dict[str, Any]:
        """The times, and as many values for each name; null where a look did not tell it."""
        names = sorted({name for _, values in self._looks for name in values})
        series = {name: [values.get(name) for _, values in self._looks] for name in names}
        return {"times": [at for at, _ in self._looks], "series": series}


class Ledger:
    """The numbers of several things, each with a number of its own."""

    def __init__(self) -> None:
        self.gauges: Dict[int, Dict[str, Gauge]] = {}
        self.past = Past()

    def add(self, at: float, seen: Mapping[int, Values]) -> None:
        """Take note of a look at `{which: {name: value}}`."""
        told: Dict[str, Optional[float]] = {}
        for which, values in seen.items():
            for name, value in values.items():
                self.gauges.setdefault(which, {}).setdefault(name, Gauge()).add(value)
                told[f"{which} {name}"] = value
        if told:
            self.past.add(at, told)

    def as_json(self) -> List[Dict[str, Any]]:
        """Thing by thing: its `id`, and last, mean and most of each number."""
        return [
            {"id": which, **{name: gauge.as_json() for name, gauge in self.gauges[which].items()}}
            for which in sorted(self.gauges)
        ]
