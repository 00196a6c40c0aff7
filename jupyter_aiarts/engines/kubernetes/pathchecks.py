"""What the path map says about the paths of a spec before it is submitted: refused where a file surely is not there,
else a note with what to write instead. Looks at files and blocks: called in a thread (`checks.prepare`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from jupyter_aiarts.engines.kubernetes.code import Shipment
from jupyter_aiarts.engines.kubernetes.places import mount_table, places_of
from jupyter_aiarts.engines.kubernetes.settings import ClusterSettings
from jupyter_aiarts.engines.kubernetes.storage import Person
from jupyter_aiarts.engines.lookup import look, names
from jupyter_aiarts.model.places import Place
from jupyter_aiarts.model.spec import JobSpec
from jupyter_aiarts.model.whereabouts import Question, Whereabouts, judge


def path_findings(
    spec: JobSpec, shipment: Shipment, settings: ClusterSettings, person: Person
) -> tuple[list[dict[str, str]], list[str]]:
    """Problems and notes about the start file and the data that a job names by whole paths."""
    wanted = {
        key: path for key in ("data_path", "output_path") if (path := getattr(spec, key)) and path.startswith("/")
    }
    start = spec.script if shipment.kind == "none" and os.path.isabs(os.path.expanduser(spec.script or "")) else None
    if not wanted and start is None:
        return [], []
    places = places_of(settings, person, spec, mount_table())
    problems = start_problems(start, spec, places) if start is not None else []
    return problems, [note for key, path in wanted.items() for note in data_notes(key, path, places)]


def start_problems(script: str, spec: JobSpec, places: Sequence[Place]) -> list[dict[str, str]]:
    """A start file that is not on this server and not in the pod's storage either, as far as that is seen from here.

    One that no mount covers may be in the image, which nobody here can look into.
    """
    found = _asked(script, spec.workdir or "/", places)
    [view] = [one for one in found.views if one.where == "pod"]
    if view.form == "pod-missing" and view.place is not None:
        message = f"The start file {found.path} is not there: in the pod that is {view.place.here} of this server"
        return [{"key": "script", "message": f"{message}.{_advice(found, script)}"}]
    other = [one for one in found.reasons if one.code.startswith(("other-side", "space", "invisible"))]
    if other and found.write is not None:
        message = f"The start file {script!r} is called otherwise in the pod."
        return [{"key": "script", "message": f"{message} Write {found.write}."}]
    return []


def data_notes(key: str, path: str, places: Sequence[Place]) -> list[str]:
    """A path that is right on this server and wrong in the pod."""
    found = _asked(path, "/", places)
    [view] = [one for one in found.views if one.where == "pod"]
    if view.visible is False and view.form == "pod-missing" and key == "output_path":
        return []  # it is made when the job starts
    if found.write is not None and found.write != path:
        return [f"{key} {path} is {found.write} in the pod: write that."]
    if view.form == "pod-missing":
        return [f"{key} {path} is not there in the storage that the pod has at that place."]
    if view.form == "pod-none" and look(path):
        return [f"{key} {path} is on this server, and no mount of the job has it: aiarts doctor path {path}"]
    return []


def _asked(path: str, folder: str, places: Sequence[Place]) -> Whereabouts:
    home = os.path.expanduser("~")
    return judge(Question(text=path, folder=folder, home=home, cluster=places[0].cluster), places, look, names)


def _advice(found: Whereabouts, script: str) -> str:
    return f" Did you mean {found.write}?" if found.write and found.write != script else ""
