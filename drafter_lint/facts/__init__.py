"""What we know of engines: observations, their keys, and what holds at a version."""

from drafter_lint.facts.observation import Fact, Knowledge, Observation, World
from drafter_lint.facts.registry import Profile, engines, parse_profile, profile, schemas, version_of, worlds

__all__ = [
    "Fact",
    "Knowledge",
    "Observation",
    "Profile",
    "World",
    "engines",
    "parse_profile",
    "profile",
    "schemas",
    "version_of",
    "worlds",
]
