"""pod.env survives every shell and every value."""

import os
import subprocess
from pathlib import Path

import pytest

from jupyter_aiarts.launcher.octets import to_bytes, to_text
from jupyter_aiarts.launcher.podenv import parse, render

SHELLS = ["bash", "dash", "sh"]
HOSTILE = {
    "EMPTY": "",
    "PLAIN": "/usr/bin:/bin,a=b@c%d+e-f",
    "EQUALS": "a=b=c",
    "SINGLE": "it's 'quoted'",
    "ONLY_QUOTE": "'",
    "DOUBLE": 'say "hi"',
    "DOLLAR": "$HOME ${HOME} $(touch /tmp/owned) $'x' $$",
    "BACKTICK": "`id`",
    "BACKSLASH": "a\\b\\\nc\\",
    "NEWLINES": "one\ntwo\n\nfour\n",
    "RETURN": "a\r\nb\r",
    "TAB": "\t x \t",
    "TILDE": "~/x",
    "GLOB": "* ? [a]",
    "HASH": "# no comment",
    "SEMICOLON": "; exit 7 & | > < ( ) { }",
    "BANG": "!! !x",
    "CHINESE": "训练 作业",
    "EMOJI": "🚂",
    "EXPORT_LINE": "x'\nexport EVIL=1\n'",
}
EVERY_BYTE = {"BYTES": to_text(bytes(range(1, 256)))} | {
    f"B{byte:02X}": to_text(b"<" + bytes([byte]) + b">") for byte in range(1, 256)
}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("variables", [HOSTILE, EVERY_BYTE], ids=["hostile", "every byte"])
def test_shells_source_it_unharmed(shell: str, variables: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "pod.env"
    file.write_bytes(render(variables))
    line = f". '{file}' && exec env -0"
    for locale in ("C", "C.UTF-8"):
        environ = {"PATH": os.environ["PATH"], "LC_ALL": locale}
        done = subprocess.run([shell, "-c", line], env=environ, stdout=subprocess.PIPE, check=True)
        seen = dict(pair.split(b"=", 1) for pair in done.stdout.split(b"\0") if pair)
        got = {name: seen.get(to_bytes(name)) for name in variables}
        assert got == {name: to_bytes(value) for name, value in variables.items()}
        assert b"EVIL" not in seen


@pytest.mark.parametrize("variables", [HOSTILE, EVERY_BYTE, {}], ids=["hostile", "every byte", "none"])
def test_parse_gives_back_what_render_was_given(variables: dict[str, str]) -> None:
    assert parse(render(variables)) == variables


def test_names_a_shell_cannot_hold_are_left_out() -> None:
    names = {"A-B": "1", "9X": "2", "": "3", "A.B": "4", "Ä": "5", "A B": "6", "A\n": "7", "_OK9": "8"}
    assert render(names) == b"export _OK9=8\n"


@pytest.mark.parametrize(
    "content", [b"FOO=1\n", b"export A=$HOME\n", b"export A='open\n", b'export A="x"\n', b"export A=1"]
)
def test_what_render_cannot_have_written_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="line 2 "):
        parse(b"export OK=1\n" + content)
