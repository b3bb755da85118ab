"""4xx: which method runs, and what becomes of the flags that were to choose it."""
