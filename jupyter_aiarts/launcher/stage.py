"""A pod's audience: the container's own output, the port, and the termination message."""

import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional

from . import termination
from .audience import Audience
from .console import Console
from .loop import Loop
from .node import Node
from .plan import Plan

if TYPE_CHECKING:
    from .port import Port

PORT_SECONDS = 0.02
READER_SECONDS = 10.0
"""How long the launcher stays for who reads the log, at the end."""
CONSOLE_SECONDS = 2.0


class Stage(Audience):
    """Shows a node to the world outside its pod."""

    def __init__(self, loop: Loop, plan: Plan, message_path: str) -> None:
        self._loop = loop
        self._born = loop.clock()
        self._began = time.time()
        self._plan = plan
        self._message_path = message_path
        self._node: Optional[Node] = None
        self._console: Optional[Console] = None
        self._port: Optional["Port"] = None
        self._opened = False
        self._unfinished = 0
        self.tap = self._output

    def attend(self, node: Node) -> None:
        """Show its output from the first byte on; the port comes a moment later, since ranks need not wait for it."""
        self._node = node
        self._console = Console(self._loop, node.crew.hold)
        self._loop.after(PORT_SECONDS, self._open_port)

    def changed(self) -> None:
        """Readers hear of it."""
        if self._port is not None:
            self._port.changed()

    def note(self, text: str) -> None:
        """Said among the container's own output; ranks' logs hold what ranks write, and nothing else."""
        if self._console is not None:
            self._console.say(text)

    def end(self, result: str, then: Callable[[], None]) -> None:
        """Leave the message, let everybody read to the end, but nobody for ever."""
        if self._node is None or self._console is None:
            return then()
        termination.write(self._message_path, self._last_words(self._node, result))
        if self._plan.has_table:
            self._keep_npu_log(self._node)
        self._open_port()  # a job can be over before it was time for it
        if result not in ("succeeded", "stopped") and self._node.status.message:
            self._console.say(self._node.status.message)
        self._unfinished = 1 if self._port is None else 2
        self._console.finish(CONSOLE_SECONDS, lambda: self._finished(then))
        if self._port is not None:
            young = max(self._plan.reader_seconds - (self._loop.clock() - self._born), 0.0)
            self._port.finish(READER_SECONDS, young, lambda: self._finished(then))

    def crash(self, node: int, summary: Dict[str, Any]) -> None:
        """The message at least."""
        termination.write(self._message_path, {**summary, "node": node})

    def _open_port(self) -> None:
        """Without it the job runs as well, and can still be read by `kubectl logs`."""
        if self._node is None or self._console is None or self._plan.port is None or self._opened:
            return
        self._opened = True
        from .port import Port  # a tenth of a second in a small pod: not before the ranks have begun

        try:
            root = self._plan.inside.root if self._plan.inside is not None else ""
            self._port = Port(self._loop, self._node, self._plan.token, self._plan.port, root)
        except OSError as error:
            self._console.say(f"cannot listen on port {self._plan.port}: {error.strerror}")

    def _keep_npu_log(self, node: Node) -> None:
        """What the driver said of this node's cards goes with the pod, unless somebody keeps it."""
        from .ascend import lastlog

        root = self._plan.inside.root if self._plan.inside is not None else ""
        try:
            node.npu_log = lastlog.newest_of(lastlog.document(node.cards, self._began, root))
            self.changed()
            lastlog.keep(node.npu_log, node.folder)
        except OSError:
            pass  # a full disk must not keep the launcher from ending; whoever reads the stream has it

    def _output(self, rank: int, stream: str, chunk: memoryview) -> None:
        if self._node is None or self._console is None:
            return
        self._console.show(rank, stream, chunk, len(self._node.numbers) > 1)
        if self._port is not None:
            self._port.stir(rank, stream)

    def _last_words(self, node: Node, result: str) -> Dict[str, Any]:
        if node.summary is not None:
            return node.summary
        ranks = [rank.outcome() for rank in node.crew.ranks]
        return {"schema": 1, "node": node.index, "result": result, "ranks": ranks, "message": node.status.message}

    def _finished(self, then: Callable[[], None]) -> None:
        self._unfinished -= 1
        if self._unfinished == 0:
            then()
