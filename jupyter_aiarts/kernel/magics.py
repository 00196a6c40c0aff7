"""`%aiarts` and `%%aiarts`: the command line's grammar in a cell. Values come back as objects, errors as one
sentence.

Everything heavy is imported by the first use; `%load_ext jupyter_aiarts` only registers a name.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, List, Optional

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from jupyter_aiarts.kernel.grammar import Command
    from jupyter_aiarts.kernel.session import Outcome, Session


@magics_class
class AiartsMagics(Magics):
    """Registers the magic; the verbs are in `verbs`, the grammar in `grammar`."""

    shell: InteractiveShell  # always there: `register_magics` passes it

    @no_var_expand
    @line_cell_magic
    def aiarts(self, line: str, cell: Optional[str] = None) -> Any:
        """Training jobs on this machine and on clusters.

        %aiarts submit train.py --devices 2 --param lr=0.1 -- --verbose
        %aiarts jobs
        %aiarts logs NAME -f

        %%aiarts submit --name mine --as job        submits the cell below
        %%aiarts run -n 2 -- --lr 0.1               runs it right here as two ranks

        `%aiarts --help` lists all commands, `%aiarts submit --help` the options of one. The line is split
        like a shell's, and nothing in it is replaced: `${RANK_ID}` reaches the job as it is.
        """
        from jupyter_aiarts.kernel.display import error_text
        from jupyter_aiarts.kernel.errors import ClientError, HelpShown
        from jupyter_aiarts.kernel.shown import Said

        try:
            return self._run(split(line), cell)
        except HelpShown as help_:
            return Said(help_.text)
        except ClientError as error:
            raise UsageError(error_text(error)) from None

    def _run(self, words: List[str], cell: Optional[str]) -> Any:
        from jupyter_aiarts.kernel import grammar, verbs
        from jupyter_aiarts.kernel.errors import WrongUsage

        command = grammar.parse(words)
        variable = getattr(command.options, "variable", None)
        if variable and not variable.isidentifier():
            raise WrongUsage(f"{variable!r} cannot be a variable's name.")
        session = self._session(command)
        outcome = verbs.run(session, command) if cell is None else self._use_cell(session, command, cell)
        if variable:
            self.shell.user_ns[variable] = outcome.value
        return outcome.data if command.options.json and not outcome.lines else outcome.value

    def _use_cell(self, session: Session, command: Command, cell: str) -> Outcome:
        """Write the cell down and submit or run it; says where, and which names of the notebook it will miss."""
        from pathlib import Path

        from jupyter_aiarts.kernel import cells, verbs
        from jupyter_aiarts.kernel.errors import WrongUsage
        from jupyter_aiarts.kernel.run import run_cell

        if command.verb not in ("submit", "run"):
            raise WrongUsage(f"%%aiarts {command.verb} takes no cell.", f"Write %aiarts {command.verb}, with one %.")
        tree = cells.check_cell(cell)
        spec = verbs.spec_from(command.options) if command.verb == "submit" else {}
        folder = Path.cwd()
        path = cells.write_cell(cell, folder)
        session.notice(session.say("cell", path=path.relative_to(folder)))
        missing = cells.notebook_names(tree, self.shell.user_ns)
        if missing:
            session.notice(session.say("cell-names", names=", ".join(missing)))
        if command.verb == "run":
            return run_cell(session, command.options, str(path), str(folder))
        return verbs.submit_spec(session, cells.cell_spec(spec, path, folder), command.options)

    def _session(self, command: Command) -> Session:
        from jupyter_aiarts.kernel import api, session, words
        from jupyter_aiarts.kernel.terminal import Style

        lang = command.options.lang or words.default_lang()
        client = api.connect_later(command.options.server, command.options.token, lang)
        return session.Session(client=client, style=Style(lang), write=write, notice=write, notebook=True)


def split(line: str) -> List[str]:
    """The line's words, quoted as in a shell."""
    import shlex

    from jupyter_aiarts.kernel.errors import WrongUsage

    try:
        return shlex.split(line)
    except ValueError as error:
        raise WrongUsage(f"The line cannot be read: {error}.", "Close every quote.") from None


def write(text: str) -> None:
    """One line of the cell's output, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def complete(shell: Any, event: Any) -> List[str]:
    """IPython's `complete_command` hook; it may be given `%aiarts` or, in a cell, `%%aiarts`."""
    from jupyter_aiarts.kernel import api
    from jupyter_aiarts.kernel.completion import Completer

    global _completer
    if _completer is None:
        _completer = Completer(api.connect)
    typed = event.text_until_cursor.lstrip().lstrip("%")
    found: List[str] = _completer.complete(typed[len("aiarts") :].lstrip() if typed.startswith("aiarts") else typed)
    return found


_completer: Any = None


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magic and its completion; called by `%load_ext jupyter_aiarts`."""
    shell.register_magics(AiartsMagics)
    shell.set_hook("complete_command", complete, re_key=r"%%?aiarts")  # type: ignore[no-untyped-call]
