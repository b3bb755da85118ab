"""5xx: what becomes of the drafter's weights in that engine."""
