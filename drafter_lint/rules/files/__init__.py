"""Rules about the drafter's own files: config, headers, index, names and shapes."""
