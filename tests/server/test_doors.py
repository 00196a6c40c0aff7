"""Nobody gets in without login, from a foreign page, without rights, or past the XSRF check."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from http.cookies import SimpleCookie
from typing import Any

import pytest
from jupyter_server.auth.authorizer import Authorizer
from jupyter_server.serverapp import ServerApp
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.websocket import WebSocketClientConnection, websocket_connect

from jupyter_aiarts.server.base import VERBS, offered_verbs
from jupyter_aiarts.server.router import HANDLERS
from jupyter_aiarts.server.routes import OPERATIONS, ROUTES, Route
from jupyter_aiarts.server.stream import StreamHandler

Ask = Callable[..., Awaitable[HTTPResponse]]


def example(route: Route) -> str:
    """An address that this route answers."""
    return route.path.format(job_id="a123456789", move="stop", act="register", name="mine", rest="nothing/here")


class NoAiarts(Authorizer):
    """Lets everybody do everything but reach us."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "aiarts"


class ReadOnly(Authorizer):
    """A Lab where one may look."""

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return action == "read"


@pytest.fixture
def raw(http_server_client: AsyncHTTPClient, jp_base_url: str) -> Ask:
    """Send a request with exactly these headers: no token unless one is given."""

    async def send(path: str, method: str = "GET", **kwargs: Any) -> HTTPResponse:
        body = None if method == "GET" else kwargs.pop("body", "{}")
        return await http_server_client.fetch(
            f"{jp_base_url}aiarts/{path}",
            method=method,
            body=body,
            raise_error=False,
            allow_nonstandard_methods=True,
            follow_redirects=False,
            **kwargs,
        )

    return send


@pytest.fixture
async def cookie(raw: Ask, jp_serverapp: ServerApp) -> str:
    """A browser's login."""
    answer = await raw(f"health?token={jp_serverapp.identity_provider.token}")
    assert answer.code == 200
    jar: SimpleCookie = SimpleCookie()
    for header in answer.headers.get_list("Set-Cookie"):
        jar.load(header)
    return "; ".join(f"{name}={morsel.value}" for name, morsel in jar.items() if name != "_xsrf")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
async def test_without_login_every_verb_of_every_route_is_403(raw: Ask, route: Route, verb: str) -> None:
    answer = await raw(example(route), verb)
    assert answer.code == 403
    assert json.loads(answer.body)["code"] == "not-allowed"


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
def test_every_verb_checks_login_first_and_rights_second(route: Route) -> None:
    for verb in offered_verbs(route.handler):
        method = getattr(route.handler, verb.lower())
        outer, inner = ("auth/decorator.py", "auth/decorator.py")
        if route.handler is not StreamHandler:
            outer = "tornado/web.py"
        assert method.__code__.co_filename.endswith(outer), (route.path, verb)
        assert method.__wrapped__.__code__.co_filename.endswith(inner), (route.path, verb)
        assert method.__wrapped__.__code__.co_name == "inner"


def test_jupyter_server_finds_no_open_verb_in_our_handlers(jp_serverapp: ServerApp) -> None:
    for route in ROUTES:
        assert jp_serverapp.web_app._check_handler_auth(route.path, route.handler) == []


def test_the_table_names_every_verb_that_a_handler_answers() -> None:
    assert OPERATIONS.keys() == HANDLERS.keys()
    for route in ROUTES:
        if route.operations:
            assert sorted(one.verb.upper() for one in route.operations) == sorted(offered_verbs(route.handler))


async def test_a_wrong_token_is_403(raw: Ask) -> None:
    assert (await raw("jobs", headers={"Authorization": "token wrong"})).code == 403


async def test_a_cookie_without_xsrf_token_may_not_write(raw: Ask, cookie: str) -> None:
    answer = await raw("jobs", "POST", headers={"Cookie": cookie})
    assert answer.code == 403
    assert "xsrf" in json.loads(answer.body)["message"].lower()


async def test_a_cookie_with_xsrf_token_may_write(raw: Ask, cookie: str) -> None:
    headers = {"Cookie": f"{cookie}; _xsrf=0123456789abcdef", "X-XSRFToken": "0123456789abcdef"}
    answer = await raw("jobs?dry_run=1", "POST", headers=headers, body="[]")
    assert answer.code == 400, answer.body


class TestDenied:
    """An authorizer that says no to the resource `aiarts`."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["ServerApp"]["authorizer_class"] = NoAiarts
        return jp_server_config

    @pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)
    async def test_every_verb_is_403(self, ask: Ask, route: Route) -> None:
        for verb in offered_verbs(route.handler):
            assert (await ask(example(route), verb, {} if verb != "GET" else None)).code == 403


class TestReadOnly:
    """An authorizer that lets one look."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["ServerApp"]["authorizer_class"] = ReadOnly
        return jp_server_config

    async def test_reading_goes_and_writing_is_403(self, ask: Ask) -> None:
        assert (await ask("jobs")).code == 200
        assert (await ask("jobs", "POST", {})).code == 403
        assert (await ask("jobs/a123456789", "DELETE")).code == 403


@pytest.fixture
def knock(jp_http_port: int, jp_base_url: str, http_server_client: AsyncHTTPClient) -> Callable[..., Any]:
    """Try to open the websocket; gives the status of a refusal, or None when it opened."""

    async def open_stream(**headers: str) -> int | None:
        url = f"ws://127.0.0.1:{jp_http_port}{jp_base_url}aiarts/stream"
        try:
            connection: WebSocketClientConnection = await websocket_connect(HTTPRequest(url, headers=headers))
        except HTTPClientError as error:
            return error.code
        connection.close()
        while await connection.read_message() is not None:  # closed only when the server has said goodbye as well
            pass
        return None

    return open_stream


async def test_the_stream_without_login_is_403_before_the_upgrade(knock: Callable[..., Any]) -> None:
    assert await knock() == 403


async def test_the_stream_from_a_foreign_page_is_403_before_the_upgrade(knock: Callable[..., Any], cookie: str) -> None:
    assert await knock(Cookie=cookie, Origin="https://evil.example") == 403


async def test_the_stream_from_our_own_page_opens(knock: Callable[..., Any], cookie: str, jp_http_port: int) -> None:
    assert await knock(Cookie=cookie, Origin=f"http://127.0.0.1:{jp_http_port}") is None


async def test_a_plain_get_of_the_stream_says_what_it_is(ask: Ask) -> None:
    assert (await ask("stream")).code == 400


def test_every_handler_belongs_to_the_resource_that_an_authorizer_can_name() -> None:
    assert {getattr(route.handler, "auth_resource", None) for route in ROUTES} == {"aiarts"}
