"""The one place that says which version this is; the build, the CLI and the server's health read it here."""

__version__ = "0.1.0"
