"""Rules about where a drafter comes from and which target it was trained for."""
