# SPDX-License-Identifier: Apache-2.0
"""The masking of secrets in texts, whoever wrote them."""

import re

from oslo_utils import strutils

HIDDEN = '***'
_HEADER = re.compile(
    r'(?P<name>\b(?:authorization|cookie|x-[\w-]{1,40}-(?:token|key)|'
    r'(?:x-)?api[-_]?key|access[-_]token))'
    r'(?P<sign>["\']?\s{0,3}[:=]\s{0,3}["\']?)'
    r'(?:(?:bearer|basic|digest)\s{1,3})?[^\s"\',;]+',
    re.IGNORECASE,
)
"""A header, or a parameter, whose value is a secret."""
_WORDS = re.compile(r'\s+|\S+')
_SCHEME = re.compile(
    r'\b(?P<scheme>(?i:bearer)\s{1,3}|(?i:basic)\s{1,3}'
    # Base64, and no word of a sentence about basic authentication.
    r'(?=[^\s"\',;][^\s"\',;]{0,400}?[A-Z\d=+/]))[^\s"\',;]{8,}'
)
"""Credentials after the name of their scheme."""
_FERNET = re.compile(r'\bgAAAA[\w-]{20,}={0,2}')
"""A token of Keystone."""


def masked(text: str) -> str:
    """A text without passwords, tokens, keys and users of URLs."""
    if not text:
        return text
    text = str(strutils.mask_password(text, HIDDEN))
    text = _HEADER.sub(rf'\g<name>\g<sign>{HIDDEN}', text)
    text = _SCHEME.sub(rf'\g<scheme>{HIDDEN}', text)
    text = _FERNET.sub(HIDDEN, text)
    return ''.join(map(_without_user, _WORDS.findall(text)))


def _without_user(word: str) -> str:
    """A word without the user of a URL in it.

    Up to the last @: a password may hold any character.
    """
    scheme, sign, rest = word.partition('://')
    user, at, host = rest.rpartition('@')
    return f'{scheme}{sign}{HIDDEN}{at}{host}' if user else word
