"""The variables that Ascend's toolkit needs, of the toolkit that is here: its own `set_env.sh`, else the usual paths.

The script is the image's, and runs in a clean environment: nothing that a user wrote comes near its shell.
"""

import os
from typing import Dict, Iterable, List, Mapping, Sequence

from ..environment import FOLDER_LISTS
from . import asking

SECONDS = 5.0
QUIET = {"ASCEND_GLOBAL_LOG_LEVEL": "3", "ASCEND_GLOBAL_EVENT_ENABLE": "0"}
"""Errors only: CANN's warnings at every start are known to be harmless, and bury what is not."""
_SCRIPTS = (
    "/usr/local/Ascend/ascend-toolkit/set_env.sh", "/usr/local/Ascend/nnae/set_env.sh",
    "/usr/local/Ascend/cann/set_env.sh", "/home/HwHiAiUser/Ascend/ascend-toolkit/set_env.sh",
    "/home/HwHiAiUser/Ascend/nnae/set_env.sh",
)  # fmt: skip
_PLUGIN = "/usr/local/Ascend/tfplugin/set_env.sh"
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
_SOURCE = 'for file in "$@"; do . "$file" >/dev/null 2>&1 </dev/null; done; exec cat /proc/self/environ'
_CLEAN = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"}
_TAKEN = ("TBE_IMPL_PATH", "TOOLCHAIN_HOME")
_HOMES = ("/home/HwHiAiUser/Ascend/ascend-toolkit/latest", "/usr/local/Ascend/ascend-toolkit/latest")
_VERSIONS = "/usr/local/Ascend/ascend-toolkit"
_TBE = "opp/op_impl/built-in/ai_core/tbe"


def variables(root: str = "") -> Dict[str, str]:
    """What ranks on Ascend cards get; of PATH, LD_LIBRARY_PATH and PYTHONPATH only what is to be added to them."""
    return {**QUIET, **(_scripted(root) or _usual(root))}


def _scripted(root: str) -> Dict[str, str]:
    """What sourcing the first toolkit's script sets, and the TensorFlow plugin's after it; nothing where it fails."""
    first = [root + path for path in _SCRIPTS if os.path.isfile(root + path)][:1]
    shell = next((path for path in _SHELLS if os.access(path, os.X_OK)), None)
    if not first or shell is None:
        return {}
    scripts = first + [root + path for path in (_PLUGIN,) if os.path.isfile(root + path)]
    said = asking.ask([[shell, "-c", _SOURCE, "set_env", *scripts]], _CLEAN, SECONDS)[0]
    pairs = dict(word.partition("=")[::2] for word in said.split("\0") if "=" in word)
    return _chosen(pairs)


def _chosen(pairs: Mapping[str, str]) -> Dict[str, str]:
    before = _CLEAN["PATH"].split(":")
    found = {name: value for name, value in pairs.items() if name.startswith("ASCEND_") or name in _TAKEN}
    for name in sorted(FOLDER_LISTS & set(pairs)):
        found[name] = _joined(folder for folder in pairs[name].split(":") if name != "PATH" or folder not in before)
    return {name: value for name, value in found.items() if value}


def _usual(root: str) -> Dict[str, str]:
    """The documented places, as far as they exist."""
    is_arm = os.uname().machine == "aarch64"
    system, gnu = ("arm64-linux", "aarch64") if is_arm else ("x86_64-linux", "x86_64")
    homes = [home for home in (root + path for path in _homes(root)) if os.path.isdir(home)]
    if not homes:
        return {}
    lists = {
        "PYTHONPATH": _below(homes, [_TBE, f"{system}/{_TBE}"])
        + _there(root, ["/usr/local/lib/python3.7/site-packages/mindspore/lib"]),
        "LD_LIBRARY_PATH": _below(
            homes, ["fwkacllib/lib64", "lib64", f"{_TBE}/op_tiling", f"{system}/atc/lib64", "atc/lib64"]
        )
        + _there(root, [
            "/usr/local/Ascend/nnae/latest/fwkacllib/lib64", "/home/HwHiAiUser/Ascend/nnae/latest/fwkacllib/lib64",
            "/usr/local/Ascend/driver/lib64", "/usr/local/Ascend/driver/lib64/common",
            "/usr/local/Ascend/driver/lib64/driver", "/usr/local/Ascend/add-ons",
            f"/usr/lib/{gnu}-linux-gnu/hdf5/serial", "/usr/local/lib/python3.7/site-packages/mindspore/lib",
        ]),
        "PATH": _below(homes, ["fwkacllib/ccec_compiler/bin", f"{system}/fwkacllib/ccec_compiler/bin", "bin"]),
        "TBE_IMPL_PATH": _below(homes, [_TBE, f"{system}/{_TBE}"]),
        "ASCEND_OPP_PATH": _below(homes, ["opp"])[:1],
    }  # fmt: skip
    return {name: _joined(folders) for name, folders in lists.items() if folders}


def _homes(root: str) -> List[str]:
    """`latest`, and the folders of a version with its architecture that the oldest images have instead."""
    versions = [f"{_VERSIONS}/{name}" for name in _listed(root + _VERSIONS) if name != "latest"]
    systems = [f"{home}/{name}" for home in versions for name in _listed(root + home) if "-linux" in name]
    return [*_HOMES, *systems]


def _listed(folder: str) -> List[str]:
    """The newest version first."""
    try:
        return sorted(os.listdir(folder), reverse=True)
    except OSError:
        return []


def _below(homes: Sequence[str], names: Sequence[str]) -> List[str]:
    return [f"{home}/{name}" for home in homes for name in names if os.path.isdir(f"{home}/{name}")]


def _there(root: str, paths: Sequence[str]) -> List[str]:
    return [root + path for path in paths if os.path.isdir(root + path)]


def _joined(folders: Iterable[str]) -> str:
    return ":".join(dict.fromkeys(folder for folder in folders if folder))
