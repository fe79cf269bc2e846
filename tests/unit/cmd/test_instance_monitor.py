# SPDX-License-Identifier: Apache-2.0
"""Does the command check, explain, run, and end as it says?"""

import signal
import subprocess
import sys

import fixtures

from kronos.cmd import instance_monitor
from tests import commands, places
from tests.unit.monitor import agents
from tests.unit.monitor.hypervisor import until


class CommandTestCase(agents.AgentTestCase):
    def setUp(self) -> None:
        super().setUp()
        # It would silence the loggers of the tests that come after.
        self.useFixture(
            fixtures.MonkeyPatch('kronos.cmd.config_files.log', lambda _: None)
        )

    def run_it(self, *arguments: str) -> tuple[int, str, str]:
        path = self.folder / 'kronos.conf'
        return commands.run(
            instance_monitor.main, ['--config-file', str(path), *arguments]
        )


class TestCheck(CommandTestCase):
    def test_good(self) -> None:
        self.conf()
        code, out, err = self.run_it('--check')
        self.assertEqual((0, ''), (code, err))
        self.assertIn('source synthetic: good', out)

    def test_bad(self) -> None:
        self.conf()
        self.host.path.unlink()
        code, out, _ = self.run_it('--check')
        self.assertEqual(1, code)
        self.assertIn('No such file', out)

    def test_wrong_options_and_rules_at_once(self) -> None:
        self.conf('http://h', 'cafile = /no/ca')
        self.rules.write_text('rules: 7')
        for more in (['--explain', 'crash'], []):
            code, out, err = self.run_it(*more)
            self.assertEqual((2, ''), (code, out))
            self.assertIn('[kronos_monitor_hook] cafile: /no/ca', err)
            self.assertIn('rules: must be a list of 1 to 1000 rules', err)
        code, out, err = self.run_it('--check')
        self.assertEqual(2, code)
        self.assertIn('[kronos_monitor_hook] cafile: /no/ca', err)
        self.assertIn('rules: must be a list of 1 to 1000 rules', out)
        self.assertIn('source synthetic: good', out)

    def test_a_value_that_is_none(self) -> None:
        self.conf('', 'stale_seconds = x')
        code, _, err = self.run_it('--check')
        self.assertEqual(2, code)
        self.assertIn('[kronos_monitor] stale_seconds', err)

    def test_a_file_that_is_none(self) -> None:
        (self.folder / 'kronos.conf').write_text('no option')
        code, _, err = self.run_it('--check')
        self.assertEqual(2, code)
        self.assertIn('is not in the format of oslo.config', err)


class TestWithoutLibvirt(CommandTestCase):
    """Its binding needs a compiler, and is not everywhere."""

    def setUp(self) -> None:
        super().setUp()

        def load(name: str) -> None:
            raise ImportError(name='libvirt')

        self.useFixture(
            fixtures.MonkeyPatch('kronos.monitor.sources.registry.load', load)
        )
        self.conf()

    def test_a_rule_is_explained(self) -> None:
        code, out, err = self.run_it('--explain', 'STOPPED_FAILED')
        self.assertEqual((0, ''), (code, err))
        self.assertIn('Rule all applies', out)

    def test_the_rest_is_checked(self) -> None:
        code, out, err = self.run_it('--check')
        self.assertEqual((1, ''), (code, err))
        self.assertIn(
            'source synthetic: it could not be tried here: the package '
            'libvirt is not installed',
            out,
        )
        self.assertIn('event rules: 1 of', out)
        self.assertIn('state file', out)

    def test_it_does_not_run(self) -> None:
        code, _, err = self.run_it()
        self.assertEqual(2, code)
        self.assertIn('[kronos_monitor] source: the package libvirt', err)


class TestExplain(CommandTestCase):
    def test_a_rule(self) -> None:
        self.conf()
        code, out, _ = self.run_it('--explain', 'STOPPED_FAILED', 'project=x')
        self.assertEqual(0, code)
        self.assertIn('Rule all applies: the event is sent as error', out)

    def test_unknown(self) -> None:
        self.conf()
        code, _, err = self.run_it('--explain', 'STOPED_FAILED')
        self.assertEqual(2, code)
        self.assertIn('did you mean STOPPED_FAILED?', err)


class TestRun(CommandTestCase):
    def test_wrong_rules(self) -> None:
        self.conf()
        self.rules.write_text('rules: 7')
        code, _, err = self.run_it()
        self.assertEqual(2, code)
        self.assertIn('must be a list', err)

    def test_it_ends_on_sigterm_only(self) -> None:
        process = self.process()
        log = self.folder / 'log'
        until(lambda: 'The agent watches' in log.read_text())
        process.send_signal(signal.SIGHUP)
        guest = self.host.start()
        self.host.kill(guest)
        until(lambda: guest in log.read_text())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(0, process.wait())
        self.assertIn('The instance monitor stops', log.read_text())

    def test_it_is_small(self) -> None:
        """Nothing is loaded that it has no use for."""
        text = (
            'import sys; from kronos.cmd import instance_monitor; '
            'from kronos.monitor import wiring, checks, settings; '
            "print([n for n in ('openstack', 'keystoneauth1', 'numpy', "
            "'requests', 'nova', 'watcher', 'jinja2') if n in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, '-c', text],
            cwd=places.TOP,
            capture_output=True,
            text=True,
        )
        self.assertEqual('[]\n', done.stdout, done.stderr)

    def test_a_package_is_missing(self) -> None:
        path = self.conf()
        text = (
            'import sys; sys.modules["prometheus_client"] = None; '
            'from kronos.cmd import instance_monitor; '
            f'sys.exit(instance_monitor.main(["--config-file", "{path}"]))'
        )
        done = subprocess.run(
            [sys.executable, '-c', text],
            cwd=places.TOP,
            capture_output=True,
            text=True,
        )
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn("pip install 'kronos-watcher[monitor]'", done.stderr)
