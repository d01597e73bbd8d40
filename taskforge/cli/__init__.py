"""The command line: one file a command, docs/cli.md describes it."""
