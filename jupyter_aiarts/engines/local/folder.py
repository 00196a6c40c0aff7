"""The state folder: the truth about local jobs, and the only code that writes it.

Everything is written to a temporary name and renamed, so a reader sees the old file or the new one. Names read from
the folder are checked and links are not followed: whoever shares the disk may have put anything there.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import os
import re
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from jupyter_aiarts.engines.local.records import SCHEMA, JobFile, Settings
from jupyter_aiarts.errors import JobNotFound, JobUnreadable, StateUnusable
from jupyter_aiarts.model.names import ID_PATTERN

T = TypeVar("T")
LARGEST_FILE = 16 << 20
_ID = re.compile(ID_PATTERN)


def default_state_folder() -> Path:
    """`AIARTS_STATE_DIR`, else `aiarts` in Jupyter's data folder; the same answer for every door."""
    chosen = os.environ.get("AIARTS_STATE_DIR")
    if chosen:
        return Path(chosen).expanduser()
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "aiarts"


@functools.cache
def this_host() -> str:
    """The name that tells this machine's jobs from those of another one on the same disk."""
    return socket.gethostname()


class JobFolder:
    """Paths and locked changes of one job."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.job_file = root / "job.json"
        self.secrets_file = root / "secrets.json"

    def run(self, number: int) -> Path:
        return self.root / "runs" / str(number)

    def runs(self) -> list[int]:
        """The runs this job has had, oldest first."""
        try:
            names = os.listdir(self.root / "runs")
        except FileNotFoundError:
            return []
        return sorted(int(name) for name in names if name.isascii() and name.isdecimal())

    def read(self) -> JobFile:
        """job.json, or `JobNotFound` / `JobUnreadable`."""
        job = read_file(self.job_file, JobFile)
        if job is None:
            raise JobNotFound(f"There is no job {self.root.name} here.", "List the jobs with `aiarts jobs`.")
        if job.id != self.root.name:
            raise JobUnreadable(f"{self.job_file} speaks of job {job.id}.", "Was the folder copied by hand?")
        return job

    @contextlib.contextmanager
    def locked(self) -> Iterator[JobFile]:
        """The job as it is while nobody else can change it."""
        try:
            handle = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:
            raise JobNotFound(f"There is no job {self.root.name} here.") from None
        except OSError as error:
            raise unusable(error, self.root) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield self.read()
        finally:
            os.close(handle)

    def write(self, job: JobFile) -> JobFile:
        """Replace job.json; the caller holds the lock."""
        write_file(self.job_file, job)
        return job


class StateFolder:
    """One state folder, checked when opened: its owner, its mode and the version it was written by."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.jobs = root / "jobs"
        self.active = root / "active"
        self.trash = root / "trash"

    @classmethod
    def open(cls, root: Path) -> StateFolder:
        """Make or check the folder; raises `StateUnusable` with the reason and the cure."""
        root = Path(os.path.realpath(root))
        folder = cls(root)
        try:
            for path in (root, folder.jobs, folder.active, folder.trash):
                path.mkdir(mode=0o700, parents=path is root, exist_ok=True)
        except OSError as error:
            raise unusable(error, root) from error
        check_owner(root)
        folder._check_version()
        return folder

    def _check_version(self) -> None:
        path = self.root / "version"
        try:
            found = path.read_bytes().decode(errors="replace").strip()
        except FileNotFoundError:
            write_bytes(path, f"{SCHEMA}\n".encode())
            return
        except OSError as error:
            raise StateUnusable(f"{path} cannot be read: {error}.") from error
        if found != str(SCHEMA):
            raise StateUnusable(
                f"{self.root} was written in version {found[:20]!r} of the folder's form; this is version {SCHEMA}.",
                "Use the jupyter_aiarts that wrote it, or choose another folder by AIARTS_STATE_DIR.",
            )

    def job(self, job_id: str) -> JobFolder:
        return JobFolder(self.jobs / job_id)

    def job_ids(self) -> set[str]:
        return {name for name in os.listdir(self.jobs) if _ID.fullmatch(name)}

    def active_ids(self) -> set[str]:
        """Jobs that are not settled; a crash may leave one too many, never one too few."""
        return {name for name in os.listdir(self.active) if _ID.fullmatch(name)}

    def is_active(self, job_id: str) -> bool:
        return (self.active / job_id).exists()

    def mark_active(self, job_id: str) -> None:
        """Called before the change that unsettles a job, so that a crash leaves a needless mark, not a lost job."""
        write_bytes(self.active / job_id, b"")

    def unmark_active(self, job_id: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            (self.active / job_id).unlink()

    def draft(self) -> Path:
        """An empty folder to prepare a job in; `adopt` gives it its name in one step."""
        path = self.jobs / f".new-{os.urandom(8).hex()}"
        make_folder(path)
        return path

    def adopt(self, draft: Path, job_id: str) -> bool:
        """Make the draft the job of this id; False when that job is there already."""
        self.mark_active(job_id)
        try:
            draft.rename(self.jobs / job_id)
        except OSError as error:
            shutil.rmtree(draft, ignore_errors=True)
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise unusable(error, self.root) from error
        return True

    def remove(self, job_id: str) -> None:
        """Take a job out of the list in one step, then give its disk back."""
        grave = self.trash / f"{job_id}-{os.urandom(4).hex()}"
        try:
            (self.jobs / job_id).rename(grave)
        except FileNotFoundError:
            raise JobNotFound(f"There is no job {job_id} here.") from None
        except OSError as error:
            raise unusable(error, self.root) from error
        self.unmark_active(job_id)
        shutil.rmtree(grave, ignore_errors=True)

    def sweep(self) -> None:
        """Finish removals that a crash interrupted; called by a supervisor that starts."""
        for name in os.listdir(self.trash):
            shutil.rmtree(self.trash / name, ignore_errors=True)

    def settings(self) -> Settings:
        return read_file(self.root / "settings.json", Settings) or Settings()

    def record_settings(self, settings: Settings) -> None:
        """Keep the server's configuration for supervisor and command line; written only when it differs."""
        if self.settings() != settings:
            write_file(self.root / "settings.json", settings)


def make_folder(path: Path) -> None:
    """A folder for us alone; raises `StateUnusable`."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise unusable(error, path.parent) from error


def check_owner(root: Path) -> None:
    """Refuse a folder that somebody else owns or may write: they could plant jobs that run as us."""
    found = root.stat()
    if found.st_uid != os.geteuid():
        raise StateUnusable(
            f"{root} belongs to user id {found.st_uid}, and you are {os.geteuid()}.",
            "Choose a folder of your own by AIARTS_STATE_DIR or AiartsApp.state_dir.",
        )
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise StateUnusable(f"{root} can be written by other users.", f"Run `chmod 700 {root}`.")


def unusable(error: OSError, path: Path) -> StateUnusable:
    """The sentence for a folder that refuses a write: full, read-only, forbidden or gone."""
    hints = {
        errno.ENOSPC: "Free some space there, or choose another folder by AIARTS_STATE_DIR.",
        errno.EDQUOT: "Your quota on that disk is used up: free some space.",
        errno.EROFS: "That disk is mounted read-only: choose another folder by AIARTS_STATE_DIR.",
        errno.EACCES: "You may not write there: choose another folder by AIARTS_STATE_DIR.",
    }
    why = os.strerror(error.errno) if error.errno else str(error)
    hint = hints.get(error.errno or 0, "Nothing was changed; try again, or look at the disk.")
    return StateUnusable(f"The state folder {path} cannot be written: {why}.", hint)


def write_file(path: Path, content: Any) -> None:
    """Encode and write by rename."""
    write_bytes(path, msgspec.json.encode(content))


def write_bytes(path: Path, content: bytes) -> None:
    """Write by rename with mode 0600; raises `StateUnusable`, leaving the old file as it was."""
    draft = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            draft.rename(path)
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        raise unusable(error, path.parent) from error


def read_file(path: Path, kind: type[T]) -> T | None:
    """Decode one file; None when it is not there, `JobUnreadable` when it is something else than it should be."""
    content = read_bytes(path)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError, ValueError) as error:
        raise JobUnreadable(f"{path} cannot be understood: {error}.", "Restore the file, or delete the job.") from error


def read_bytes(path: Path) -> bytes | None:
    """The bytes of a plain file of bounded size; None when it is not there."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except OSError as error:
        raise JobUnreadable(f"{path} cannot be opened: {os.strerror(error.errno or 0)}.") from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
            raise JobUnreadable(f"{path} is not a file of ours.")
        return os.read(handle, found.st_size + 1)  # whole: files of ours are renamed into place, never written to
    except OSError as error:
        raise JobUnreadable(f"{path} cannot be read: {error}.") from error
    finally:
        os.close(handle)
