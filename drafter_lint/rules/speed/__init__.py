"""7xx: what works, yet below what it could."""
