"""Code that was shipped with a job, from its zip into a folder of the pod. What looks like a trick is refused."""

import os
import stat
import zipfile
import zlib
from typing import IO, List

from .octets import to_bytes
from .problem import Problem, Refused, from_oserror

MOST_BYTES = 50 * 1024 * 1024
MOST_FILES = 10000
_PIECE = 1024 * 1024


def unpack(archive: str, folder: str) -> List[str]:
    """Write the files of `archive` below `folder`: their names. Raises `Refused`, before or while writing."""
    try:
        with zipfile.ZipFile(archive) as source:
            entries = source.infolist()
            _check(entries)
            _Budget(MOST_BYTES).write(source, entries, folder)
            return [entry.filename for entry in entries]
    except OSError as error:
        raise Refused(from_oserror(error, "unpack the job's code")) from error
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError, EOFError, zlib.error) as error:
        raise _refused(f"it is no zip that can be read ({error})") from error


def _check(entries: List[zipfile.ZipInfo]) -> None:
    if len(entries) > MOST_FILES:
        raise _refused(f"it holds {len(entries)} files, more than {MOST_FILES}")
    for entry in entries:
        name = entry.filename
        if name.startswith("/") or "\\" in name or ".." in name.split("/") or not name.strip("/"):
            raise _refused(f"it holds a file outside its folder: {name!r}")
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _refused(f"it holds something that is neither a file nor a folder: {name!r}")


class _Budget:
    """Bytes that may still be written: what the zip says of its sizes is not believed."""

    def __init__(self, left: int) -> None:
        self._left = left

    def write(self, source: zipfile.ZipFile, entries: List[zipfile.ZipInfo], folder: str) -> None:
        """Write every file, until one byte too many comes."""
        os.makedirs(folder, 0o755, exist_ok=True)
        for entry in entries:
            path = to_bytes(os.path.join(folder, entry.filename))  # whatever the locale
            if entry.filename.endswith("/"):
                os.makedirs(path, 0o755, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(path), 0o755, exist_ok=True)
            with source.open(entry) as content, open(path, "wb") as file:
                self._copy(content, file)
            os.chmod(path, 0o755 if entry.external_attr >> 16 & 0o111 else 0o644)

    def _copy(self, content: IO[bytes], file: IO[bytes]) -> None:
        while True:
            piece = content.read(_PIECE)
            if not piece:
                return
            self._left -= len(piece)
            if self._left < 0:
                raise _refused(f"it holds more than {MOST_BYTES // 1024 // 1024} MB")
            file.write(piece)


def _refused(why: str) -> Refused:
    hint = "put the code on a mount that the pod has, or ship less of it"
    return Refused(Problem("code-refused", f"the code shipped with the job cannot be used: {why}", hint))
