"""Settings: defaults, the environment before .env, and one sentence for each wrong value."""

from pathlib import Path

import pytest

from workspace.redaction import clean
from workspace.settings import LOCAL_URL, SettingsError, load, read_env_file


def test_defaults(tmp_path: Path) -> None:
    """Nothing set: the embedded workspace, ./data, whole units, UTC, English."""
    found = load({}, tmp_path)
    assert (found.workspace_url, found.data, found.money_scale) == (LOCAL_URL, Path("data"), 0)
    assert (found.timezone, found.language, found.poll_seconds) == ("UTC", "en", 30.0)
    assert found.automations is None


def test_env_file_is_read_and_the_environment_wins(tmp_path: Path) -> None:
    """A line of .env counts unless the environment names the setting too."""
    (tmp_path / ".env").write_text("# ours\nexport WORKSPACE_LANGUAGE='ru'\nWORKSPACE_POLL_SECONDS=5\n")
    assert load({}, tmp_path).language == "ru"
    found = load({"WORKSPACE_LANGUAGE": "en"}, tmp_path)
    assert (found.language, found.poll_seconds) == ("en", 5.0)


def test_who_hears_of_failures(tmp_path: Path) -> None:
    """A webhook as it was written, mail to several, and the password of the mail server from the secrets."""
    found = load(
        {
            "WORKSPACE_ALERT_URL": "https://hooks.example.com/a/",
            "WORKSPACE_ALERT_MAIL": "ops@example.com, night@example.com",
            "WORKSPACE_SMTP_URL": "smtps://ops%40example.com@mail.example.com",
            "WORKSPACE_SECRET_SMTP": "very-secret",
        },
        tmp_path,
    )
    assert found.alert_url == "https://hooks.example.com/a/"
    assert found.alert_mail == ("ops@example.com", "night@example.com")
    assert (found.smtp_password, found.heartbeat_url) == ("very-secret", None)


def test_roles(tmp_path: Path) -> None:
    """User ids and chats by role, parted by spaces or commas."""
    found = load({"WORKSPACE_ROLES": " finance=anna boris; @hr = -100123, zoe ;"}, tmp_path)
    assert found.roles == {"finance": ("anna", "boris"), "hr": ("-100123", "zoe")}
    assert load({}, tmp_path).roles == {}


def test_automations_d_is_taken_where_it_exists(tmp_path: Path) -> None:
    """./automations.d is the default folder once it is there."""
    (tmp_path / "automations.d").mkdir()
    assert load({}, tmp_path).automations == tmp_path / "automations.d"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("WORKSPACE_URL", "example.com", "write an address"),
        ("WORKSPACE_MONEY_SCALE", "3", "write 0 or 2"),
        ("WORKSPACE_POLL_SECONDS", "soon", "write seconds"),
        ("WORKSPACE_TIMEZONE", "Mars/Base", "write a zone"),
        ("WORKSPACE_LANGUAGE", "fr", "write en or ru"),
        ("WORKSPACE_ROLES", "finance", "write roles, their people and chats"),
        ("WORKSPACE_ROLES", "finance=", "write roles, their people and chats"),
        ("WORKSPACE_ROLES", "Finance team=anna", "write roles, their people and chats"),
        ("WORKSPACE_ROLES", "hr=anna finance=boris", "such as finance=anna boris; hr=-100123"),
        ("WORKSPACE_ROLES", "ops=anna", "@ops is WORKSPACE_OPS"),
        ("WORKSPACE_ROLES", "hr=anna; @hr=boris", "each role is named once"),
        ("WORKSPACE_ALERT_URL", "hooks.example.com", "write one such as https://"),
        ("WORKSPACE_HEARTBEAT_URL", "https://me:pw@beat.example.com", "without user@"),
        ("WORKSPACE_ALERT_MAIL", "ops", "write addresses"),
        ("WORKSPACE_ALERT_MAIL", "ops@example.com", "WORKSPACE_SMTP_URL is needed"),
        ("WORKSPACE_SMTP_URL", "mail.example.com:587", "write smtp://"),
        ("WORKSPACE_SMTP_URL", "smtp://mail.example.com:99999", "write smtp://"),
    ],
)
def test_a_wrong_value_names_the_setting_and_the_remedy(tmp_path: Path, name: str, value: str, said: str) -> None:
    """The sentence names the setting, what stands there and what to write."""
    with pytest.raises(SettingsError, match=said) as caught:
        load({name: value}, tmp_path)
    assert name in str(caught.value)


def test_a_line_that_is_no_setting_is_told_with_its_place(tmp_path: Path) -> None:
    """file:line and what to write."""
    (tmp_path / ".env").write_text("A=1\nnonsense\n")
    with pytest.raises(SettingsError, match=r"\.env:2: write NAME=value"):
        read_env_file(tmp_path / ".env")


def test_secrets_stand_in_no_repr(tmp_path: Path) -> None:
    """Neither key nor token."""
    found = load({"WORKSPACE_API_KEY": "canary-key", "TELEGRAM_TOKEN": "123456:canary-token"}, tmp_path)
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    "text",
    [
        "https://api/bot123456:canary-token-value/getMe",
        "{'Api-key': 'canary-key'}",
        "key wk_canarycanary refused",
        "Api-key: canary",
    ],
)
def test_secrets_are_taken_out_of_log_lines(text: str) -> None:
    """A token in an address, a key in headers, a key by its prefix."""
    assert "canary" not in clean(text)
