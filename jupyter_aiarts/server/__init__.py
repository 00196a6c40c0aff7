"""The HTTP door: the only part of the package that knows tornado and jupyter_server."""
