"""Launch commands in documents: scripts, Dockerfiles, manifests, configuration files, programs and prose."""

from drafter_lint.launch.files.find import HINT, find_commands
from drafter_lint.launch.files.scan import Found, LaunchCommand, Note

__all__ = ["HINT", "Found", "LaunchCommand", "Note", "find_commands"]
