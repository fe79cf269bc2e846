# SPDX-License-Identifier: Apache-2.0
"""The complaint in an error's body, whatever service wrote it.

Whatever came, nothing here raises.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from kronos.common import masking

TEXT_LENGTH = 300
_MASKED_LENGTH = 4000
"""Characters of a text that are looked through for secrets."""
_KEYS = 5
_CREDENTIALS = (
    'Authorization',
    'X-Auth-Token',
    'X-Service-Token',
    'X-Subject-Token',
)
"""Headers of a request."""
_SENTENCE_LENGTH = 200
_SCHEMA = '\n\nFailed validating '
"""What jsonschema writes between its sentence and the schema."""
_PROPERTY = re.compile(r"On instance\['([^'\n]{1,64})'\]")
"""The property whose value a schema refuses."""


def line_of(text: object) -> str:
    """One short line of a text, without secrets."""
    start = str(text)[:_MASKED_LENGTH]
    return ' '.join(masking.masked(start).split())[:TEXT_LENGTH]


def message_of(response: Any) -> str:
    """What an OpenStack service says about an error, in one short line."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        body = None
    text = (
        _from_errors(body)
        or _from_fault(body)
        or _from_message(body)
        or start_of(response)
    )
    text = _without_schema(text)
    return line_of(_sent_secrets(response).masked(text[:_MASKED_LENGTH]))


def start_of(response: Any) -> str:
    """What a body begins with; to guess its encoding may take minutes."""
    start: bytes = response.content[:_MASKED_LENGTH]
    text = start.decode(errors='replace')
    return _sent_secrets(response).masked(text)


def _sent_secrets(response: Any) -> masking.Secrets:
    """The credentials of the request, which an answer may repeat."""
    request = getattr(response, 'request', None)
    headers = getattr(request, 'headers', None)
    if not isinstance(headers, Mapping):
        return masking.Secrets()
    values = [
        str(headers.get(name) or '').rpartition(' ')[2]
        for name in _CREDENTIALS
    ]
    # A shorter one may be part of many a word.
    return masking.Secrets(
        value for value in values if len(value) > masking.BEGINNING
    )


def described(value: object) -> str:
    """What came instead of something else: its kind, and what it begins with.

    No more of its content: it may be a tenant's.
    """
    if isinstance(value, dict):
        keys = [line_of(key)[:40] for key in list(value)[:_KEYS]]
        more = ', ...' if len(value) > _KEYS else ''
        return f'an object with {", ".join(keys) or "nothing"}{more}'
    if isinstance(value, (list, tuple)):
        return f'a list of {len(value)}'
    if isinstance(value, str):
        return f'the text "{line_of(value)[:40]}"'
    if isinstance(value, int) and abs(value) >= 2**63:
        # Python refuses to write the longest ones down.
        return 'a number of more than 18 digits'
    return 'null' if value is None else line_of(value)[:40]


def _from_errors(body: Any) -> str:
    """Placement's form: ``{"errors": [{"detail": ...}]}``.

    What passes requests on puts mere texts there.
    """
    errors = body.get('errors') if isinstance(body, dict) else None
    if not isinstance(errors, list):
        return ''
    details = [e.get('detail') if isinstance(e, dict) else e for e in errors]
    return _joined(details)


def _from_fault(body: Any) -> str:
    """Nova's form: ``{"conflictingRequest": {"message": ...}}``."""
    faults = body.values() if isinstance(body, dict) else []
    return _joined(f.get('message') for f in faults if isinstance(f, dict))


def _from_message(body: Any) -> str:
    """Watcher's form: ``{"error_message": ...}``, mostly JSON once more."""
    text = body.get('error_message') if isinstance(body, dict) else None
    if not isinstance(text, str):
        return ''
    try:
        fault = json.loads(text)
    except (ValueError, RecursionError):
        return text
    said = fault.get('faultstring') if isinstance(fault, dict) else None
    return said if isinstance(said, str) else text


def _without_schema(text: str) -> str:
    """The sentence of a schema's complaint, and the property that it is about.

    The rest is the schema and the value, on many lines.
    """
    sentence, _, rest = text.partition(_SCHEMA)
    refused = _PROPERTY.search(rest)
    if refused is None:
        return sentence
    return f'{line_of(sentence)[:_SENTENCE_LENGTH]} (in {refused[1]})'


def _joined(said: Any) -> str:
    return ' '.join(part for part in said if isinstance(part, str)).strip()
