"""The path map in one answer: each engine is asked for its places, this server's files are looked at, words are found.

Apart from the service because only those who ask about a path need it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from msgspec import structs

from jupyter_aiarts.engines.base import Engine
from jupyter_aiarts.engines.lookup import look, names
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.explain.words.paths import place_name, reason_text, view_text
from jupyter_aiarts.intake import engine_named
from jupyter_aiarts.model.places import PathMap, PathReport, Place, ShownReason, ShownView
from jupyter_aiarts.model.whereabouts import Question, View, Whereabouts, judge


async def map_of(
    engines: Mapping[str, Engine], path: str | None, folder: str, cluster: str | None, job: str | None, lang: str
) -> PathMap:
    """Every place of one cluster or of all, and where `path` is among them. `job` is one of `cluster`'s."""
    if cluster is not None:
        places = await engine_named(cluster, engines).places(job)
    else:
        places = tuple(one for some in await asyncio.gather(*map(_places, engines.values())) for one in some)
    shown = [structs.replace(one, name=place_name(one.name, lang)) for one in places]
    if path is None:
        return PathMap(places=shown)
    known = {name: os.environ[name] for name in ("HOME", "USER") if name in os.environ}
    asked = Question(text=path, folder=folder, home=known.get("HOME", "/"), variables=known, cluster=cluster)
    found = await asyncio.to_thread(judge, asked, places, look, names)
    return PathMap(places=shown, report=report_of(path, found, lang))


async def _places(engine: Engine) -> tuple[Place, ...]:
    try:
        return await engine.places()
    except AiartsError:
        return ()  # away: what it has cannot be said, and the others' can


def report_of(asked: str, found: Whereabouts, lang: str) -> PathReport:
    """What was found, in the reader's words."""
    reasons = [
        ShownReason(code=one.code, message=reason_text(one.code, one.values, lang), write=one.write)
        for one in found.reasons
    ]
    views = [_shown(one, lang) for one in found.views]
    return PathReport(
        asked=asked, path=found.path, visible=found.visible, write=found.write, views=views, reasons=reasons
    )


def _shown(view: View, lang: str) -> ShownView:
    place = place_name(view.place.name, lang) if view.place is not None else None
    values = {"cluster": view.cluster, "path": view.path, "place": place}
    message = view_text(view.form, values, lang)
    return ShownView(
        where=view.where, cluster=view.cluster, path=view.path, visible=view.visible, place=place, message=message
    )
