# SPDX-License-Identifier: Apache-2.0
"""The shell commands that Kronos shows to operators, with quoted values.

An operator pastes them into a root shell, and a tenant may choose what a
server is called. So whatever a command contains is one word of it, on one
line. Messages, tables and files of evidence take every command from here.
"""

import re
import shlex
from collections.abc import Iterable
from enum import StrEnum

from kronos.common import plain_text

_FIELD = re.compile(r'(--(?:instance|name) )?\{(\w+)\}')
"""A value, with the option that takes it."""


class ShellCommand(StrEnum):
    """A command; ``{field}`` is a value that :meth:`of` fills in."""

    SERVER_START = 'openstack server start {server}'
    SERVER_STOP = 'openstack server stop {server}'
    SERVER_REBOOT = 'openstack server reboot --hard {server}'
    SERVER_DELETE = 'openstack server delete {server}'
    SERVER_SET_ACTIVE = 'openstack server set --state active {server}'
    SERVER_SET_ACTIVE_UNASKED = (
        'openstack server set --state active --auto-approve {server}'
    )
    SERVER_SET_ERROR = 'openstack server set --state error {server}'
    RESIZE_CONFIRM = 'openstack server resize confirm {server}'
    RESIZE_REVERT = 'openstack server resize revert {server}'
    SERVICE_LIST = 'openstack compute service list'
    SERVICE_ENABLE = (
        'openstack compute service set --enable {host} nova-compute'
    )

    HEAL_ALLOCATIONS = (
        'nova-manage placement heal_allocations --instance {server} --force'
    )
    ALLOCATION_DELETE = (
        'openstack resource provider allocation delete {consumer}'
    )
    LIST_CELLS = 'nova-manage cell_v2 list_cells'
    DELETE_HIDDEN_COPY = 'python3 delete_hidden_copy.py {cell} {server}'

    GET_CONNECTOR = 'nova-manage volume_attachment get_connector > {file}'
    REFRESH_ATTACHMENT = (
        'nova-manage volume_attachment refresh {server} {volume} {file}'
    )
    IMAGE_DELETE = 'openstack image delete {image}'
    IMAGE_LIST = 'openstack image list --name {name}'

    SEGMENT_HOST_CREATE = (
        'openstack segment host create {host} COMPUTE SSH SEGMENT'
    )
    SEGMENT_HOST_OPEN = (
        'openstack segment host update --on_maintenance False SEGMENT {host}'
    )
    AUDIT_CREATE = (
        'openstack optimize audit create -t EVENT -g kronos_recovery '
        '-s kronos_recover -p aggregates=AGGREGATE --force --name {audit}'
    )
    AUDIT_CANCEL = (
        'openstack optimize audit update {audit} replace state=CANCELLED'
    )
    PLAN_START = 'openstack optimize actionplan start {plan}'
    PLAN_SHOW = 'openstack optimize actionplan show {plan}'
    PLAN_CANCEL = 'openstack optimize actionplan cancel {plan}'
    PLAN_MOVES = 'openstack optimize kronos plan show {plan}'
    PLAN_LIST = 'openstack optimize kronos plan list'
    RUN_STATUS = 'openstack optimize kronos maintenance status --run {run}'

    MONITOR_STATUS = 'systemctl status kronos-instance-monitor'
    TEST_CONFIG = 'kronos-test-config'
    TEST_CELLS = 'kronos-test-config --cells'
    STATUS = 'kronos-status upgrade check'
    STATUS_OF_WATCHER = (
        'kronos-status upgrade check --watcher-config '
        '/etc/watcher/watcher.conf'
    )
    EXPLAIN = 'kronos-explain'
    EXPLAIN_DRAIN = 'kronos-explain --live --blockers {host}'
    RECORD = 'kronos-record'
    REPLAY = 'kronos-replay'
    SIMULATE_FETCH = 'kronos-simulate --fetch 7d --out DIR'
    SIMULATE_ADVISE = 'kronos-simulate --advise DIR'

    def of(self, **values: str | list[str]) -> str:
        """The command with its values, each one word of it."""

        def filled(match: re.Match[str]) -> str:
            option, value = match[1] or '', values[match[2]]
            words = [value] if isinstance(value, str) else value
            if option and words[0].startswith('-'):
                # Or it would be taken for an option itself.
                option = f'{option.rstrip()}='
            return option + joined(words)

        return _FIELD.sub(filled, self.value)

    @property
    def general(self) -> str:
        """The command for a table, with names in place of values."""
        return _FIELD.sub(
            lambda match: (match[1] or '') + match[2].upper(), self.value
        )

    @property
    def short(self) -> str:
        """The command without the value at its end."""
        return self.value.rpartition(' {')[0]


_PROGRAMS = '|'.join(sorted({row.partition(' ')[0] for row in ShellCommand}))
IN_SENTENCE = re.compile(rf'"(?:{_PROGRAMS}) [^"]*"')
"""A command, as messages have it: between quotes."""


def word(value: str) -> str:
    """A value as one word of a shell, on one line.

    What would steer a terminal is a question mark.
    """
    return shlex.quote(plain_text.line(value))


def joined(words: Iterable[str]) -> str:
    """The words of a command as one line."""
    return ' '.join(map(word, words))
