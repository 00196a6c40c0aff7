"""The launcher's command line: `python3 -I -S <here> [watched] PLAN.json NODE FOLDER`, in a pod `… <here> prepare|pod`.

Works as a file, as a folder, as a zip and with `-m jupyter_aiarts.launcher`.
"""

import gc
import os
import sys

if not __package__:
    # Started by path: Python knows no package, so relative imports get one that holds this folder (or zip).
    _home = os.path.dirname(os.path.abspath(__file__))
    __package__ = "aiarts_launcher"
    _package = type(sys)(__package__)
    _package.__path__ = [_home]
    sys.modules[__package__] = _package

gc.disable()  # nothing that imports make is garbage
if sys.argv[1:2] == ["prepare"]:
    from .init import main
elif sys.argv[1:2] == ["pod"]:
    import signal

    # The first process of a container ignores what it has no handler for: held back, it is heard later.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
    from .pod import main
elif sys.argv[1:2] == ["watched"]:
    from .watched import main
else:
    from .runner import main

gc.enable()

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
