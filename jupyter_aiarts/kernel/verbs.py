"""What each verb does: from parsed options to an outcome. The command line prints outcomes, the magic
returns them.

Nothing here prints by itself: what must be seen while it happens (a followed log) goes through
`Session.write`.
"""

from __future__ import annotations

import argparse
from typing import Any, Callable, Dict, Optional, Union

from jupyter_aiarts.kernel import display, options, values
from jupyter_aiarts.kernel.api import Job, Jobs
from jupyter_aiarts.kernel.client import overlaid
from jupyter_aiarts.kernel.doctor import doctor
from jupyter_aiarts.kernel.env import env
from jupyter_aiarts.kernel.errors import WrongUsage
from jupyter_aiarts.kernel.following import logs, wait
from jupyter_aiarts.kernel.grammar import Command
from jupyter_aiarts.kernel.moving import delete, pause, release, rerun, resume, stop
from jupyter_aiarts.kernel.selection import filtered, words_of
from jupyter_aiarts.kernel.session import Outcome, Session
from jupyter_aiarts.kernel.shown import DryRun, Explanation, Said, SpecShown, Templates
from jupyter_aiarts.kernel.terminal import plain, table
from jupyter_aiarts.kernel.words import head


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
    if getattr(given, "kubectl", False):
        answer = session.client.try_out(spec, manifest=True)
        return Outcome(Said(answer["manifest"]), answer, answer["manifest"].rstrip())
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
    """List jobs, or with `--totals` what each user or queue holds and has used."""
    found = filtered(session, given, given.limit)
    if given.totals is not None:
        from jupyter_aiarts.kernel.totals import totals

        return totals(session, found, given.totals, given.days)
    shown = Jobs.of(session.client, found, words_of(given))
    return Outcome(shown, found, display.jobs_text(found, session.style))


def show(session: Session, given: argparse.Namespace) -> Outcome:
    """One job in full."""
    job = session.client.show(session.find(given.job))
    return Outcome(Job(session.client, job), job, display.job_text(job, session.style))


def explain(session: Session, given: argparse.Namespace) -> Outcome:
    """Why a job is as it is; `--fix` does something about it, `--list` shows all that can be said."""
    if given.list or given.fix is not None or given.values or given.dry_run:
        from jupyter_aiarts.kernel.fixing import fix_or_list

        return fix_or_list(session, given)
    if not given.job:
        raise WrongUsage("Which job?", "aiarts explain JOB, or aiarts explain --list")
    job = session.find(given.job)
    explanation = session.client.explain(job)
    text = display.explanation_text(explanation, session.style)
    if explanation.get("actions"):
        text += "\n" + session.style.paint(session.say("fix-how", id=job), "dim")
    return Outcome(Explanation(explanation, session.client, job), explanation, text)


def get(session: Session, given: argparse.Namespace) -> Outcome:
    """The workspaces one can submit to, for people who come from DLC."""
    found = [{"workspace_id": "default", "cluster": one["name"]} for one in session.client.health()["clusters"]]
    heads = [head(session.style.lang, "workspace"), head(session.style.lang, "cluster")]
    rows = [[one["workspace_id"], one["cluster"]] for one in found]
    text = table(heads, rows, session.style)
    return Outcome(Said(text), found, text)


# --- changing ---------------------------------------------------------------------------------------


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


def queues(session: Session, given: argparse.Namespace) -> Outcome:
    """Queues, or who passed whom in them; what shows them is loaded when somebody looks."""
    from jupyter_aiarts.kernel.queues import queues

    return queues(session, given)


def cluster(session: Session, given: argparse.Namespace) -> Outcome:
    """The machines behind the jobs; what shows them is loaded when somebody looks."""
    from jupyter_aiarts.kernel.cluster import cluster

    return cluster(session, given)


def kernels(session: Session, given: argparse.Namespace) -> Outcome:
    """Environments as kernels; what does it is loaded when somebody asks."""
    from jupyter_aiarts.kernel.kernels import kernels

    return kernels(session, given)


def usage(session: Session, given: argparse.Namespace) -> Outcome:
    """What this machine is doing; what shows it is loaded when somebody looks."""
    from jupyter_aiarts.kernel.usage import usage

    return usage(session, given)


def run_here(session: Session, given: argparse.Namespace) -> Outcome:
    """Processes right here; what starts them, and knows cards, is loaded when somebody does."""
    from jupyter_aiarts.kernel.run import run_here

    return run_here(session, given)


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
        cluster,
        queues,
        usage,
        kernels,
        templates,
        ranktable,
        doctor,
    )
}
VERBS["run"] = run_here  # `run` is what does them all
