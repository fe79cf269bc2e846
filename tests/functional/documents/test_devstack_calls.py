# SPDX-License-Identifier: Apache-2.0
"""The plugin of DevStack calls nothing but what DevStack promises.

Whatever the phases run is found when it is run; here is what no test may
reach, too. And the stand-in for DevStack's functions does as they do.
"""

import pathlib
import re
import subprocess
import textwrap
from collections.abc import Iterable

import fixtures
from oslotest import base

from tests import places
from tests.functional.documents import devstack_node

DEVSTACK = places.TOP / 'devstack'
PROMISED = frozenset(
    {
        'define_plugin',
        'die',
        'echo_summary',
        'enable_service',
        'get_python_exec_prefix',
        'ini_has_option',
        'inidelete',
        'iniget',
        'iniset',
        'is_service_enabled',
        'plugin_requires',
        'run_process',
        'setup_develop',
        'stop_process',
    }
)
"""Functions of DevStack."""
SHELL = frozenset(
    {
        'cd',
        'echo',
        'local',
        'mapfile',
        'printf',
        'pwd',
        'read',
        'return',
        'set',
        'umask',
    }
)
COMPOUND = re.compile(
    r'^(?:(?:if|elif|then|else|while|until|do|!|\{|\(|function)\s+)+'
)
ASSIGNED = re.compile(r'^(?:[\w\[\]]+\+?=\S*\s*)+')


def commands(text: str) -> set[str]:
    """First word of each command in a script of bash.

    As bash itself lays the script out, one command a line.
    """
    done = subprocess.run(
        ['/bin/bash', '-c', f'function all {{\n{text}\n}}\ndeclare -f all'],
        capture_output=True,
        text=True,
        check=True,
    )
    laid_out = re.sub(r"\$?'[^']*'", 'Q', done.stdout)
    found = set(re.findall(r'[$<]\(([a-z][\w-]*)', laid_out))
    laid_out = re.sub(r'"[^"]*"', 'Q', laid_out)
    for line in laid_out.splitlines()[1:]:
        for part in re.split(r'&&|\|\||[;|]', line):
            found |= _first(part.strip())
    return found - {'all'}


def _first(part: str) -> set[str]:
    part = COMPOUND.sub('', part)
    part = ASSIGNED.sub('', part)
    word = re.match(r'([a-z][\w-]*)(?=\s|$)', part)
    shells = {'case', 'do', 'done', 'else', 'esac', 'fi', 'for', 'then'}
    return {word[1]} - shells if word else set()


def defined(text: str) -> set[str]:
    return set(re.findall(r'^function (\w+) \{', text, re.M))


def strangers(texts: Iterable[str]) -> set[str]:
    """Commands that are neither promised nor the script's own."""
    known = {*PROMISED, *SHELL, *devstack_node.TOOLS, 'sudo'}
    found = set()
    for text in texts:
        found |= commands(text) - known - defined(text)
    return found


