# SPDX-License-Identifier: Apache-2.0
"""The probes of Watcher's and Nova's plugins, in processes of their own.

Their options cannot be in one process, and they change the one that imports
them.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

LIMIT_SECONDS = 300

Inspect = Callable[[str, Sequence[str], Any], Any]


class InspectionError(Exception):
    """There is no answer; the text says why."""


def inspect(module: str, arguments: Sequence[str], request: Any) -> Any:
    """Run a module that answers with JSON.

    :param request: what it reads as JSON from its input
    :raises InspectionError: it failed or did not end
    """
    try:
        done = subprocess.run(  # noqa: S603
            # -P: nothing of the current directory is loaded.
            [sys.executable, '-P', '-m', module, *arguments],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise InspectionError(f'no end within {LIMIT_SECONDS} s') from None
    except ValueError:
        raise InspectionError(_kind(done.stderr)) from None


def _kind(text: str) -> str:
    """The kind of error that ended it: its text may hold a secret."""
    last = text.strip().splitlines()[-1:] or ['']
    name, _, rest = last[0].partition(':')
    if name in ('ImportError', 'ModuleNotFoundError', 'AttributeError'):
        return last[0]
    return name if rest and ' ' not in name else 'it ended without an answer'
