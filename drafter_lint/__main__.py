"""``python -m drafter_lint``: the command line."""

from drafter_lint.cli import main

main()
