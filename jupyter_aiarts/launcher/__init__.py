"""What runs beside the ranks of a job: starts them, keeps their output, tells the truth about their end.

Standard library only and Python 3.6 syntax: a cluster gets this folder as one zip, for any image.
On one machine `runner` is the way in, in a pod `init` (its init container) and `pod`, which adds a `stage`: the
container's own output, a port for readers, a termination message.
Importing the package imports none of its modules; the pure ones (`environment`, `substitution`, `podenv`,
`plan`) are also imported by the layers above.
"""
