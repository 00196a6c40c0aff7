"""Who hears what a node does, besides its files. On one machine nobody: the folder is the truth there."""

from typing import TYPE_CHECKING, Any, Callable, Dict, Optional

if TYPE_CHECKING:
    from .node import Node

Tap = Callable[[int, str, memoryview], None]
"""Takes rank, stream and a chunk of its output; an empty chunk says that no more will come."""


class Audience:
    """Nobody. A pod's audience (`stage.py`) overrides what it wants to hear."""

    tap: Optional[Tap] = None

    def attend(self, node: "Node") -> None:
        """The node exists from now on; called once, before anything else."""

    def changed(self) -> None:
        """The node's status, its ranks' variables or the summary are not what they were."""

    def note(self, text: str) -> None:
        """Something that whoever looks at the job should know, though it goes on."""

    def end(self, result: str, then: Callable[[], None]) -> None:
        """The node has ended with `result`; `then` ends the launcher, once everybody has heard all."""
        then()

    def crash(self, node: int, summary: Dict[str, Any]) -> None:
        """The launcher has failed; `summary` is what there is to say. The loop does not run any more."""
