# SPDX-License-Identifier: Apache-2.0
"""A connection of Ansible that is no local one, to this machine.

Ansible never reboots by a local connection, not even with ``--check``.
"""

from typing import ClassVar

from ansible.plugins.connection import local

DOCUMENTATION = """
name: far
short_description: to this machine, as if it were another
description: for tests
"""


class Connection(local.Connection):
    transport: ClassVar[str] = 'far'
