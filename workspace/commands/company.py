"""workspace init, serve, key: the embedded workspace of the data folder, whatever WORKSPACE_URL says."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from workspace import parts, settings
from workspace.commands.words import Subcommands, WrongWords


def add_init(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("init", help="make the embedded workspace and load a company")
    what = command.add_mutually_exclusive_group()
    what.add_argument(
        "--sample", nargs="?", const="", choices=("", "en", "ru"), metavar="en|ru", help="the sample company"
    )
    what.add_argument("--company", type=Path, metavar="FILE", help="a company of your own, as YAML or JSON")
    command.set_defaults(run=init)


def add_serve(subcommands: Subcommands) -> None:
    command = subcommands.add_parser("serve", help="the embedded workspace over HTTP")
    command.add_argument("--host", default="127.0.0.1")
    command.add_argument("--port", type=int, default=8080)
    command.add_argument(
        "--profile",
        default="standard",
        choices=("standard", "hosted"),
        help="hosted: with the deviations of hosted workspaces, for tests",
    )
    command.set_defaults(run=serve)


def add_key(subcommands: Subcommands) -> None:
    key = subcommands.add_parser("key", help="API keys of the embedded workspace")
    acts = key.add_subparsers(metavar="ACT", required=True)
    issue = acts.add_parser("issue", help="a new key, alone on stdout")
    issue.add_argument("user_id", nargs="?", metavar="USER_ID")
    issue.add_argument("--owner", action="store_true", help="the owner's, who sees all")
    issue.set_defaults(run=issue_key)
    listed = acts.add_parser("list", help="all keys, by their first characters")
    listed.set_defaults(run=list_keys)
    revoke = acts.add_parser("revoke", help="end a key at once")
    revoke.add_argument("key", metavar="KEY", help="its number or first characters, as `key list` shows them")
    revoke.set_defaults(run=revoke_key)


def init(options: argparse.Namespace) -> int:
    """Makes the database; loads the company that was asked for."""
    from workspace_api.server.company_file import load_company
    from workspace_api.server.opening import open_workspace
    from workspace_api.server.sample import load_sample

    chosen = settings.load()
    today = datetime.now(UTC).astimezone(chosen.zone).date()
    with open_workspace(parts.folder_of(chosen), chosen.database_url) as database:
        if options.sample is not None:
            load_sample(database, "ru" if (options.sample or chosen.language) == "ru" else "en", today=today)
        elif options.company is not None:
            load_company(database, [options.company], "ru" if chosen.language == "ru" else "en", today)
    where = chosen.data if chosen.database_url is None else "the database of WORKSPACE_DATABASE_URL"
    print(f"The workspace is in {where}. Next: workspace serve")
    return 0


def serve(options: argparse.Namespace) -> int:
    """Serves until it is stopped."""
    from workspace_api.server.profile import HostedProfile, Profile
    from workspace_api.server.serve import serve as serve_workspace

    chosen = settings.load()
    if not 0 <= options.port <= 65535:
        raise WrongWords(f"--port {options.port} is no port: take one from 0 to 65535")
    serve_workspace(
        data=parts.folder_of(chosen),
        database_url=chosen.database_url,
        host=options.host,
        port=options.port,
        profile=HostedProfile() if options.profile == "hosted" else Profile(),
        announce=lambda address: print(f"The workspace listens at {address}", flush=True),
    )
    return 0


def issue_key(options: argparse.Namespace) -> int:
    """Prints the new key and nothing else."""
    from workspace_api.server import keys
    from workspace_api.server.opening import open_workspace

    if options.owner == (options.user_id is not None):
        raise WrongWords("Say whose key: workspace key issue USER_ID, or workspace key issue --owner")
    chosen = settings.load()
    with open_workspace(parts.folder_of(chosen), chosen.database_url) as database:
        print(keys.issue_key(database, options.user_id, owner=options.owner))
    return 0


def list_keys(_options: argparse.Namespace) -> int:
    """A line a key."""
    from workspace_api.server import keys
    from workspace_api.server.opening import open_workspace

    chosen = settings.load()
    with open_workspace(parts.folder_of(chosen), chosen.database_url) as database:
        for key in keys.list_keys(database):
            whose = f"{key.user_id} (owner)" if key.is_owner else key.user_id
            state = "in use" if key.revocation_date is None else f"revoked {key.revocation_date[:16]}"
            print(f"{key.id}\t{key.prefix}…\t{whose}\t{key.creation_date[:16]}\t{state}")
    return 0


def revoke_key(options: argparse.Namespace) -> int:
    """Ends a key; the very next request with it is refused."""
    from workspace_api.server import keys
    from workspace_api.server.opening import open_workspace

    chosen = settings.load()
    with open_workspace(parts.folder_of(chosen), chosen.database_url) as database:
        key = int(options.key) if options.key.isdigit() else options.key
        row = keys.revoke_key(database, key)
    print(f"Revoked {row.prefix}… of {row.user_id}", file=sys.stderr)
    return 0
