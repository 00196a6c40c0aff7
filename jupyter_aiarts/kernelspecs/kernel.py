"""The first lines of a kernel that was registered by jupyter_aiarts: `python kernel.py -f CONNECTION_FILE`.

It is copied beside the kernelspec and runs in any environment, Python 3.8 and later. `%load_ext jupyter_aiarts` works
though nothing is installed there: what it needs lies in `lib`, behind everything that the environment has itself.
"""

import os
import sys

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    sys.path.append(os.path.join(here, "lib"))
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
