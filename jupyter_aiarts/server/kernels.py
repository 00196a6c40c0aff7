"""Routes for environments as kernels: list, register, unregister, repair, doctor."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.server.base import AiartsHandler

if TYPE_CHECKING:
    from jupyter_aiarts.model.environment import KernelRequest


class _KernelsHandler(AiartsHandler):
    def asked(self) -> KernelRequest:
        """What the body asks for; the environment is looked up among those that are there before anything is done."""
        from jupyter_aiarts.model.environment import KernelRequest

        request = self.json_as(KernelRequest)
        self.subject = request.which[:200]
        return request


class KernelsHandler(_KernelsHandler):
    """`kernels`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Every environment of this machine, the kernel that stands for it, and what is wrong with it."""
        self.answer(await self.app.kernels.all(self.language))


class KernelActHandler(_KernelsHandler):
    """`kernels/{act}`"""

    @web.authenticated
    @authorized
    async def post(self, act: str) -> None:
        """Register or unregister a kernel, or look at it closely."""
        self.deed = f"{act}-kernel"
        request, book = self.asked(), self.app.kernels
        if act == "register":
            self.answer(await book.register(request.which, request.scope, self.language))
        elif act == "unregister":
            self.answer(await book.unregister(request.which))
        else:
            self.answer(await book.doctor(request.which, self.language))


class KernelRepairHandler(_KernelsHandler):
    """`kernels/repair`"""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Do what can be done about a kernel, told line by line as NDJSON; whoever goes away ends it."""
        self.deed = "repair-kernel"
        request = self.asked()
        self.set_header("Content-Type", "application/x-ndjson")
        lines = self.app.kernels.repair(request.which, self.language)
        begun = False
        try:
            async with aclosing(lines) as said:
                async for line in said:
                    begun = True
                    self.write(json.dumps({"line": line}) + "\n")
                    await self.flush()
        except StreamClosedError:
            return  # nobody reads any more
        except AiartsError as error:
            if not begun:
                raise
            self.write(json.dumps({"error": error.as_dict()}) + "\n")
        self.finish()
