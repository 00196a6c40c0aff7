"""The reading side of a run's log: what `launcher/segments.py` wrote, as lines for users."""

from __future__ import annotations

from jupyter_aiarts.errors import Abandoned
from jupyter_aiarts.model.job import LogLine

from .fold import fold
from .follow import Follower
from .query import LogQuery
from .reasons import no_log_reason
from .runlog import RunLog, open_log

__all__ = ["Abandoned", "Follower", "LogLine", "LogQuery", "RunLog", "fold", "no_log_reason", "open_log"]
