"""Text that stands for bytes: what argv, variables and paths are made of, whatever the locale.

`os.fsencode` follows the interpreter's locale, which in an old image may be ASCII; plans are always UTF-8.
"""


def to_bytes(text: str) -> bytes:
    """The bytes `text` stands for; a lone surrogate is one byte that is not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def to_text(octets: bytes) -> str:
    """The text that stands for `octets`; `to_bytes` gives them back unharmed."""
    return octets.decode("utf-8", "surrogateescape")
