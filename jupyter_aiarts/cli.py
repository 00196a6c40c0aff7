"""The `aiarts` command (also `jupyter aiarts`): the magic's grammar, printed and with exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from jupyter_aiarts.kernel import api, grammar, session, terminal, verbs, words
from jupyter_aiarts.kernel.display import error_text
from jupyter_aiarts.kernel.errors import ClientError, HelpShown
from jupyter_aiarts.kernel.terminal import Style


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and answer with its exit code (spec section 10); the console script's entry."""
    _never_fail_to_print()
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        return _run(arguments)
    except BrokenPipeError:  # `aiarts logs x | head`: whoever read has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return session.INTERRUPTED
    finally:
        api.close_all()


def _run(arguments: Sequence[str]) -> int:
    as_json = "--json" in arguments
    try:
        command = grammar.parse(arguments)
        as_json = command.options.json
        with _ended_as_by_ctrl_c() if command.verb == "kernels" else contextlib.nullcontext():
            outcome = verbs.run(_session(command.options), command)
    except HelpShown as help_:
        print(help_.text, end="")
        return 0
    except ClientError as error:
        print(_dump(error.to_json()) if as_json else "aiarts: " + error_text(error), file=sys.stderr)
        return error.exit_code
    _show(outcome, as_json)
    return outcome.status


@contextlib.contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """By `kill` and by a terminal that is closed, too: an installer that is left alone breaks in the middle of its work
    when it next says something. What whoever started this ignores stays ignored."""
    is_main = threading.current_thread() is threading.main_thread()
    taken = [one for one in (signal.SIGTERM, signal.SIGHUP) if is_main and signal.getsignal(one) == signal.SIG_DFL]
    for number in taken:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _session(options: Any) -> session.Session:
    lang = options.lang or words.default_lang()
    return session.Session(
        # The person's python3, not the one this command happens to be installed with.
        client=api.connect_later(options.server, options.token, lang, shutil.which("python3")),
        style=Style(lang, terminal.wants_colour(sys.stdout), _columns()),
        write=lambda line: print(line, flush=True),
        notice=_notice,
        ask=_ask if sys.stdin.isatty() and not options.json else None,
    )


def _show(outcome: session.Outcome, as_json: bool) -> None:
    """What a verb came to. A log's JSON is one line each, and nothing at all when there is no line."""
    if as_json and outcome.lines:
        for line in outcome.data:
            print(_dump(line))
    elif as_json:
        print(_dump(outcome.data))
    elif outcome.text:
        print(outcome.text)
    sys.stdout.flush()


def _columns() -> int:
    """How wide a line may be; 0 for a file or a pipe, whose lines belong to who reads them."""
    return shutil.get_terminal_size((0, 0)).columns if sys.stdout.isatty() else 0


def _notice(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _ask(question: str) -> bool:
    try:
        return input(question + " [y/N] ").strip().lower() in ("y", "yes", "是")
    except EOFError:
        return False


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _never_fail_to_print() -> None:
    """A terminal that cannot write Chinese gets escapes instead of a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)  # a test's or a pipe's replacement has none
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    raise SystemExit(main())
