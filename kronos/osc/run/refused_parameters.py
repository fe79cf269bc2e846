# SPDX-License-Identifier: Apache-2.0
"""The parameters of an audit that Watcher refuses, and what to do about it.

Watcher checks them against the schema of the strategy.
"""

import re

from kronos.common import exceptions
from kronos.osc.run.request import AGGREGATES, AuditRequest

_WRONG = re.compile(r'for strategy: (.+) \(in (.+)\)$')
_MISSING = re.compile("'([^']+)' is a required property")
_UNKNOWN = re.compile(
    r'Audit parameter (.+) are not allowed'
    r"|Additional properties are not allowed \('([^']+)'"
)


def explained(
    error: exceptions.ClientError, request: AuditRequest
) -> exceptions.KronosException:
    """What to raise: an error with the parameter and the option to change.

    :param error: from the request to create the audit
    :returns: the same error, if it is about something else
    """
    text = str(error) if error.kwargs['status'] == 400 else ''
    if match := _WRONG.search(text):
        reason, name = match.groups()
        return exceptions.KronosException(
            f'the audit cannot use the parameter {name}: {reason}. '
            f'Correct {_option(name)}'
        )
    if match := _MISSING.search(text):
        return exceptions.KronosException(
            f'the audit needs the parameter {match[1]}: '
            f'add {_option(match[1])}'
        )
    if match := _UNKNOWN.search(text):
        name = match[1] or match[2]
        return exceptions.KronosException(
            f'the strategy {request.strategy} has no parameter {name}: '
            f'remove {_option(name)}'
        )
    return error


def _option(name: str) -> str:
    return (
        '--aggregate NAME' if name == AGGREGATES else f'--param {name}=VALUE'
    )
