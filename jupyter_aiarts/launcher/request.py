"""One HTTP request from its head, or the status that refuses it. Pure; GET only, small, with the token."""

import hmac
import re
from typing import Dict, List, NamedTuple, Optional, Union

LONGEST_HEAD = 16 * 1024
LARGEST_BODY = 1024 * 1024
_FIRST = re.compile(rb"([A-Z]+) (/[!-~]*) HTTP/1\.[01]")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
TITLES = {
    200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    411: "Length Required", 413: "Payload Too Large", 431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}  # fmt: skip


class Request(NamedTuple):
    """What is asked for."""

    path: str
    query: Dict[str, str]


class Refusal(NamedTuple):
    """Why it is not answered: an HTTP status and a sentence."""

    status: int
    sentence: str


def parse(head: bytes, token: str) -> Union[Request, Refusal]:
    """The request behind a head (without its empty line) that shows the token."""
    first, *rest = head.split(b"\r\n")
    asked = _FIRST.fullmatch(first)
    headers = _headers(rest)
    if asked is None or headers is None:
        return Refusal(400, "this is not HTTP/1.1")
    if not hmac.compare_digest(headers.get(b"x-aiarts-token", b""), token.encode("ascii", "replace")):
        return Refusal(403, "the header X-Aiarts-Token is missing or wrong")
    if b"transfer-encoding" in headers:
        return Refusal(411, "a body must say its length")
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 9 or int(length) > LARGEST_BODY:
        return Refusal(413, f"a body may have {LARGEST_BODY} bytes")
    if asked.group(1) != b"GET":
        return Refusal(405, "only GET is answered here")
    path, _, query = asked.group(2).decode("ascii").partition("?")
    return Request(path, _query(query))


def _headers(lines: List[bytes]) -> Optional[Dict[bytes, bytes]]:
    """Names in lower case; None when a line is no header. Of a repeated one the first counts."""
    found: Dict[bytes, bytes] = {}
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            return None
        found.setdefault(match.group(1).lower(), match.group(2))
    return found


def _query(text: str) -> Dict[str, str]:
    pairs = (pair.partition("=") for pair in text.split("&") if pair)
    found = {name: value for name, _, value in pairs}
    if "%" in text or "+" in text:
        from urllib.parse import unquote_plus  # hardly ever needed, and slow to import

        return {unquote_plus(name): unquote_plus(value) for name, value in found.items()}
    return found
