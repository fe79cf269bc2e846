# SPDX-License-Identifier: Apache-2.0
"""The openstack client as an operator runs it, but in this process.

Its start costs two seconds of a processor, and a scenario runs it often.
"""

import contextlib
import io
import logging
import os
import subprocess
from unittest import mock

from openstackclient import shell
from openstackclient.common import clientmanager
from osc_lib import clientmanager as lib


def run(words: list[str], env: dict[str, str]) -> subprocess.CompletedProcess:
    """Run a command.

    :param words: those behind ``openstack``
    :param env: variables that tell the cloud
    """
    out, err = io.StringIO(), io.StringIO()
    _forget_the_last()
    root = logging.getLogger()
    before = root.level, list(root.handlers)
    with (
        mock.patch.dict(os.environ, env),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            code = shell.OpenStackShell().run(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            # It sets up the logging of the process as if it were its own.
            root.setLevel(before[0])
            root.handlers[:] = before[1]
    return subprocess.CompletedProcess(
        ['openstack', *words], code, out.getvalue(), err.getvalue()
    )


def _forget_the_last() -> None:
    """It keeps its clients for as long as the process lives.

    They would ask for the version of the API that another command wanted.
    """
    for owner in clientmanager.ClientManager.__mro__:
        for member in vars(owner).values():
            if isinstance(member, lib.ClientCache):
                member._handle = None
