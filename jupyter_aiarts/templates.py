"""Templates a person saved, one file each beside their jobs, and the presets that ship."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from jupyter_aiarts.errors import BadRequest, StateUnusable, TemplateNotFound
from jupyter_aiarts.model.names import TEMPLATE_NAME

if TYPE_CHECKING:
    from jupyter_aiarts.model.templates import Template


class TemplateStore:
    """Saves, lists and removes templates in one folder; presets are always there and cannot be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[Template]:
        """Saved ones first, by name, then the presets that no saved one stands before."""
        from jupyter_aiarts.model.templates import PRESETS

        names = sorted(path.stem for path in self.folder.glob("*.json") if re.fullmatch(TEMPLATE_NAME, path.stem))
        saved = [template for name in names if (template := self._read(name)) is not None]
        taken = {template.name for template in saved}
        return saved + [preset for name, preset in sorted(PRESETS.items()) if name not in taken]

    def get(self, name: str) -> Template:
        """The saved template of this name, else the preset."""
        from jupyter_aiarts.model.templates import PRESETS

        found = (self._read(name) if re.fullmatch(TEMPLATE_NAME, name) else None) or PRESETS.get(name)
        if found is None:
            raise TemplateNotFound(f"There is no template {name[:80]!r}.", "List them with `aiarts templates`.")
        return found

    def save(self, template: Template) -> Template:
        """Keep a template; `new_template` has checked its name and its keys."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft = self.folder / f".{template.name}.{os.getpid()}"
            draft.write_bytes(msgspec.json.encode(template))
            draft.rename(self.folder / f"{template.name}.json")
        except OSError as error:
            raise StateUnusable(f"The template cannot be saved in {self.folder}: {error.strerror}.") from error
        return template

    def delete(self, name: str) -> None:
        found = self.get(name)
        if found.preset:
            raise BadRequest(f"{name} is a preset that ships with the software.", "Presets cannot be deleted.")
        (self.folder / f"{name}.json").unlink(missing_ok=True)

    def _read(self, name: str) -> Template | None:
        from jupyter_aiarts.model.templates import Template

        try:
            return msgspec.json.decode((self.folder / f"{name}.json").read_bytes(), type=Template)
        except (FileNotFoundError, msgspec.DecodeError, msgspec.ValidationError):
            return None  # a broken file is a template that is not there; the others still are
