"""All clusters in one answer: each engine is asked at once, and one that is away holds nobody up.

Apart from the service because only those who look at the machines need it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from jupyter_aiarts.engines.base import Engine
from jupyter_aiarts.errors import AiartsError
from jupyter_aiarts.explain import explain
from jupyter_aiarts.intake import engine_named
from jupyter_aiarts.model.cause import Cause
from jupyter_aiarts.model.cluster import ClusterPage, ClusterView, Glimpsed, together
from jupyter_aiarts.model.times import now


async def look_at(engines: Mapping[str, Engine], name: str | None, lang: str) -> ClusterPage:
    """The machines of the cluster that is named, which has to answer, or of all that do."""
    if name is not None:
        return page_of([await engine_named(name, engines).cluster()], lang)
    return page_of(await asyncio.gather(*map(_seen, engines.values())), lang)


async def _seen(engine: Engine) -> ClusterView:
    try:
        return await engine.cluster()
    except AiartsError as error:
        away = Cause(code=error.code, values={"since": engine.stale_since}, evidence=(str(error),))
        return ClusterView(cluster=engine.name, at=now(), unknown=(away,), stale_since=engine.stale_since)


def page_of(views: list[ClusterView], lang: str) -> ClusterPage:
    """The views of several clusters as one answer."""
    clusters = [
        Glimpsed(
            name=view.cluster,
            at=view.at,
            fits=view.fits,
            unknown=[explain(cause, lang) for cause in view.unknown],
            stale_since=view.stale_since,
        )
        for view in views
    ]
    nodes = [node for view in views for node in view.nodes]
    stuck = [one for view in views for one in view.stuck]
    return ClusterPage(nodes=nodes, fits=together(view.fits for view in views), clusters=clusters, stuck=stuck)
