"""Rules about reaching a checkpoint at all: what cannot be found, read or opened."""
