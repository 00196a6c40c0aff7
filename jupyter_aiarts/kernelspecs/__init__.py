"""Conda environments, and others, as kernels: `places` and `discover` find them, `build` says what a kernelspec of one
is, `install` is the only one that writes, `health` looks whether it would start. No `conda` is ever run to list.
"""
