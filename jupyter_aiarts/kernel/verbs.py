"""What each verb does: from parsed options to an outcome. The command line prints outcomes, the magic
returns them.

Nothing here prints by itself: what must be seen while it happens (a followed log) goes through
`Session.write`.
"""

from __future__ import annotations

import argparse
from typing import Any, Callable, Dict, List, Optional, Union

from jupyter_aiarts.kernel import display, options, values
from jupyter_aiarts.kernel.api import Job, Jobs
from jupyter_aiarts.kernel.client import JobData, overlaid
from jupyter_aiarts.kernel.doctor import doctor
from jupyter_aiarts.kernel.env import env
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.following import logs, wait
from jupyter_aiarts.kernel.grammar import Command
from jupyter_aiarts.kernel.run import run_here
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import DryRun, Explanation, Said, SpecShown, Templates
from jupyter_aiarts.kernel.terminal import plain, table
from jupyter_aiarts.kernel.words import head, phase_word


def run(session: Session, command: Command) -> Outcome:
    """Do it; raises a `ClientError` when it cannot be done."""
    return VERBS[command.verb](session, command.options)


# --- making jobs ----------------------------------------------------------------------------------


def spec_from(given: argparse.Namespace) -> Dict[str, Any]:
    """The spec of a command: the file's keys, then the options', then the start file and its arguments."""
    spec: Dict[str, Any] = values.read_spec(given.file) if given.file else {}
    keys = options.keys_given(given)
    if getattr(given, "start", None):
        if "script" in keys:
            raise WrongUsage("The start file is given twice: as an argument and as --script.")
        keys["script"] = given.start
    if given.after_dashes is not None:
        keys["args"] = [*keys.get("args", []), *given.after_dashes]
    if "jobName" in spec and keys:
        raise WrongUsage(f"{given.file} is a PostJob body, which takes no options beside it.", "Change the file.")
    return overlaid(spec, keys)


def submit(session: Session, given: argparse.Namespace) -> Outcome:
    """Submit what the options, the file and the arguments say."""
    spec = spec_from(given)
    if not spec:
        raise WrongUsage(
            "There is nothing to submit.", "aiarts submit train.py, or --command LINE, or --file SPEC.yaml"
        )
    return submit_spec(session, spec, given)


def create(session: Session, given: argparse.Namespace) -> Outcome:
    """Submit a DLC params file as it is; the server maps its keys."""
    return submit_spec(session, values.read_text(given.params_file), given)


def clone(session: Session, given: argparse.Namespace) -> Outcome:
    """Submit another job's spec with changes."""
    spec = overlaid(session.client.spec_to_clone(session.find(given.job)), spec_from(given))
    hidden = [name for name, value in (spec.get("secret_env") or {}).items() if value is None]
    if hidden:
        flags = " ".join(f"--secret-env {name}" for name in hidden)
        raise WrongUsage(
            f"The values of {', '.join(hidden)} are secret and cannot be copied.", f"Give them again: {flags}"
        )
    return submit_spec(session, spec, given)


def submit_spec(session: Session, spec: Union[Dict[str, Any], str], given: argparse.Namespace) -> Outcome:
    """Submit or try out; with `--wait` follow to the end. Also called by the cell magic."""
    if given.variable and not session.notebook:
        raise WrongUsage("--as puts a job into a notebook's variable.", "In a shell: id=$(aiarts submit … --json)")
    if given.dry_run:
        answer = session.client.try_out(spec)
        return Outcome(DryRun(answer), answer, display.dry_run_text(answer, session.style))
    job, created = session.client.submit(spec)
    said = display.submitted_text(job, created, session.style)
    if not given.wait:
        return Outcome(Job(session.client, job), job, said)
    if not given.json:
        session.notice(said)
    return wait(session, job, quiet=given.json)


# --- looking --------------------------------------------------------------------------------------


