"""Over TLS: a certificate that nobody vouches for is refused before anything is sent."""

import ipaddress
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.client.chaos import Chaos, drip_body, success
from tests.client.conftest import Opener
from workspace_api import Done, NotSent, Unknown, calls

PAY = calls.finplan.request.pay(id=1, request_id=1, payment_sum=5)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that vouches for itself, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "own.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM) + secret)
    return file


@pytest.fixture
def secured(certificate: Path) -> Iterator[Chaos]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Chaos(tls=context) as server:
        yield server


async def test_an_unknown_certificate_is_refused_before_anything_is_sent(secured: Chaos, open_caller: Opener) -> None:
    """The key never leaves for a stranger."""
    secured.script = [success(True)]
    assert await open_caller(secured.url).attempt(PAY) == NotSent("cannot connect to the workspace")
    assert secured.received == []


async def test_a_trusted_certificate_is_spoken_to(
    secured: Chaos, open_caller: Opener, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both clients trust what SSL_CERT_FILE names; the deadline holds over TLS too."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    secured.script = [success(True), drip_body]
    caller = open_caller(secured.url)
    assert isinstance(await caller.attempt(PAY), Done)
    assert isinstance(await caller.attempt(PAY, timeout=0.4), Unknown)


async def test_a_handshake_that_hangs_is_not_sent(open_caller: Opener) -> None:
    """The connection is made, and nobody speaks."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        outcome = await open_caller(f"https://127.0.0.1:{silent.getsockname()[1]}").attempt(PAY, timeout=0.4)
    assert outcome == NotSent("no connection to the workspace in time")
