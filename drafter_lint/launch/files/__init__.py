"""Launch commands in documents: scripts, Dockerfiles, manifests, configuration files, programs and prose."""

from drafter_lint.launch.files.find import find_commands
from drafter_lint.launch.files.scan import Found, LaunchCommand, Note

__all__ = ["Found", "LaunchCommand", "Note", "find_commands"]
