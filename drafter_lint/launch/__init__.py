"""What the user asked for: an engine's command line, understood and located."""

from drafter_lint.launch.flags import FlagInfo, flag_releases, flag_table, spelled
from drafter_lint.launch.parse import parse_command
from drafter_lint.launch.request import LaunchRequest, Option, Unresolved
from drafter_lint.launch.shell import split_command, split_commands

__all__ = [
    "FlagInfo",
    "LaunchRequest",
    "Option",
    "Unresolved",
    "flag_releases",
    "flag_table",
    "parse_command",
    "spelled",
    "split_command",
    "split_commands",
]
