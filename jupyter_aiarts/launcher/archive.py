"""The launcher as one zip, for images without this package: `python3 -I -S launcher.zip prepare`, then `… pod`."""

import io
import os
import zipfile
from typing import List

_EPOCH = (1980, 1, 1, 0, 0, 0)


def pack() -> bytes:
    """The zip's bytes; the same sources give the same bytes, so a hash of them names a version."""
    home = os.path.dirname(os.path.abspath(__file__))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in _sources(home):
            with open(os.path.join(home, *name.split("/")), "rb") as file:
                _add(archive, name, file.read())
    return content.getvalue()


def _sources(home: str) -> List[str]:
    """The Python files of this folder and of the packages in it, as the zip names them."""
    own = [name for name in os.listdir(home) if name.endswith(".py")]
    packages = [name for name in os.listdir(home) if os.path.exists(os.path.join(home, name, "__init__.py"))]
    below = [f"{folder}/{name}" for folder in packages for name in os.listdir(os.path.join(home, folder))]
    return sorted(own + [name for name in below if name.endswith(".py")])


def _add(archive: zipfile.ZipFile, name: str, source: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, source)
