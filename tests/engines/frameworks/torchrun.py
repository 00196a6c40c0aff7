"""What `torchrun script.py` does on one node, written from its documentation.

Every option `--some-option` has its default in the variable PET_SOME_OPTION. It starts `nproc_per_node` processes and
gives each RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, MASTER_ADDR and MASTER_PORT.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

DEFAULTS = {"nnodes": "1", "node_rank": "0", "nproc_per_node": "1", "master_addr": "127.0.0.1", "master_port": "29500"}


def main() -> int:
    parser = argparse.ArgumentParser()
    for name, default in DEFAULTS.items():
        parser.add_argument(f"--{name}", default=os.environ.get("PET_" + name.upper(), default))
    parser.add_argument("script")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    nodes, node, width = int(asked.nnodes), int(asked.node_rank), int(asked.nproc_per_node)
    processes = []
    for local in range(width):
        own = {
            "RANK": node * width + local, "LOCAL_RANK": local, "GROUP_RANK": node,
            "WORLD_SIZE": nodes * width, "LOCAL_WORLD_SIZE": width,
            "MASTER_ADDR": asked.master_addr, "MASTER_PORT": asked.master_port,
        }  # fmt: skip
        environ = {**os.environ, **{name: str(value) for name, value in own.items()}}
        processes.append(subprocess.Popen([sys.executable, asked.script, *asked.args], env=environ))
    return max([abs(process.wait()) for process in processes])


if __name__ == "__main__":
    sys.exit(main())
