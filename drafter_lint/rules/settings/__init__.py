"""9xx: suppressions and the lock file."""