def jobs(session: Session, given: argparse.Namespace) -> Outcome:
    """List jobs."""
    found = session.client.jobs(phase=given.phase, q=given.q, mine=not given.all_users, limit=given.limit)
    return Outcome(Jobs(Job(session.client, job) for job in found), found, display.jobs_text(found, session.style))


def show(session: Session, given: argparse.Namespace) -> Outcome:
    """One job in full."""
    job = session.client.show(session.find(given.job))
    return Outcome(Job(session.client, job), job, display.job_text(job, session.style))


def explain(session: Session, given: argparse.Namespace) -> Outcome:
    """Why a job is as it is."""
    explanation = session.client.explain(session.find(given.job))
    return Outcome(Explanation(explanation), explanation, display.explanation_text(explanation, session.style))


def get(session: Session, given: argparse.Namespace) -> Outcome:
    """The workspaces one can submit to, for people who come from DLC."""
    found = [{"workspace_id": "default", "cluster": one["name"]} for one in session.client.health()["clusters"]]
    heads = [head(session.style.lang, "workspace"), head(session.style.lang, "cluster")]
    rows = [[one["workspace_id"], one["cluster"]] for one in found]
    text = table(heads, rows, session.style)
    return Outcome(Said(text), found, text)


# --- moving ---------------------------------------------------------------------------------------


def _move(session: Session, given: argparse.Namespace, move: str) -> Outcome:
    moved = [session.client.act(job, move) for job in _all_found(session, given)]
    text = "\n".join(display.moved_text(job, move, session.style) for job in moved)
    return _some(session, moved, text)


def _all_found(session: Session, given: argparse.Namespace) -> List[str]:
    """Every id before the first move, so that a mistyped name changes nothing."""
    return list(dict.fromkeys(session.find(text) for text in given.jobs))


def _some(session: Session, found: List[JobData], text: str, status: int = 0) -> Outcome:
    """One job as itself, several as a list."""
    objects = Jobs(Job(session.client, job) for job in found)
    return Outcome(objects[0] if len(objects) == 1 else objects, found[0] if len(found) == 1 else found, text, status)


def stop(session: Session, given: argparse.Namespace) -> Outcome:
    """End jobs."""
    return _move(session, given, "stop")


def pause(session: Session, given: argparse.Namespace) -> Outcome:
    """Give devices back."""
    return _move(session, given, "pause")


def resume(session: Session, given: argparse.Namespace) -> Outcome:
    """Queue paused jobs again."""
    return _move(session, given, "resume")


def release(session: Session, given: argparse.Namespace) -> Outcome:
    """Give up on pods that a dead node holds."""
    return _move(session, given, "release")


def rerun(session: Session, given: argparse.Namespace) -> Outcome:
    """Run ended jobs again; `--wait` follows one."""
    if given.wait and len(given.jobs) > 1:
        raise WrongUsage("--wait follows one job.", "Rerun them without --wait, then follow one with aiarts logs -f.")
    outcome = _move(session, given, "rerun")
    if not given.wait:
        return outcome
    if not given.json:
        session.notice(outcome.text)
    return wait(session, outcome.data, quiet=given.json)


def edit(session: Session, given: argparse.Namespace) -> Outcome:
    """Change keys of a spec by a merge patch."""
    patch = spec_from(given)
    bare = [name for name, value in patch.get("params", {}).items() if value is None]
    if bare:
        # In a merge patch null takes a key away, so it cannot also mean `--key` alone.
        raise WrongUsage(
            f"A parameter without a value cannot be set by edit: {', '.join(bare)}.",
            f"Use clone, or take it away with params.{bare[0]}:=null.",
        )
    patch = merged_patches(patch, options.patch(given.changes))
    if not patch:
        raise WrongUsage("Nothing to change was given.", "aiarts edit JOB devices=4, or any option of submit")
    job = session.client.edit(session.find(given.job), patch)
    text = session.say("edited", name=plain(job["name"]), id=job["id"]) + ": " + session.say("edited-next")
    notes = "".join("\n" + plain(note) for note in job.get("notes") or ())
    return Outcome(Job(session.client, job), job, text + notes)


