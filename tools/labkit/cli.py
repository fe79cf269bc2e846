# SPDX-License-Identifier: Apache-2.0
"""The command line of ``tools/lab``. Standard library only, so that
``--help``, ``down`` and ``status`` work before anything is installed.
"""

import argparse
import functools
import os
import shlex
import shutil
import signal
import subprocess
import sys

import _bootstrap

from labkit import (
    cohorts,
    epilog,
    layout,
    ports,
    process,
    running,
    settings,
)
from labkit.ha import proxy

NEEDS_ENVIRONMENT = (
    'up',
    'demo',
    'start',
    'stop',
    'restart',
    'pause',
    'isolate',
    'desync',
    'fill',
    'skew',
    'resume',
    'reset',
    'reboot',
    'kill',
    'guest',
    'speed',
    'horizon',
)
_ONE_COHORT_ONLY = ('real', 'monitor', 'masakari')
"""Options for what is in one environment only."""


def parser() -> argparse.ArgumentParser:
    """All commands with their help."""
    top = argparse.ArgumentParser(
        prog='tools/lab',
        description='A real OpenStack on this machine, on loopback only, '
        'with fake hypervisors. All of it lives in .lab.',
        epilog=epilog.TEXT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(
        dest='command', required=True, metavar='COMMAND'
    )
    cohort = argparse.ArgumentParser(add_help=False)
    cohort.add_argument(
        '--cohort',
        choices=list(cohorts.COHORTS),
        help='of the lab with these releases of Nova and Watcher',
    )
    add = functools.partial(commands.add_parser, parents=[cohort])
    for name, text in (
        ('up', 'install what is missing and bring up all that is not up'),
        ('down', 'stop all; the data stays for the next "up"'),
        ('status', 'show which services run, and their memory'),
        ('env', 'print shell lines; use: eval "$(./tools/lab env)"'),
        ('reset', 'delete all servers and groups, cancel audits'),
        ('wipe', 'stop all and remove the data; installed things stay'),
        ('horizon', 'serve watcher-dashboard for the lab that runs'),
    ):
        add(name, help=text, description=text)
    up = commands.choices['up']
    up.add_argument(
        '--real',
        type=int,
        choices=range(1, 5),
        metavar='N',
        help='and N hosts (1-4) with libvirt, QEMU and guests that run',
    )
    up.add_argument(
        '--monitor',
        action='store_true',
        help='and the instance monitor on each of these hosts',
    )
    up.add_argument(
        '--masakari',
        action='store_true',
        help='the same, and Masakari, to which they report',
    )
    up.add_argument(
        '--cells',
        type=int,
        choices=(1, 2),
        help='how many cells Nova has (default: as before, or one)',
    )
    up.add_argument(
        '--hosts',
        type=int,
        choices=range(1, 41),
        metavar='N',
        help='of the only cell, or of the first of two (default: as before, '
        'or nine)',
    )
    up.add_argument(
        '--ha',
        action='store_true',
        help='with three databases and brokers, and two of each service',
    )
    policy = add(
        'policy', help='whether an administrator may move servers to a cell'
    )
    policy.add_argument('state', choices=('open', 'closed'))
    demo = add('demo', help='show Kronos even out a cloud; exit 0 if it did')
    demo.add_argument(
        '--down', action='store_true', help='bring the lab down afterwards'
    )
    what = demo.add_mutually_exclusive_group()
    what.add_argument(
        '--real',
        action='store_true',
        default=None,
        help='show guests move that really run, on hosts with libvirt',
    )
    what.add_argument(
        '--cells',
        action='store_true',
        help='show Kronos empty a cell, in a lab with two of them',
    )
    logs = add('logs', help="show a service's log")
    logs.add_argument('name', help='as "status" lists it, or a host (cmp1)')
    logs.add_argument('-f', '--follow', action='store_true')
    logs.add_argument('-n', '--lines', type=int, default=50)
    for name in ('start', 'stop', 'restart', 'pause', 'resume', 'kill'):
        text = f'{name} one service or host'
        if name == 'kill':
            text = 'end one service or host as a crash would'
        one = add(name, help=text)
        one.add_argument(
            'name', help='as "status" lists it, or a host (cmp1, ra)'
        )
        if name == 'stop':
            one.add_argument('--kill', action='store_true', help='as a crash')
        if name != 'restart':
            _add_parts(one, name)
    for name, text in (
        ('isolate', 'cut a database or broker off from the others'),
        ('desync', 'have a database lag behind the others'),
        ('fill', 'have a database or broker see a full disk'),
    ):
        node = add(name, help=f'{text}, until "resume"')
        node.add_argument('name', help='such as db2')
    skew = add('skew', help='restart a service with a clock of its own')
    skew.add_argument('name', help='such as watcher-applier-2')
    skew.add_argument(
        'seconds', type=float, help='ahead of the others; -90: behind them'
    )
    reboot = add('reboot', help='reboot a simulated host that is empty')
    reboot.add_argument('name', help='such as cmp1')
    reboot.add_argument(
        '--release', required=True, help='of the kernel that it boots'
    )
    reboot.add_argument(
        '--hypervisor-version',
        dest='version',
        type=int,
        help='of its hypervisor then, as Nova shows it (default: as before)',
    )
    reboot.add_argument(
        '--seconds',
        type=float,
        default=5.0,
        help='how long it is away (default: 5)',
    )
    guest = add(
        'guest', help='tell a real guest what to do; see "Real hosts" below'
    )
    guest.add_argument('name', help='of its server')
    guest.add_argument('order', help='such as "cpu 40"')
    speed = add('speed', help='limit how fast a real guest migrates')
    speed.add_argument('name', help='of its server')
    speed.add_argument('mib', type=int, help='MiB per second; 0: no limit')
    return top


def _add_parts(one: argparse.ArgumentParser, name: str) -> None:
    """What of a real host is meant."""
    parts = one.add_mutually_exclusive_group()
    for part in ('compute', 'libvirtd'):
        parts.add_argument(
            f'--{part}',
            dest='part',
            action='store_const',
            const=part,
            help=f"a real host's {part}",
        )
    if name in ('kill', 'pause', 'resume'):
        parts.add_argument(
            '--qemu', metavar='NAME', help='the guest of that server there'
        )


def main() -> int:
    """Run one command and give the exit code."""
    wanted = parser().parse_args()
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)  # a shell may have ignored it
    _enter_lab(wanted)
    try:
        if wanted.command in NEEDS_ENVIRONMENT:
            _enter_environment(
                getattr(wanted, 'real', None) is not None,
                getattr(wanted, 'masakari', False),
                wanted.command == 'horizon',
            )
            from labkit import commands

            return commands.run(wanted)
        return _SIMPLE[wanted.command](wanted)
    except running.LabError as error:
        print(f'tools/lab: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('tools/lab: interrupted', file=sys.stderr)
        return 130


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _enter_lab(wanted: argparse.Namespace) -> None:
    """Go on in the lab of the cohort that is wanted."""
    if layout.COHORT.name or wanted.cohort:
        if wanted.command == 'horizon':
            parser().error('horizon is for a lab without a cohort')
        for name in _ONE_COHORT_ONLY:
            if getattr(wanted, name, None):
                parser().error(f'--{name} is for a lab without a cohort')
    if wanted.cohort and wanted.cohort != layout.NAME:
        os.environ['KRONOS_LAB'] = wanted.cohort
        script = str(layout.KIT.parent / 'lab')
        os.execv(sys.executable, [sys.executable, script, *sys.argv[1:]])


def _enter_environment(real: bool, masakari: bool, horizon: bool) -> None:
    """Go on in the lab's virtual environment, made if need be.

    :param real: whether real hosts are wanted, too
    :param masakari: whether Masakari is, too
    :param horizon: whether Horizon is, too
    """
    if os.environ.get('KRONOS_LAB_ENTERED') == str(layout.VENV):
        return
    _bootstrap.main(
        real=real, masakari=masakari, horizon=horizon, cohort=layout.COHORT
    )
    os.environ['KRONOS_LAB_ENTERED'] = str(layout.VENV)
    script = str(layout.KIT.parent / 'lab')
    python = layout.program('python')
    os.execv(python, [python, script, *sys.argv[1:]])


def _down(wanted: argparse.Namespace) -> int:
    from labkit import stopping

    stopping.down()
    return 0


def _wipe(wanted: argparse.Namespace) -> int:
    from labkit import stopping

    stopping.down()
    shutil.rmtree(layout.DATA, ignore_errors=True)
    return 0


def _status(wanted: argparse.Namespace) -> int:
    known = process.records()
    if not known:
        print('the lab is down')
        return 3
    places = ports.load()
    total = 0
    for name, record in sorted(known.items()):
        alive = process.is_running(record)
        memory = process.memory_kb(record) if alive else 0
        total += memory
        port = places.get(name.replace('-', '_'), '')
        state = f'pid {record.pid}' if alive else 'ENDED'
        text = f'{name:26} {state:12} {memory // 1024:5} MiB  {port}'
        print(f'{text}  {proxy.state(name, places)}'.rstrip())
    print(f'{len(known)} services, {total // 1024} MiB')
    dead = [r for r in known.values() if not process.is_running(r)]
    return 1 if dead else 0


def _policy(wanted: argparse.Namespace) -> int:
    from labkit.cells import choice, policy

    if choice.read() is None:
        raise running.LabError(
            'only a lab with two cells has this policy: ./tools/lab up '
            '--cells 2'
        )
    policy.write(is_open=wanted.state == 'open')
    return 0


def _env(wanted: argparse.Namespace) -> int:
    places = ports.load()
    if not places or not settings.PASSWORD.exists():
        raise running.LabError('run "./tools/lab up" first')
    variables = settings.client_variables(places)
    for name, value in variables.items():
        print(f'export {name}={shlex.quote(value)}')
    folder = shlex.quote(str(layout.VENV / 'bin'))
    print(f'case ":$PATH:" in *:{folder}:*) ;; *) PATH={folder}:$PATH ;; esac')
    return 0


def _logs(wanted: argparse.Namespace) -> int:
    names = sorted(file.stem for file in layout.LOG.glob('*.log'))
    name = wanted.name
    if f'compute-{name}' in names:
        name = f'compute-{name}'
    if name not in names:
        raise running.LabError(
            f'there is no log {name}; there are: {", ".join(names)}'
        )
    follow = ['-F'] if wanted.follow else []
    file = str(layout.LOG / f'{name}.log')
    command = ['tail', *follow, '-n', str(wanted.lines), file]
    return subprocess.run(command).returncode


_SIMPLE = {
    'down': _down,
    'wipe': _wipe,
    'status': _status,
    'env': _env,
    'policy': _policy,
    'logs': _logs,
}
