"""The command line: see design in docs/map.md."""
