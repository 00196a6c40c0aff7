"""The verbs of the REST interface as methods, for every door on the kernel's side.

Answers are the JSON of spec section 10 as dicts and lists; `api` wraps them in objects, `display` in words.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Set, Tuple, Union
from urllib.parse import unquote

from jupyter_aiarts.kernel.caller import caller_header
from jupyter_aiarts.kernel.errors import Ambiguous, BrokenOff, RequestFailed, Unreachable
from jupyter_aiarts.kernel.transport import Transport, segment

JobData = Dict[str, Any]
Line = Dict[str, Any]
Spec = Dict[str, Any]

JOB_ID = re.compile(r"[a-z][a-z0-9]{9}\Z")
MOVES = ("stop", "pause", "resume", "rerun", "release")
ENDED = frozenset({"succeeded", "failed", "lost", "stopped"})
SILENCE = 10.0  # seconds after which a broken stream counts as one that was merely quiet
RECONNECTS = 6  # 0.5, 1, 2, 4, 8, 8 s: a server that restarts is back by then


class Submitted(NamedTuple):
    """A job and whether this request made it; False when its `submission_id` was known."""

    job: JobData
    created: bool


class Client:
    """Asks one server, or the service in this process, about jobs; `job` is always a full id here.

    `resolve` turns what people type (an id prefix, a name) into that id. `lang` is `en` or `zh`, None lets
    the server choose. `python` runs the start files of local jobs; None is this process's own.
    """

    def __init__(self, transport: Transport, lang: Optional[str] = None, python: Optional[str] = None) -> None:
        self.transport = transport
        self.lang = lang
        self.python = python

    @property
    def where(self) -> str:
        """The address of who answers, for messages."""
        return self.transport.where

    def close(self) -> None:
        """Close connections; jobs go on."""
        self.transport.close()

    # --- making jobs ------------------------------------------------------------------------------

    def submit(self, spec: Union[Mapping[str, Any], str]) -> Submitted:
        """Submit a spec, an old platform's PostJob body, or the text of a DLC params file. A spec without a
        `submission_id` gets one, so that asking again after a lost answer can never make a second job."""
        body = self._prepared(spec)
        try:
            return self._post(body)
        except BrokenOff:
            if not isinstance(body, dict) or "submission_id" not in body:
                raise
            return self._post(body)

    def try_out(self, spec: Union[Mapping[str, Any], str], manifest: bool = False) -> Dict[str, Any]:
        """What submitting would do: `{spec, explanation, fits}`, and on request the `manifest` for `kubectl apply`;
        nothing is made."""
        body = spec if isinstance(spec, str) else self._with_folder(dict(spec))
        answer = self._ask(
            "POST", "jobs", {"dry_run": 1, **({"manifest": 1} if manifest else {})}, body, caller_header(self.python)
        )
        return dict(answer)

    def clone(self, job: str, changes: Optional[Mapping[str, Any]] = None) -> Submitted:
        """A new job from another's spec, overlaid with `changes`."""
        return self.submit(overlaid(self.spec_to_clone(job), changes or {}))

    def spec_to_clone(self, job: str) -> Spec:
        """A job's spec without what belongs to that one job alone."""
        spec = dict(self.show(job)["spec"])
        spec.pop("submission_id", None)
        return spec

    def _prepared(self, spec: Union[Mapping[str, Any], str]) -> Union[Spec, str]:
        if isinstance(spec, str):
            return spec
        body = self._with_folder(dict(spec))
        if "jobName" not in body and not body.get("submission_id"):
            body["submission_id"] = os.urandom(8).hex()
        return body

    def _with_folder(self, spec: Spec) -> Spec:
        """Relative paths mean this process's folder, unless the spec, its template or an old body says
        otherwise."""
        if "jobName" in spec or spec.get("workdir"):
            return spec
        if spec.get("template") and self._template_has_folder(str(spec["template"])):
            return spec
        spec["workdir"] = os.getcwd()
        return spec

    def _template_has_folder(self, name: str) -> bool:
        try:
            return bool(self.template(name)["spec"].get("workdir"))
        except RequestFailed:
            return False  # submitting names the template as the problem, together with all others

    def _post(self, body: Union[Spec, str]) -> Submitted:
        answer = self.transport.request("POST", "jobs", self._query({}), body, caller_header(self.python))
        return Submitted(answer.body, answer.status == 201)

    # --- looking ----------------------------------------------------------------------------------

    def jobs(
        self,
        phase: Optional[str] = None,
        q: Optional[str] = None,
        owner: Optional[str] = None,
        limit: Optional[int] = None,
        after: Optional[str] = None,
        mine: bool = False,
    ) -> List[JobData]:
        """Jobs, newest first, in the list's short shape; `mine` leaves out other people's on shared clusters."""
        query = {"phase": phase, "q": q, "owner": owner, "limit": limit, "after": after, "mine": int(mine) or None}
        return list(self._ask("GET", "jobs", query))

    def show(self, job: str) -> JobData:
        """One job with its whole spec, explanation and ranks."""
        return dict(self._ask("GET", _path(job)))

    def explain(self, job: str) -> Dict[str, Any]:
        """Why the job is as it is."""
        return dict(self._ask("GET", _path(job, "explain")))

    def fix(
        self, job: str, action: str, dry_run: bool = False, values: Optional[Mapping[str, Any]] = None
    ) -> Dict[str, Any]:
        """Carry out an action of the job's explanation: `{action, kind, changes, move, command, done, job}`.

        With `dry_run` nothing is changed; `values` are keys that the action asks for."""
        body = {"fix": action, "dry_run": dry_run, "values": dict(values or {})}
        return dict(self._ask("POST", _path(job, "explain"), None, body))

    def explanations(self) -> List[Dict[str, Any]]:
        """All that an explanation can say, by family."""
        return list(self._ask("GET", "explanations"))

    def env(self, job: str, run: Optional[int] = None, rank: int = 0) -> Dict[str, Optional[str]]:
        """A rank's variables; secrets are None."""
        return dict(self._ask("GET", _path(job, "env"), {"run": run, "rank": rank}))

    def events(self, job: str, run: Optional[int] = None) -> List[Dict[str, Any]]:
        """What the platform did for a run, oldest first."""
        return list(self._ask("GET", _path(job, "events"), {"run": run}))

    def queues(self, cluster: Optional[str] = None) -> List[Dict[str, Any]]:
        """Queues, what is used of them and where one's own jobs stand, of one cluster or of all."""
        return list(self._ask("GET", "queues", {"cluster": cluster}))

    def order(self, job: Optional[str] = None) -> List[Dict[str, Any]]:
        """Starts before jobs that had come earlier, newest first; with a job only what is about it."""
        return list(self._ask("GET", "queues/order", {"job": job}))

    def places(
        self, path: Optional[str] = None, cluster: Optional[str] = None, job: Optional[str] = None
    ) -> Dict[str, Any]:
        """The path map, and where one path is in it; a relative one is meant from this process's folder."""
        query = {"path": path, "folder": os.getcwd(), "cluster": cluster, "job": job}
        return dict(self._ask("GET", "places", query))

    def health(self) -> Dict[str, Any]:
        """Version and clusters of the server."""
        return dict(self._ask("GET", "health"))

    def usage(self, history: Optional[int] = None) -> Dict[str, Any]:
        """What the server's machine and its cards are doing, and, if asked for, did in the last so many seconds."""
        return dict(self._ask("GET", "usage", {"history": history}))

    def filling(self, folder: str, seconds: Optional[int] = None) -> Dict[str, Any]:
        """What takes the room below a folder of the server's machine, counted for at most so many seconds."""
        return dict(self._ask("GET", "usage/disk", {"path": folder, "seconds": seconds}))

    def job_usage(self, job: str, run: Optional[int] = None, history: bool = False) -> Dict[str, Any]:
        """What the cards and ranks of a job do, or did, node by node; with `history` since the run began."""
        return dict(self._ask("GET", _path(job, "usage"), {"run": run, "history": 1 if history else None}))

    # --- environments as kernels --------------------------------------------------------------------

    def kernels(self) -> List[Dict[str, Any]]:
        """Environments of the server's machine, the kernels that stand for them, and what is wrong with them."""
        return list(self._ask("GET", "kernels"))

    def register_kernel(self, which: str, scope: str = "global") -> Dict[str, Any]:
        """Make a kernel of an environment, for everybody (`global`) or for oneself (`user`)."""
        return dict(self._ask("POST", "kernels/register", body={"which": _from_here(which), "scope": scope}))

    def unregister_kernel(self, which: str) -> Dict[str, Any]:
        """Remove a kernel that was registered here."""
        return dict(self._ask("POST", "kernels/unregister", body={"which": _from_here(which)}))

    def examine_kernel(self, which: str) -> Dict[str, Any]:
        """One kernel, with what its own Python has to say."""
        return dict(self._ask("POST", "kernels/doctor", body={"which": _from_here(which)}))

    def kernel_size(self, which: str) -> Dict[str, Any]:
        """How much disk an environment takes; every file of it is looked at."""
        return dict(self._ask("POST", "kernels/size", body={"which": _from_here(which)}))

    def repair_kernel(self, which: str) -> Iterator[Dict[str, Any]]:
        """Do what can be done about a kernel, line by line."""
        return self.transport.stream("kernels/repair", self._query({}), {"which": _from_here(which)})

    def cluster(self, name: Optional[str] = None) -> Dict[str, Any]:
        """Machines, their cards, who holds them and what fits now, of one cluster or of all."""
        return dict(self._ask("GET", "cluster", {"cluster": name}))

    # --- logs -------------------------------------------------------------------------------------

    def logs(
        self,
        job: str,
        rank: Optional[int] = None,
        run: Optional[int] = None,
        grep: Optional[str] = None,
        tail: Optional[int] = None,
        fold: bool = False,
    ) -> Tuple[List[Line], Optional[str]]:
        """The last lines (1,000 unless `tail` says otherwise); with none, the sentence that says why. `fold`: runs
        of lines alike come as their last one."""
        query = self._query({"rank": rank, "run": run, "grep": grep, "tail": tail, "fold": 1 if fold else None})
        answer = self.transport.request("GET", _path(job, "logs"), query)
        said = answer.headers.get("x-aiarts-no-log")
        return list(answer.body), unquote(said) if said else None

    def npu_log(
        self, job: str, rank: Optional[int] = None, run: Optional[int] = None, tail: Optional[int] = None
    ) -> Tuple[List[Line], Optional[str]]:
        """Errors that the NPU driver logged about the job's cards, and the sentence about what is missing."""
        query = self._query({"source": "npu", "rank": rank, "run": run, "tail": tail})
        answer = self.transport.request("GET", _path(job, "logs"), query)
        said = answer.headers.get("x-aiarts-no-log")
        return list(answer.body), unquote(said) if said else None

    def follow(
        self,
        job: str,
        rank: Optional[int] = None,
        run: Optional[int] = None,
        grep: Optional[str] = None,
        tail: Optional[int] = None,
        after: Optional[str] = None,
        fold: bool = False,
    ) -> Iterator[Line]:
        """Lines as they are written, until the run has ended. A connection that breaks is made again after
        the last line seen, so nothing is missed or told twice; a server that stays away raises
        `Unreachable`."""
        query = self._query({"follow": 1, "rank": rank, "run": run, "grep": grep, "tail": tail, "after": after})
        query = {**query, "fold": 1} if fold else query
        failures = 0
        while True:
            began = time.monotonic()
            try:
                for line in self.transport.stream(_path(job, "logs"), query):
                    failures = 0
                    if line.get("seq"):
                        query = {**query, "after": line["seq"], "tail": None}
                    yield line
                return
            except Unreachable as error:
                if isinstance(error, BrokenOff) and time.monotonic() - began > SILENCE:
                    failures = 0  # it was open all the time and nothing was written
                if failures == RECONNECTS:
                    raise
                time.sleep(min(8.0, 0.5 * 2**failures))
                failures += 1

    # --- moving -----------------------------------------------------------------------------------

    def act(self, job: str, move: str) -> JobData:
        """One of `MOVES`; answers with the job as it is then."""
        return dict(self._ask("POST", _path(job, move)))

    def stop(self, job: str) -> JobData:
        """Ask the job to end; it is kept."""
        return self.act(job, "stop")

    def pause(self, job: str) -> JobData:
        """Give the job's devices back until `resume`."""
        return self.act(job, "pause")

    def resume(self, job: str) -> JobData:
        """Queue a paused job again."""
        return self.act(job, "resume")

    def rerun(self, job: str) -> JobData:
        """Run an ended job once more, as its next run."""
        return self.act(job, "rerun")

    def release(self, job: str) -> JobData:
        """Give up on pods that a dead node holds, so that the job can go on elsewhere."""
        return self.act(job, "release")

    def edit(self, job: str, patch: Mapping[str, Any]) -> JobData:
        """Merge `patch` into the spec that the next run uses."""
        return dict(self._ask("PATCH", _path(job), None, dict(patch)))

    def delete(self, job: str) -> Optional[str]:
        """Remove the job with all its runs and logs; the sentence about what could not be removed, if any."""
        stayed = self.transport.request("DELETE", _path(job), self._query({})).headers.get("x-aiarts-left")
        return unquote(stayed) if stayed else None

    # --- templates --------------------------------------------------------------------------------

    def templates(self) -> List[Dict[str, Any]]:
        """Saved templates and presets."""
        return list(self._ask("GET", "templates"))

    def template(self, name: str) -> Dict[str, Any]:
        """One template: `{name, spec, preset, description}`."""
        return dict(self._ask("GET", "templates/" + segment(name)))

    def save_template(self, name: str, spec: Mapping[str, Any], description: str = "") -> None:
        """Save a template under this name, replacing an earlier one."""
        self._ask("PUT", "templates/" + segment(name), None, {"spec": dict(spec), "description": description})

    def delete_template(self, name: str) -> None:
        """Remove a saved template; presets stay."""
        self._ask("DELETE", "templates/" + segment(name))

    # --- names ------------------------------------------------------------------------------------

    def resolve(self, text: str) -> str:
        """The id that an id, an unambiguous name or an unambiguous id prefix means, tried in this order."""
        if JOB_ID.match(text) and self._exists(text):
            return text
        known = self.jobs() if text else []
        found = [job for job in known if job["name"] == text]
        found = found or [job for job in known if job["id"].startswith(text)]
        if not found:
            hint = "`aiarts jobs --all-users` lists what there is."
            raise RequestFailed(404, "job-not-found", f"No job has the id or name {text!r}.", hint)
        if len(found) > 1:
            raise Ambiguous(text, found)
        return str(found[0]["id"])

    def _exists(self, job: str) -> bool:
        try:
            self.show(job)
        except RequestFailed as error:
            if error.status != 404:
                raise
            return False
        return True

    def _ask(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        return self.transport.request(method, path, self._query(query or {}), body, headers).body

    def _query(self, query: Mapping[str, Any]) -> Dict[str, Any]:
        return {**query, "lang": self.lang}


_SHARE = {"nodes", "device", "devices"}
_LEAVES: Dict[str, Set[str]] = {
    "kind": {"nodes"},
    "nodes": {"kind"},
    "devices": {"device"},
    "cpu": _SHARE,
    "memory_gb": _SHARE | {"cpu"},
    "shm_gb": _SHARE | {"cpu", "memory_gb"},
    "framework": {"script", "command"},
    "script": {"command"},
    "args": {"command"},
    "params": {"command"},
    "command": {"script", "args", "params"},
}
"""Which keys of a spec give way to a change of which others, unless they are changed themselves."""


def overlaid(spec: Mapping[str, Any], changes: Mapping[str, Any]) -> Spec:
    """`spec` with the keys of `changes`, which win: maps take the new entries in, None takes a key away.

    Not a merge patch: inside `params` a null is a value (`--key` alone). What a change contradicts goes with it: the
    kind with other nodes, the share of the machine with other cards, the start file with a command.
    """
    result = {key: value for key, value in spec.items() if key in changes or not _LEAVES.get(key, set()) & set(changes)}
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = {**result[key], **value}
        else:
            result[key] = value
    return result


def _path(job: str, noun: Optional[str] = None) -> str:
    return "jobs/" + segment(job) + ("/" + noun if noun else "")


def _from_here(which: str) -> str:
    """A folder as whoever names it means it: the server has another folder, where there may be one of the same name."""
    if "/" in which or which in (".", ".."):
        return os.path.abspath(os.path.expanduser(which))
    return which
