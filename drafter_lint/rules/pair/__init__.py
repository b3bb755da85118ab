"""Rules about the drafter against its target, whatever the engine: widths, states, context."""
