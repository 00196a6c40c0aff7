"""Rank tables in the launcher's zip, under the oldest Python at hand: the same answers as here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_aiarts.engines.kubernetes.launcher_zip import pack
from jupyter_aiarts.launcher.ascend.table import FORMS, encode, render
from tests.launcher.conftest import LAUNCHER

from .conftest import Stand, servers

PROGRAM = r"""
import sys
package = type(sys)("aiarts_launcher")
package.__path__ = [sys.argv[1]]
sys.modules["aiarts_launcher"] = package
import json, os, time
from aiarts_launcher.ascend import addresses, checking, reading, table

made = table.seated([("10.0.0.%d" % (n + 1), [(c, "192.168.%d.%d" % (c, n + 1)) for c in range(8)], "w-%d" % n)
                     for n in range(12)])
files = {form: table.encode(table.render(made, form)).decode("ascii") for form in table.FORMS}
for content in files.values():
    assert checking.check(content.encode("ascii")) == []
    assert len(reading.parse(content.encode("ascii")).servers) == 12
start = time.time()
junk = [b"[" * 1000000, b'{"a":' * 90000, b"9" * 3000000, b"x" * 10000000, b'{"a": NaN}', b"\xef\xbb\xbf{}", b"{} // x",
        b'{"version": "1.0", "status": "completed", "server_list": [' + b'"",' * 400000 + b"1]}"]
codes = [checking.check(content)[0].code for content in junk]
assert time.time() - start < 20, time.time() - start
found = addresses.find([0, 1, 2], {"NPU_IPS": "1:192.168.20.11", "PATH": os.environ["PATH"]}, tool=sys.argv[2],
                       conf=sys.argv[3])
print(json.dumps({"files": files, "codes": codes, "found": {str(card): one for card, one in found.items()}}))
"""


@pytest.mark.parametrize("which", ["old", "this"])
def test_the_zip_makes_checks_and_reads_tables(which: str, old_python: str, stand_in: Stand, tmp_path: Path) -> None:
    archive = tmp_path / "launcher.zip"
    archive.write_bytes(pack())
    (tmp_path / "hccn.conf").write_text("address_2=192.168.30.11\n")
    tool = stand_in("[ $2 = 0 ] && echo ipaddr:192.168.10.11")
    python = old_python if which == "old" else sys.executable
    words = [python, "-I", "-S", "-c", PROGRAM, str(archive), tool, str(tmp_path / "hccn.conf")]
    said = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, timeout=60).stdout)
    assert said["files"] == {form: encode(render(servers(12), form)).decode() for form in FORMS}
    assert said["codes"] == [
        "too-deep", "too-deep", "not-an-object", "too-large", "not-json", "byte-order-mark", "comment", "not-an-object"
    ]  # fmt: skip
    assert said["found"] == {
        "0": ["192.168.10.11", "hccn_tool"], "1": ["192.168.20.11", "NPU_IPS"], "2": ["192.168.30.11", "hccn.conf"]
    }  # fmt: skip


def test_every_module_compiles(old_python: str) -> None:
    code = "import sys\nfor name in sys.argv[1:]: compile(open(name, encoding='utf-8').read(), name, 'exec')"
    names = [str(path) for path in (LAUNCHER / "ascend").glob("*.py")]
    assert len(names) > 5 and subprocess.run([old_python, "-c", code, *names]).returncode == 0
