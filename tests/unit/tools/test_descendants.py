# SPDX-License-Identifier: Apache-2.0
"""Does an interrupt of the tests end all that they started, and no more?"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import fixtures
from labkit import process
from oslotest import base

TOOLS = pathlib.Path(__file__).parents[3] / 'tools'
SLEEP = 'import time; time.sleep(300)'
STUBBORN = f'import signal; signal.signal(15, signal.SIG_IGN); {SLEEP}'
PARENT = """
import os, subprocess, sys
def start(code, **more):
    child = subprocess.Popen([sys.executable, '-c', code], **more)
    # Another parent writes to the same pipe: a line in one go.
    os.write(1, b'%d\\n' % child.pid)
start({sleep!r})
start({sleep!r}, start_new_session=True)
if sys.argv[1] == 'stays':
    start({sleep!r}, env={{}})
else:
    start({sleep!r}, cwd='/')
start({stubborn!r}, start_new_session=True)
if sys.argv[1] == 'stays':
    {sleep}
"""
PARENT = PARENT.format(sleep=SLEEP, stubborn=STUBBORN)
RUN = f"""
import importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader('run', {str(TOOLS / 'test')!r})
spec = importlib.util.spec_from_loader('run', loader)
run = importlib.util.module_from_spec(spec)
loader.exec_module(run)
run.descendants.Run.end.__defaults__ = (0.5,)
if sys.argv[1] == 'apt':
    run.descendants.KILL_SECONDS = 0.5
checks = run.Checks()
run.end_when_interrupted(checks)
command = [sys.executable, '-c', {PARENT!r}, 'stays']
try:
    if sys.argv[1] == 'orphans':
        run.subprocess.call([*command[:-1], 'goes'])
        print('they are orphans', flush=True)
        run.time.sleep(300)
    elif sys.argv[1] == 'apt':
        words = [sys.argv[2], '300']
        apt = run.subprocess.Popen(
            words,
            start_new_session=True,
            stdout=run.subprocess.DEVNULL,
            stderr=run.subprocess.DEVNULL,
        )
        print(apt.pid, flush=True)
        run.time.sleep(300)
    elif sys.argv[1] == 'stuck':
        checks.run('x', command, None, limit=2)
    elif sys.argv[1] == 'together':
        checks.stestr = lambda *_, **__: checks.run('x', command, None)
        checks.together(('a',), ('b',))
    else:
        checks.run('x', command, None)
finally:
    checks.run('down', [sys.executable, '-c', 'print("tidied up")'], None)
"""
STARTED = 4
"""Of each parent."""


def is_running(pid: int) -> bool:
    seen = process.stat(pid)
    return seen is not None and seen.state not in 'ZX'


class TestInterrupt(base.BaseTestCase):
    """Of ``tools/test`` itself, with other checks."""

    def start(self, code: str, *words: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, '-c', code, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def pids(self, child: subprocess.Popen[str], number: int) -> list[int]:
        """The numbers that it prints, a line each."""
        assert child.stdout is not None
        found: list[int] = []
        while len(found) < number:
            line = child.stdout.readline()
            self.assertNotEqual('', line)
            if line.strip().isdigit():
                found.append(int(line))
                self.addCleanup(self.kill, found[-1])
        return found

    @staticmethod
    def kill(pid: int) -> None:
        if is_running(pid):
            os.kill(pid, signal.SIGKILL)

    def check(
        self, number: int, how: str, parents: int, ready: str = ''
    ) -> None:
        """In other sessions, without an environment, deaf to SIGTERM.

        :param ready: a line after which the signal is sent
        """
        other = self.start(SLEEP)
        run = self.start(RUN, how)
        pids = self.pids(run, parents * STARTED)
        assert run.stdout is not None
        while ready and ready not in run.stdout.readline():
            self.assertIsNone(run.poll())
        self.assertEqual([True] * len(pids), [*map(is_running, pids)])
        run.send_signal(number)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(128 + number, run.returncode, out)
        self.assertIn('interrupted; ending what was started', out)
        self.assertIn('tidied up', out)
        self.assertNotIn('Traceback', out)
        self.assertEqual([], [pid for pid in pids if is_running(pid)])
        self.assertTrue(is_running(other.pid))

    def test_one_check(self) -> None:
        self.check(signal.SIGINT, 'alone', 1)

    def test_side_by_side(self) -> None:
        """Also where other threads wait for what runs."""
        self.check(signal.SIGTERM, 'together', 2)

    def test_a_suite_that_does_not_end(self) -> None:
        """Whatever holds it up is named and ended, the rest goes on."""
        other = self.start(SLEEP)
        run = self.start(RUN, 'stuck')
        pids = self.pids(run, STARTED)
        out, _ = run.communicate(timeout=60)
        self.assertEqual(0, run.returncode, out)
        self.assertIn('does not end after 2 s:', out)
        for pid in pids:
            self.assertRegex(out, rf'(?m)^{pid} \S+python')
        self.assertIn('tidied up', out)
        self.assertEqual([], [pid for pid in pids if is_running(pid)])
        self.assertTrue(is_running(other.pid))

    def test_apt_ends_its_step(self) -> None:
        """It has a session of its own, and what it began half is worse."""
        folder = self.useFixture(fixtures.TempDir()).path
        apt = shutil.copy('/bin/sleep', f'{folder}/apt-get')
        run = self.start(RUN, 'apt', apt)
        [pid] = self.pids(run, 1)
        run.send_signal(signal.SIGTERM)
        out, _ = run.communicate(timeout=60)
        self.assertIn(f'process {pid} does not end', out)
        self.assertTrue(is_running(pid))

    def test_those_whose_parents_are_gone(self) -> None:
        self.check(signal.SIGHUP, 'orphans', 1, 'they are orphans')
