"""How long a job has run and how often it was restarted, over restarts, regroupings and replaced pods.

Node 0 counts; with every start it tells the others, so that a node 0 that comes in its place hears it from them.
"""

import time
from typing import Any, Callable, Dict, Optional


class History:
    """The time that ranks ran in this attempt. `clock` only ever goes forward."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since: Optional[float] = None
        self._counted = 0.0
        self.started: Optional[float] = None
        self.restarts = 0

    @property
    def running(self) -> float:
        """Seconds that ranks ran so far."""
        return self._counted + (0.0 if self._since is None else self._clock() - self._since)

    def begin(self) -> None:
        """Ranks start now."""
        self.pause()
        self._since = self._clock()
        if self.started is None:
            self.started = time.time()

    def pause(self) -> None:
        """No rank runs now."""
        self._counted, self._since = self.running, None

    def as_json(self) -> Dict[str, Any]:
        """As launchers tell each other."""
        return {"started": self.started, "running": self.running, "restarts": self.restarts}

    def learn(self, told: Any) -> None:
        """Take over what another launcher knows, where it knows of more."""
        if not isinstance(told, dict):
            return
        self._counted = max(self._counted, _number(told.get("running")) or 0.0)
        self.restarts = max(self.restarts, int(_number(told.get("restarts")) or 0))
        starts = [start for start in (self.started, _number(told.get("started"))) if start is not None]
        self.started = min(starts) if starts else None


def _number(value: Any) -> Optional[float]:
    return float(value) if isinstance(value, (int, float)) else None
