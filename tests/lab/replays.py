# SPDX-License-Identifier: Apache-2.0
"""What does a replay plan, and what did an audit plan by its report?"""

import json
import pathlib
import subprocess
import sys
from typing import Any

from tests.lab import base

Step = tuple[str, str, str, str, str]
"""Scope, phase, instance, source, destination."""


def replayed(recording: pathlib.Path, *words: str) -> list[Step]:
    """What kronos-replay plans for a recording."""
    words = (str(recording), '--format', 'json', *words)
    return steps(json.loads(run('replay', *words)))


def planned(reports: pathlib.Path, audit: dict[str, Any]) -> list[Step]:
    """What the report of an audit says that it planned."""
    [report] = reports.glob(f'*-{audit["UUID"]}.json')
    return steps(json.loads(report.read_text()))


def steps(document: dict[str, Any]) -> list[Step]:
    return [
        (
            scope['name'],
            step['phase'],
            step['instance'],
            step['source'],
            step['destination'],
        )
        for scope in document['scopes']
        for step in scope['steps']
    ]


def run(program: str, *words: str) -> str:
    """Run one of Kronos' commands, that must succeed; what it prints."""
    done = subprocess.run(
        [sys.executable, '-m', f'kronos.cmd.{program}', *words],
        cwd=base.TOP,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout
