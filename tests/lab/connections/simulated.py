# SPDX-License-Identifier: Apache-2.0
"""A connection of Ansible to a simulated host, which is a folder.

It has the id of its boot; commands run on this machine.
"""

import os
from typing import Any, ClassVar

from ansible.plugins.connection import local

DOCUMENTATION = """
name: simulated
short_description: to a simulated host
description: for tests
"""
BOOT_ID = '/proc/sys/kernel/random/boot_id'


class Connection(local.Connection):
    transport: ClassVar[str] = 'simulated'

    def exec_command(self, cmd: str, *words: Any, **more: Any) -> Any:
        host = self._play_context.remote_addr
        file = f'{os.environ["SIMULATED_HOSTS"]}/{host}/boot_id'
        cmd = cmd.replace(BOOT_ID, file)
        return super().exec_command(cmd, *words, **more)
