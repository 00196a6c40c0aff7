"""One grammar for the command line and the magic: how the words of a command are read. The verbs are in `commands`.

argparse never prints or exits here: it runs inside kernels. Mistakes come out as `WrongUsage`, `--help` as
`HelpShown`. Parsers are built when their verb is first used, because building all of them costs more than
most commands.
"""

from __future__ import annotations

import argparse
import difflib
from typing import Any, Dict, List, NamedTuple, NoReturn, Optional, Sequence, Tuple

from jupyter_aiarts.kernel.commands import VERBS, Verb
from jupyter_aiarts.kernel.errors import HelpShown, WrongUsage

PROGRAM = "aiarts"


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises instead of printing and exiting."""

    def error(self, message: str) -> NoReturn:
        raise WrongUsage(message[:1].upper() + message[1:] + ".", f"`{self.prog} --help` shows examples.")

    def print_help(self, file: Any = None) -> None:
        raise HelpShown(self.format_help())


class Command(NamedTuple):
    """A parsed command; `options` always has the common options."""

    verb: str
    options: argparse.Namespace


BY_NAME: Dict[str, Verb] = {verb.name: verb for verb in VERBS}
TAKES_ARGS = frozenset({"submit", "clone", "edit", "templates"})
COMMON = {"--server": True, "--token": True, "--lang": True, "--json": False}
_parsers: Dict[str, Parser] = {}


def parse(words: Sequence[str]) -> Command:
    """Read one command; raises `WrongUsage` or, for `--help` and `--version`, `HelpShown`."""
    before, rest = _split_common(list(words))
    if not rest or rest[0] in ("-h", "--help", "help"):
        raise HelpShown(parser_of(rest[1]).format_help() if rest[1:2] and rest[1] in BY_NAME else overview())
    name, words = rest[0], rest[1:]
    if name == "--version":
        raise HelpShown(version())
    if name not in BY_NAME:
        raise _unknown("command" if not name.startswith("-") else "option", name, list(BY_NAME) + list(COMMON))
    own, extra = _split_arguments(name, before + words)
    parser = parser_of(name)
    options, strange = parser.parse_known_intermixed_args([_hyphened(parser, word) for word in own])
    if strange:
        raise _unknown_words(name, strange)
    options.after_dashes = extra
    return Command(name, options)


def parser_of(name: str) -> Parser:
    """The parser of one verb, built on first use; also what completion reads its options from."""
    if name not in _parsers:
        _parsers[name] = _build(BY_NAME[name])
    return _parsers[name]


def overview() -> str:
    """The text of `aiarts --help`."""
    rows = "\n".join(f"  {verb.name:<10} {verb.summary}" for verb in VERBS)
    return (
        f"usage: {PROGRAM} COMMAND …\n\nTraining jobs on this machine and on clusters.\n\n"
        f"commands:\n{rows}\n\n"
        f"`{PROGRAM} COMMAND --help` shows options and examples. Every command takes --json, --lang en|zh,\n"
        f"--server URL and --token T; inside Jupyter the server is found by itself.\n\n"
        "exit codes: 0 done, 1 the job or check failed, 2 wrong usage or refused spec, 3 not found,\n"
        "4 not allowed, 5 server or cluster unreachable\n"
    )


def version() -> str:
    """`aiarts 1.2.3`; the version is a plain constant of the package around us."""
    import importlib

    return "{} {}\n".format(PROGRAM, importlib.import_module("jupyter_aiarts").__version__)


def nearest(word: str, known: Sequence[str]) -> Optional[str]:
    """The known word somebody most likely meant."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return close[0] if close else None


def _build(verb: Verb) -> Parser:
    examples = "examples:\n" + "\n".join(f"  {PROGRAM} {line}" for line in verb.examples)
    parser = Parser(
        prog=f"{PROGRAM} {verb.name}",
        description=verb.summary[:1].upper() + verb.summary[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.furnish(parser)
    common = parser.add_argument_group("everywhere")
    common.add_argument("--json", action="store_true", help="answer in JSON (one object per line for logs)")
    common.add_argument("--lang", choices=["en", "zh"], help="language of explanations")
    common.add_argument("--server", metavar="URL", help="a Jupyter server (default: the one around us)")
    common.add_argument("--token", metavar="T", help="its token (better: AIARTS_TOKEN, which no process list shows)")
    return parser


def _split_common(words: List[str]) -> Tuple[List[str], List[str]]:
    """The common options that stand before the verb, and the rest."""
    before: List[str] = []
    while words and words[0].split("=")[0] in COMMON:
        taken = 2 if COMMON[words[0].split("=")[0]] and "=" not in words[0] else 1
        before, words = before + words[:taken], words[taken:]
    return before, words


def _hyphened(parser: Parser, word: str) -> str:
    """`--memory_gb=4` as `--memory-gb=4`: both are accepted, one is shown in the help."""
    flag, equals, value = word.partition("=")
    if not flag.startswith("--") or "_" not in flag:
        return word
    known = flag.replace("_", "-")
    return known + equals + value if known in parser._option_string_actions else word


def _split_arguments(name: str, words: List[str]) -> Tuple[List[str], Optional[List[str]]]:
    """What stands after `--`, with `run` all that follows the start file, is the start file's and never meets
    argparse."""
    if name == "run":
        at = _first_argument(parser_of(name), words)
        at += words[at : at + 1] != ["--"]  # a cell is the start file itself, and has arguments all the same
        return words[:at], words[at + 1 :] if words[at : at + 1] == ["--"] else words[at:]
    if name not in TAKES_ARGS or "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _first_argument(parser: Parser, words: List[str]) -> int:
    """Where the first word stands that is neither an option nor an option's value."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        action = parser._option_string_actions.get(words[at])
        at += 2 if action is not None and action.nargs != 0 else 1
    return at


def _unknown_words(name: str, strange: Sequence[str]) -> WrongUsage:
    flags = [word.split("=")[0] for word in strange if word.startswith("-") and len(word) > 1]
    if not flags:
        words = " ".join(strange)
        hint = "Arguments of the start file come after --." if name in TAKES_ARGS else None
        return WrongUsage(
            f"`{PROGRAM} {name}` does not take {words!r}.",
            hint or f"`{PROGRAM} {name} --help` shows examples.",
        )
    return _unknown("option", flags[0], list(parser_of(name)._option_string_actions), f"{PROGRAM} {name}")


def _unknown(what: str, word: str, known: Sequence[str], program: str = PROGRAM) -> WrongUsage:
    close = nearest(word, known)
    hint = f"Did you mean {close}?" if close else f"`{program} --help` lists what there is."
    if what == "option" and program.split()[-1] in TAKES_ARGS:
        hint += f" A parameter of the start file is --param {word.lstrip('-').split('=')[0]}=VALUE, or comes after --."
    return WrongUsage(f"`{program}` has no {what} {word!r}.", hint)
