# SPDX-License-Identifier: Apache-2.0
"""What do the commands do that need the virtual environment?"""

import argparse

from labkit.lab import Lab


def run(wanted: argparse.Namespace) -> int:
    """Run one command and give the exit code."""
    lab = Lab()
    if wanted.command == 'up':
        lab.up()
    elif wanted.command == 'demo':
        from labkit import demo

        return demo.run(lab, down=wanted.down)
    elif wanted.command == 'reset':
        lab.cloud.reset()
    elif wanted.command == 'start':
        lab.start(wanted.name)
    elif wanted.command == 'stop':
        lab.stop(wanted.name, kill=wanted.kill)
    elif wanted.command == 'restart':
        lab.restart(wanted.name)
    elif wanted.command == 'pause':
        lab.pause(wanted.name)
    elif wanted.command == 'resume':
        lab.resume(wanted.name)
    return 0
