# SPDX-License-Identifier: Apache-2.0
"""The entry points of the commands; each loads its module when it is called.

Loading takes a second in which a user may think better of it, so nothing is
imported here that is not soon there.
"""

import importlib
import sys
import warnings

INTERRUPTED = 130
"""As a shell has it: 128 and the number of the signal."""


def effect() -> int:
    return _run('effect')


def explain() -> int:
    return _run('explain')


def exporter() -> int:
    return _run('exporter')


def instance_monitor() -> int:
    return _run('instance_monitor')


def record() -> int:
    return _run('record')


def replay() -> int:
    return _run('replay')


def simulate() -> int:
    return _run('simulate')


def status() -> int:
    return _run('status')


def test_config() -> int:
    return _run('test_config')


def _run(name: str) -> int:
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                # Those of libraries are for who develops with them.
                warnings.simplefilter('ignore')
            module = importlib.import_module(f'kronos.cmd.{name}')
            status: int = module.main()
    except KeyboardInterrupt:
        command = name.replace('_', '-')
        print(f'kronos-{command}: interrupted', file=sys.stderr)
        return INTERRUPTED
    return status