def merged_patches(first: Dict[str, Any], second: Dict[str, Any]) -> Dict[str, Any]:
    """Two merge patches as one; the second wins."""
    both = dict(first)
    for key, value in second.items():
        known = both.get(key)
        both[key] = {**known, **value} if isinstance(known, dict) and isinstance(value, dict) else value
    return both


def delete(session: Session, given: argparse.Namespace) -> Outcome:
    """Remove jobs, after asking about each one."""
    if not given.yes and session.ask is None:
        raise WrongUsage("Deleting cannot be undone, and nobody can be asked here.", "Add --yes.")
    found = [session.client.show(job) for job in _all_found(session, given)]
    gone = [job for job in found if given.yes or _agreed(session, job)]
    for job in gone:
        session.client.delete(job["id"])
    text = "\n".join(session.say("deleted", name=plain(job["name"]), id=job["id"]) for job in gone)
    return Outcome(
        Said(text or session.say("kept")),
        {"deleted": [job["id"] for job in gone]},
        text or session.say("kept"),
    )


def _agreed(session: Session, job: JobData) -> bool:
    question = "delete-stops?" if job["phase"] in ("starting", "running") else "delete?"
    known = {
        "name": plain(job["name"]),
        "id": job["id"],
        "phase": phase_word(session.style.lang, job["phase"]),
    }
    return session.ask is not None and session.ask(session.say(question, **known))


# --- templates and checks -------------------------------------------------------------------------


def templates(session: Session, given: argparse.Namespace) -> Outcome:
    """List, show, save or delete templates."""
    if given.action == "list":
        found = session.client.templates()
        return Outcome(Templates(found), found, display.templates_text(found, session.style))
    if not given.template_name:
        raise WrongUsage(f"Which template? `templates {given.action}` needs a name.", "aiarts templates lists them.")
    return _one_template(session, given, given.template_name)


def _one_template(session: Session, given: argparse.Namespace, name: str) -> Outcome:
    if given.action == "show":
        found = session.client.template(name)
        return Outcome(SpecShown(found["spec"]), found, display.spec_text(found["spec"]))
    if given.action == "delete":
        session.client.delete_template(name)
        text = session.say("template-deleted", name=plain(name))
        return Outcome(Said(text), {"deleted": name}, text)
    spec = overlaid(_spec_of(session, given.source), spec_from(given))
    if not spec:
        raise WrongUsage(
            "A template needs keys.",
            "aiarts templates save NAME --from JOB, or --devices 2 …, or --file SPEC",
        )
    session.client.save_template(name, spec, given.description)
    text = session.say("template-saved", name=plain(name))
    return Outcome(Said(text), {"name": name, "spec": spec, "description": given.description}, text)


def _spec_of(session: Session, job: Optional[str]) -> Dict[str, Any]:
    """A job's spec without what a template never holds."""
    spec = session.client.spec_to_clone(session.find(job)) if job else {}
    return {key: value for key, value in spec.items() if key not in ("secret_env", "template") and value is not None}


def ranktable(session: Session, given: argparse.Namespace) -> Outcome:
    """A rank table for the cards seen here; what makes it is loaded when somebody has cards."""
    from jupyter_aiarts.kernel.ranktable import ranktable

    return ranktable(session, given)


VERBS: Dict[str, Callable[[Session, argparse.Namespace], Outcome]] = {
    one.__name__: one
    for one in (
        submit,
        create,
        get,
        jobs,
        show,
        explain,
        logs,
        stop,
        pause,
        resume,
        release,
        rerun,
        clone,
        edit,
        delete,
        env,
        templates,
        ranktable,
        doctor,
    )
}
VERBS["run"] = run_here  # `run` is what does them all
