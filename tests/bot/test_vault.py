"""The key file: private, rotated without a gap, followed by whoever has it open."""

import threading
import time
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection

from bot import people
from bot.rotation import RotationError, hold, rotate
from bot.vault import Vault, VaultError
from storage import Database, open_database
from tests.bot.bot_db import db as db  # noqa: PLC0414 - a fixture, found by its name


def test_a_vault_follows_its_file(tmp_path: Path) -> None:
    """A second process that rotates is noticed by the first at its next use."""
    path = tmp_path / "bot.key"
    running, command = Vault(path), Vault(path)
    before = running.seal("secret")
    command.add_key()
    assert running.open(before) == "secret"
    after = running.seal("secret")
    assert running.is_newest(after)
    assert not running.is_newest(before)
    assert command.drop_old_keys() == 1
    assert running.open(after) == "secret"
    with pytest.raises(VaultError, match="invite the person again"):
        running.open(before)


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """Also when it becomes so while the bot runs."""
    path = tmp_path / "bot.key"
    vault = Vault(path)
    sealed = vault.seal("secret")
    path.chmod(0o640)
    with pytest.raises(VaultError, match="chmod 600"):
        vault.open(sealed)
    with pytest.raises(VaultError, match="chmod 600"):
        Vault(path)


def test_an_empty_or_missing_file_is_told(tmp_path: Path) -> None:
    """One sentence that says to restore it; nothing is sealed with nothing."""
    path = tmp_path / "bot.key"
    vault = Vault(path)
    path.write_bytes(b"\n")
    with pytest.raises(VaultError, match="no usable key"):
        vault.seal("secret")
    path.unlink()
    with pytest.raises(VaultError, match="restore it"):
        vault.seal("secret")


def test_one_rotation_at_a_time(tmp_path: Path) -> None:
    """A second one could drop what the first has just sealed with."""
    first, second = Vault(tmp_path / "bot.key"), Vault(tmp_path / "bot.key")
    with first.alone(), pytest.raises(VaultError, match="another command"), second.alone():
        pass
    with second.alone():
        pass


def _invited(connection: Connection, vault: Vault, user_id: str) -> str:
    hold(connection)
    return people.invite(connection, user_id, vault.seal(f"key of {user_id}"), time.time())


def test_keys_that_are_given_during_a_rotation_open_after_it(db: Database, tmp_path: Path) -> None:
    """Rotations and invitations side by side, each on a connection of its own: no key is lost."""
    path = tmp_path / "bot.key"
    vault = Vault(path)
    names = [f"user{number}" for number in range(60)]

    def invites() -> None:
        with open_database(db.engine.url.render_as_string(hide_password=False)) as other:
            mine = Vault(path)
            for name in names:
                other.write_now(partial(_invited, vault=mine, user_id=name))

    inviting = threading.Thread(target=invites)
    inviting.start()
    done = rotate(db, vault)
    while inviting.is_alive():
        done = rotate(db, vault)
    inviting.join()
    assert done.lost == 0
    rotate(db, vault)
    with db.read() as connection:
        found = {one.user_id: one.sealed_key for one in people.invited(connection, time.time())}
    assert set(found) == set(names)
    assert all(vault.open(str(sealed)) == f"key of {name}" for name, sealed in found.items())
    assert len(path.read_bytes().split()) == 1


def test_what_was_sealed_with_an_old_key_meanwhile_keeps_the_old_key(db: Database, tmp_path: Path) -> None:
    """One who sealed before the rotation and stores after it: nothing is dropped, and it is told."""

    class Late(Vault):
        """Stores, right after everything was sealed again, what was sealed before."""

        def is_newest(self, sealed: str) -> bool:
            return False if sealed != "" else super().is_newest(sealed)

    vault = Late(tmp_path / "bot.key")
    db.write_now(lambda c: _invited(c, vault, "anna"))
    with pytest.raises(RotationError, match="run it again"):
        rotate(db, vault)
    assert len((tmp_path / "bot.key").read_bytes().split()) == 2
    assert rotate(db, Vault(tmp_path / "bot.key")).dropped == 2
