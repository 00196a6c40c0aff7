"""The launcher's command line: `python3 -I -S <here> PLAN.json NODE FOLDER`.

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
from .runner import main  # noqa: E402

gc.enable()

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
