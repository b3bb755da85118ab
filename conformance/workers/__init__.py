"""What runs in an engine's own interpreter; it needs the engine and nothing of this tool."""
