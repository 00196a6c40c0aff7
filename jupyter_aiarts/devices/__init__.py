"""Looking at cards and machine: one file for each kind of probe, each importing its SDK when it first looks.

A probe blocks and may hang: nobody calls one but its `Sentry`, which gives it a thread of its own.
"""