class TestCalls(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.plugin = (DEVSTACK / 'plugin.sh').read_text()
        self.settings = (DEVSTACK / 'settings').read_text()

    def test_no_strangers(self) -> None:
        self.assertEqual(set(), strangers([self.plugin, self.settings]))

    def test_all_that_is_promised_is_called(self) -> None:
        """And found, so that a call of another one is, too."""
        found = commands(self.plugin) | commands(self.settings)
        self.assertLessEqual(PROMISED, found)

    def test_a_stranger_is_found(self) -> None:
        for more in (
            'pip_install kronos',
            'if is_fedora; then\n    true_or\nfi',
            'x=$(get_or_create_user kronos)',
            'echo "a $(restart_service kronos) b"',
            'is_service_enabled x && stop_service kronos',
        ):
            self.assertNotEqual(
                set(), strangers([f'{self.plugin}\n{more}\n']), more
            )

    def test_own_names(self) -> None:
        """DevStack runs it in its own shell, beside all other plugins."""
        for name in defined(self.plugin):
            self.assertIn('kronos', name)
        for name in re.findall(r'^(\w+)=', self.plugin, re.M):
            self.assertIn('KRONOS', name)

    def test_stand_in_has_what_is_promised(self) -> None:
        """But for what would install something."""
        text = devstack_node.STAND_IN.read_text()
        self.assertLessEqual(PROMISED - {'setup_develop'}, defined(text))


class TestFunctions(base.BaseTestCase):
    """What the functions do on which the plugin stands.

    With DEVSTACK_DIR set, they are DevStack's own.
    """

    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.node = devstack_node.Node(folder / 'node')
        self.file = self.node.etc / 'any.conf'

    def shell(self, text: str) -> str:
        done = self.node.run(
            plugins=[], before=f'FILE={self.file}\n{textwrap.dedent(text)}'
        )
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def test_iniset(self) -> None:
        for before, arguments, after in (
            (None, 'a b c', '\n[a]\nb = c\n'),
            ('', 'a b c', '\n[a]\nb = c\n'),
            ('[a]\nx = 1\n', 'a b c', '[a]\nb = c\nx = 1\n'),
            ('[a]\nb =1\n[d]\nb = 2\n', 'a b c', '[a]\nb =c\n[d]\nb = 2\n'),
            ('[a]\nb=1\nb = 2\n', 'a b c', '[a]\nb=c\nb = c\n'),
            ('[a]\nbb = 1\n', 'a b c', '[a]\nb = c\nbb = 1\n'),
            ('[d]\nx = 1', 'a b c', '[d]\nx = 1\n[a]\nb = c\n'),
            ('[a]\n', "a b 'c  d & e\\f/g'", '[a]\nb = c d & e\\f/g\n'),
            ('[a]\nb = 1\n', "a b 'x & y\\z'", '[a]\nb = x & y\\z\n'),
            ('[a]\n', 'a "" c', '[a]\n'),
            ('[a]\n', '"" b c', '[a]\n'),
        ):
            self.file.unlink(missing_ok=True)
            if before is not None:
                self.file.write_text(before)
            self.shell(f'iniset "$FILE" {arguments}')
            self.assertEqual(after, self.file.read_text(), (before, after))

    def test_iniget(self) -> None:
        self.file.write_text(
            '[a]\nb = x   y\nc=\ntwice = 1\ntwice = 2\n[d]\ne = f = g\n'
        )
        for arguments, value in (
            ('a b', 'x y'),
            ('a c', ''),
            ('a nothing', ''),
            ('nothing b', ''),
            ('d b', ''),
            ('d e', 'f = g'),
            ('a twice', '1 twice = 2'),
        ):
            said = self.shell(f'echo "<$(iniget "$FILE" {arguments})>"')
            self.assertIn(f'<{value}>\n', said)

    def test_ini_has_option(self) -> None:
        self.file.write_text('[a]\nb = 1\n[c]\nd = 1\n')
        for arguments, told in (('a b', 'yes'), ('a d', 'no'), ('x b', 'no')):
            said = self.shell(f"""
                if ini_has_option "$FILE" {arguments}; then
                    echo yes
                else
                    echo no
                fi
            """)
            self.assertIn(f'{told}\n', said)

    def test_inidelete(self) -> None:
        self.file.write_text('[a]\nb = 1\nb= 2\nbc = 3\n[c]\nb = 4\n')
        self.shell('inidelete "$FILE" a b')
        self.assertEqual('[a]\nbc = 3\n[c]\nb = 4\n', self.file.read_text())

    def test_services(self) -> None:
        said = self.shell("""
            enable_service one two
            disable_service two three
            enable_service three one
            for service in one two three "two one"; do
                if is_service_enabled $service; then
                    echo "<$service>"
                fi
            done
        """)
        self.assertEqual(['one', 'two one'], re.findall('<(.+)>', said))

    def test_die(self) -> None:
        done = self.node.run(
            plugins=[], before='die $LINENO "one" "two"\necho on'
        )
        self.assertEqual(1, done.returncode)
        self.assertRegex(done.stderr, r'\[ERROR\] .*:\d+ one two\n')
        self.assertNotIn('on\n', done.stdout)
