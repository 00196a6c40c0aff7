"""What it costs a launcher that many ranks end at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DRIVER = """
import json, os, sys, time
from jupyter_aiarts.launcher.crew import Crew
from jupyter_aiarts.launcher.environment import Seat
from jupyter_aiarts.launcher.loop import Loop
from jupyter_aiarts.launcher.prepare import Prepared
from jupyter_aiarts.launcher.tree import Tree, look

class Counted(Tree):
    looks = 0

    def look_around(self):
        self.looks += 1
        return super().look_around()

folder, count = sys.argv[1], int(sys.argv[2])
loop, tree = Loop(), Counted(os.getpid(), True)
nothing = lambda *_: None
crew = Crew(loop, tree, 5.0, 1 << 20, nothing, nothing, lambda: loop.stop(0), nothing)
ranks = []
for rank in range(count):
    os.makedirs(f"{folder}/{rank}")
    environ = {"AIARTS_POD_ENV": f"{folder}/pod.env.{rank}"}
    ranks.append(Prepared(Seat(0, rank, rank, []), ["/bin/true"], environ, "/", f"{folder}/{rank}", {}))
crew.start(ranks)
while not all(look(rank.pid).zombie for rank in crew.ranks):
    time.sleep(0.01)
loop.run()
print(json.dumps({"looks": tree.looks, "codes": [rank.exit_code for rank in crew.ranks]}))
"""


@pytest.mark.parametrize("count", [1, 64])
def test_however_many_ranks_end_together_the_processes_are_looked_at_twice(tmp_path: Path, count: int) -> None:
    """Once for what any of them left, once for whatever else there is."""
    words = [sys.executable, "-c", DRIVER, str(tmp_path), str(count)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=ROOT, check=True)
    assert json.loads(done.stdout) == {"looks": 2, "codes": [0] * count}
