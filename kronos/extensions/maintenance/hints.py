# SPDX-License-Identifier: Apache-2.0
"""The hints before a run: what an operator should know, as sentences."""

from collections.abc import Sequence

from kronos.engine import wording

NO_WORK = 'the done query names all hosts of the run, so no work is left'
NOBODY_DONE = (
    'the done query names no host of the run: check that it names one as soon '
    'as the work on it is done'
)

NO_ROOM = (
    'the other hosts have no room for the servers of any host of the run: add '
    'a host, or free some room'
)


def closed(hosts: Sequence[str]) -> str:
    """:param hosts: those that take no server, and the run has not closed"""
    return (
        f'{wording.some(hosts)} cannot take servers, closed by somebody else '
        'or down, and count against at_once'
    )


def balanced(audit: str) -> str:
    """:param audit: one that moves servers meanwhile, by name"""
    return f'audit {audit} goes on moving servers of these hosts; suspend it'
