"""What a job, a phase, a device, a quantity *is*: frozen Structs and pure functions, no I/O."""
