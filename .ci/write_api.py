"""Write labextension/src/api.ts: the shapes that the server's own `openapi.json` describes, as TypeScript types.

Run it after a change of a model: `python .ci/write_api.py`. A test compares the file with what this would write.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TARGET = Path(__file__).resolve().parent.parent / "labextension" / "src" / "api.ts"
PREFIX = "#/components/schemas/"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
HEAD = """\
/**
 * The shapes of the server's answers and questions. Made by `.ci/write_api.py` from `openapi.json`: not for editing.
 */

/** Anything that JSON can say, and that the schema does not bind further. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json };
"""


def main() -> None:
    """Write the file."""
    TARGET.write_text(text(), encoding="utf-8")


def text() -> str:
    """What the file should hold."""
    from jupyter_aiarts.server.openapi import document

    schemas: dict[str, Any] = document("/aiarts")["components"]["schemas"]
    return HEAD + "".join(_declaration(_name(key), schema) for key, schema in sorted(schemas.items()))


def _name(key: str) -> str:
    """A name that two modules share comes with its module's: `jupyter_aiarts.model.queue.Place` is `QueuePlace`."""
    module, _, name = key.rpartition(".")
    return module.rpartition(".")[2].title() + name


def _declaration(name: str, schema: dict[str, Any]) -> str:
    about = " ".join(schema.get("description", "").split())
    doc = f"\n/** {about} */\n" if about else "\n"
    properties = schema.get("properties")
    if properties is None:
        return f"{doc}export type {name} = {_type(schema)};\n"
    required = set(schema.get("required", ()))
    lines = [f"  readonly {key}{'' if key in required else '?'}: {_type(one)};" for key, one in properties.items()]
    return f"{doc}export interface {name} {{\n" + "".join(f"{line}\n" for line in lines) + "}\n"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _name(schema["$ref"].removeprefix(PREFIX))
    if "enum" in schema:
        return " | ".join(f"'{one}'" if isinstance(one, str) else json.dumps(one) for one in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(PLAIN[one] for one in kind)
    if kind == "array":
        return f"ReadonlyArray<{_type(schema.get('items', {}))}>"
    if kind == "object":
        inner = schema.get("additionalProperties")
        return f"Readonly<Record<string, {_type(inner) if isinstance(inner, dict) else 'Json'}>>"
    return PLAIN.get(kind or "", "Json")


if __name__ == "__main__":
    main()
