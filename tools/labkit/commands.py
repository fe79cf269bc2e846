# SPDX-License-Identifier: Apache-2.0
"""The commands of the lab that need the virtual environment."""

import argparse
from collections.abc import Callable

from labkit import cleaning, reboots, settings
from labkit.lab import Lab
from labkit.real import guest_control


def run(wanted: argparse.Namespace) -> int:
    """Run one command and give the exit code."""
    lab = Lab()
    if wanted.command == 'demo':
        return _demo(lab, wanted)
    COMMANDS[wanted.command](lab, wanted)
    return 0


def _demo(lab: Lab, wanted: argparse.Namespace) -> int:
    from labkit import demo
    from labkit.cells import demo as cells_demo
    from labkit.real import demo as real_demo

    if wanted.cells:
        return cells_demo.run(lab, down=wanted.down)
    chosen = real_demo if wanted.real else demo
    return chosen.run(lab, down=wanted.down)


def _horizon(lab: Lab, wanted: argparse.Namespace) -> None:
    print(
        f'{lab.horizon()}\n'
        f'Its user is admin, with the password in {settings.PASSWORD}.'
    )


def _kill(lab: Lab, wanted: argparse.Namespace) -> None:
    if wanted.qemu:
        guest_control.kill(lab, wanted.name, wanted.qemu)
    else:
        lab.stop(_named(wanted), kill=True)


def _pause(lab: Lab, wanted: argparse.Namespace) -> None:
    if wanted.qemu:
        guest_control.pause(lab, wanted.name, wanted.qemu)
    else:
        lab.pause(_named(wanted))


def _resume(lab: Lab, wanted: argparse.Namespace) -> None:
    if wanted.qemu:
        guest_control.resume(lab, wanted.name, wanted.qemu)
    else:
        lab.resume(_named(wanted))


def _named(wanted: argparse.Namespace) -> str:
    """The service that is meant; of a real host its nova-compute."""
    if wanted.part:
        return f'{wanted.part}-{wanted.name}'
    return str(wanted.name)


def _reboot(lab: Lab, wanted: argparse.Namespace) -> None:
    reboots.reboot(
        lab, [wanted.name], wanted.release, wanted.version, wanted.seconds
    )


COMMANDS: dict[str, Callable[[Lab, argparse.Namespace], object]] = {
    'up': lambda lab, wanted: lab.up(
        wanted.real,
        wanted.monitor,
        wanted.masakari,
        wanted.cells,
        wanted.hosts,
        wanted.ha,
    ),
    'reset': lambda lab, wanted: cleaning.reset(lab.cloud),
    'start': lambda lab, wanted: lab.start(_named(wanted)),
    'stop': lambda lab, wanted: lab.stop(_named(wanted), kill=wanted.kill),
    'kill': _kill,
    'horizon': _horizon,
    'reboot': _reboot,
    'restart': lambda lab, wanted: lab.restart(wanted.name),
    'pause': _pause,
    'isolate': lambda lab, wanted: lab.isolate(wanted.name),
    'desync': lambda lab, wanted: lab.desync(wanted.name),
    'resume': _resume,
    'fill': lambda lab, wanted: lab.fill(wanted.name),
    'skew': lambda lab, wanted: lab.skew(wanted.name, wanted.seconds),
    'guest': lambda lab, wanted: print(
        guest_control.order(lab, wanted.name, wanted.order)
    ),
    'speed': lambda lab, wanted: guest_control.limit(
        lab, wanted.name, wanted.mib
    ),
}
