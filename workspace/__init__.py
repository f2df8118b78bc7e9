"""The command line and the settings: puts the parts together, and nothing else.

main.py        words → command → exit code, the one place that catches errors
settings.py    the environment and .env
parts.py       opens what a command needs: workspace client, bot, runner
commands/      one file a command or family, each with `add(subcommands)` and a function that does it
"""
