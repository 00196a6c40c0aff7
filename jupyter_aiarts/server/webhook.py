"""The admin's webhook: one address that is told when jobs end or wait for very long, and of nodes that are not well.

It is called in the background, at most three times per message, each for at most five seconds, without following a
redirect; what cannot be told after that is dropped with a line in the server's log. The address often is the key to a
chat room, so no log shows more of it than its host.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
from collections import deque
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tornado.httpclient import HTTPError, HTTPRequest
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from jupyter_aiarts.model.news import News

TRIES = 3
SECONDS = 5.0  # for one try
PAUSE = 2.0  # seconds before the second try; twice that before the third
WAITING = 200  # messages kept while the other side is slow: the oldest go first


def check_url(url: str) -> str:
    """The address, or a `ValueError` that says what is wrong with it: https, or anything on this machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("webhook_url is not an https:// address")
    if parts.username or parts.password:
        raise ValueError("webhook_url holds a user or a password; put a token into its path")
    if parts.scheme == "http" and not _is_loopback(parts.hostname):
        raise ValueError("webhook_url must begin with https://, unless it is on this machine (http://127.0.0.1…)")
    return url


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def body_for(host: str, news: News) -> dict[str, Any]:
    """The message in the form that this host's chat program reads; others get Slack's, with the facts beside it."""
    if host.endswith((".feishu.cn", ".larksuite.com")):
        return {"msg_type": "text", "content": {"text": news.text}}
    if host.endswith(".dingtalk.com"):
        return {"msgtype": "text", "text": {"content": news.text}}
    if host.endswith(".slack.com"):
        return {"text": news.text}
    facts = {key: getattr(news, key) for key in ("happened", "job", "name", "cluster", "owner", "node")}
    return {"text": news.text, **{key: value for key, value in facts.items() if value is not None}}


class Webhook:
    """Sends news one after the other; `send` never waits."""

    def __init__(
        self,
        url: str,
        log: logging.Logger | logging.LoggerAdapter[Any],
        pause: float = PAUSE,
        seconds: float = SECONDS,
    ) -> None:
        self._url = check_url(url)
        self._host = urlsplit(url).hostname or ""
        self._log = log
        self._pause, self._seconds = pause, seconds
        self._queue: deque[News] = deque()
        self._sending: asyncio.Task[None] | None = None

    def send(self, news: News) -> None:
        """Tell it soon."""
        if len(self._queue) >= WAITING:
            lost = self._queue.popleft()
            self._log.warning("The webhook on %s is too slow: not told of %s.", self._host, lost.about)
        self._queue.append(news)
        if self._sending is None or self._sending.done():
            self._sending = asyncio.ensure_future(self._send_all())

    async def aclose(self) -> None:
        """Give up on what was not told yet."""
        if self._sending is not None:
            self._sending.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sending

    async def _send_all(self) -> None:
        # A client of its own: the shared one may be replaced by something that follows other rules.
        client = SimpleAsyncHTTPClient(force_instance=True, max_clients=1, max_body_size=64 * 1024)
        try:
            while self._queue:
                await self._send(client, self._queue.popleft())
        finally:
            client.close()

    async def _send(self, client: SimpleAsyncHTTPClient, news: News) -> None:
        request = HTTPRequest(
            self._url,
            method="POST",
            headers={"Content-Type": "application/json; charset=utf-8", "User-Agent": "jupyter-aiarts"},
            body=json.dumps(body_for(self._host, news), ensure_ascii=False).encode(),
            follow_redirects=False,
            connect_timeout=self._seconds,
            request_timeout=self._seconds,
        )
        why = ""
        for attempt in range(TRIES):
            if attempt:
                await asyncio.sleep(self._pause * attempt)
            try:
                await client.fetch(request)
                return
            except HTTPError as error:
                why = f"HTTP status {error.code}"
                if error.code not in (429, 599) and error.code < 500:
                    break  # it will not like it better the second time
            except (OSError, asyncio.TimeoutError) as error:
                why = type(error).__name__  # its text may hold the address
        self._log.warning("The webhook on %s was not told of %s: %s.", self._host, news.about, why)


def set_by_user(texts: Mapping[str, str], arguments: Mapping[str, Any]) -> str | None:
    """Where a user set the webhook who may not: a file of their own (name → text), or the command line."""
    if "webhook_url" in arguments:
        return "the command line"
    return next((name for name, text in texts.items() if "webhook_url" in text), None)
