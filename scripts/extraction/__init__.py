"""What a release of an engine shows without being imported: names, tables and flags, from its syntax trees."""
