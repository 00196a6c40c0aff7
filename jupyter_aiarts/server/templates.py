"""Routes for templates: saved specs and the presets that come with the package."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_aiarts.errors import BadRequest
from jupyter_aiarts.server.base import AiartsHandler


class TemplatesHandler(AiartsHandler):
    """`templates`"""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List all templates, presets included."""
        service = await self.service()
        self.answer(await service.templates())


class TemplateHandler(AiartsHandler):
    """`templates/{name}`; the service checks the name before it becomes a path."""

    @web.authenticated
    @authorized
    async def get(self, name: str) -> None:
        """Describe one template."""
        service = await self.service()
        self.answer(await service.template(name))

    @web.authenticated
    @authorized
    async def put(self, name: str) -> None:
        """Save a template under this name, replacing an older one."""
        self.deed, self.subject = "save-template", name[:63]
        spec, description = self.parts()
        service = await self.service()
        self.answer(await service.save_template(name, spec, description))

    @web.authenticated
    @authorized
    async def delete(self, name: str) -> None:
        """Remove a saved template."""
        self.deed, self.subject = "delete-template", name[:63]
        service = await self.service()
        await service.delete_template(name)
        self.set_status(204)
        self.finish()

    def parts(self) -> tuple[dict[str, Any], str]:
        """The spec and the description in the body."""
        body = self.json_object()
        spec, description = body.pop("spec", None), body.pop("description", "")
        if body or not isinstance(spec, dict) or not isinstance(description, str):
            raise BadRequest("A template is {spec: {…}, description: text}")
        return spec, description
