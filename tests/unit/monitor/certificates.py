# SPDX-License-Identifier: Apache-2.0
"""Certificates that a test makes up."""

import datetime
import ipaddress
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)
USAGE = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
"""Of a CA."""


class Authority:
    """A CA of its own.

    :param folder: where its files go
    """

    def __init__(self, folder: pathlib.Path, name: str = 'ca') -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        builder = _builder(self._name, self._name, self._key.public_key())
        made = (
            builder.add_extension(
                x509.BasicConstraints(True, None), critical=True
            )
            .add_extension(USAGE, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.path = str(folder / f'{name}.pem')
        _write(self.path, made.public_bytes(serialization.Encoding.PEM))

    def issue(
        self, name: str, host: str = '127.0.0.1', expired: bool = False
    ) -> tuple[str, str]:
        """A certificate and its key, as files.

        :param host: that it is for, an address or a name
        """
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_named(name), self._name, key.public_key(), expired)
        try:
            told: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            told = x509.DNSName(host)
        # Python 3.13 refuses a certificate that does not name its CA's key.
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(
            self._key.public_key()
        )
        made = (
            builder.add_extension(
                x509.SubjectAlternativeName([told]), critical=False
            )
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        paths = (
            str(self._folder / f'{name}.pem'),
            str(self._folder / f'{name}.key'),
        )
        _write(paths[0], made.public_bytes(serialization.Encoding.PEM))
        _write(
            paths[1],
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        )
        return paths


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    expired: bool = False,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 9 * DAY)
        .not_valid_after(now - DAY if expired else now + DAY)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(key), critical=False
        )
    )


def _write(path: str, data: bytes) -> None:
    """As rotated files are written: another one takes the place."""
    new = pathlib.Path(f'{path}.new')
    new.write_bytes(data)
    new.replace(path)
