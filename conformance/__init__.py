"""The conformance kit: runs installed engines on small constructed pairs and holds them against plan and truth.

Nothing is imported here, so that an engine's own interpreter, which has none of the tool's dependencies, can start
``conformance.workers``.
"""
