# SPDX-License-Identifier: Apache-2.0
"""The measures of prose, and the sentences that may not become more."""

import contextlib
import io
import pathlib
import sys
import textwrap

import fixtures
from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from prose import __main__ as command  # noqa: E402
from prose import counts, facts, pages, patterns, sentences, texts  # noqa: E402

LISTED = places.TOP / 'tests' / 'fixtures' / 'prose.txt'
"""Files, with their patterns and long sentences: no number grows."""
UPDATE = 'python tools/prose --baseline > tests/fixtures/prose.txt'
TRANSLATED = {
    'clause as a subject': (
        'How much better any plan of as many migrations could be, a '
        'certificate says.',
        'Which aggregates those are is said by the audit.',
        'What has no series writes next to nothing.',
        'What is behind CODE, or in the brackets behind CODE, is the error.',
        'What follows of them in Watcher, recovering says.',
        "What Nova's servers cannot tell.",
        'How Kronos comes into a cloud that packages have made.',
    ),
    'inverted order': (
        'Later audits go on with that host, and fill it no more.',
        'Of a password, a token and a URL never the value.',
        'Below stands what every other host would have meant.',
        'At its two hosts alone counts a resize.',
        'Of a plan, those go first that it has first.',
    ),
    'verb of speech or furniture': (
        'Type what stands behind $, in this order.',
        'This is no trouble: the message says it.',
        'They seldom speak.',
    ),
    'nobody or nothing': (
        "A display name that two servers of the scope have is nobody's.",
        'Kronos never plans a whole cloud because nobody said anything.',
        'An audit moves nothing.',
        'Something rests, or is on its way.',
        'A continuous audit finds nothing.',
    ),
    'order by "is to"': ('The file is to be written anew.',),
    'who, what or those without a noun': (
        'Workers take actions in no order, and who has one keeps it.',
        'Policies measure over a while, those of the lab over two minutes.',
        'A recording is all that an audit plans by.',
    ),
    'where for if': ('Where that is not so, the action waits.',),
    'turn or way': ('A worker keeps it until its turn.',),
    'private word or aphorism': (
        'A drain is an order, and waits for no metrics.',
        'The instances that Nova is busy with count as fixed load.',
        'It shows a percentage that was taken for a ratio.',
        'All hosts are alike to it.',
        'It moves unless a policy objects.',
        'The search is on a plateau.',
    ),
}
"""Sentences that were once in our texts, by a pattern that finds them."""
PLAIN = (
    'Each plan comes with a proven limit.',
    'Draining does not depend on metrics.',
    'What to do if an action fails?',
    'CODE stands for any host.',
    'Of course, you can start the plan by hand.',
    'The hosts that stand out are orange.',
    'No process holds the lock that both share.',
    'The command is read-only: it changes nothing.',
    'The page loads nothing and leaves nothing behind.',
    'A continuous audit that finds nothing to do is empty.',
    'Something is wrong.',
    'Kronos empties the host and places nothing new on it.',
    'The user and the password are those of Watcher.',
    'The option plateau_moves allows a plateau move.',
    'CODE also prints single objects.',
    'How many migrations a plan may have.',
)


class TestBaseline(base.BaseTestCase):
    """The texts of this tree."""

    def test_no_number_grows(self) -> None:
        """Nor does one shrink without the list."""
        remaining = list(counts.baseline(texts.read(places.TOP)))
        listed = LISTED.read_text().splitlines()
        changed = sorted(set(remaining) ^ set(listed))
        self.assertEqual(
            [],
            changed,
            'See contributor/style.rst and "python tools/prose FILE". If '
            f'numbers shrank, give "{UPDATE}".',
        )
        self.assertEqual(listed, remaining)


class TestPatterns(base.BaseTestCase):
    def test_translated(self) -> None:
        self.assertEqual(list(patterns.PATTERNS), list(TRANSLATED))
        for name, rows in TRANSLATED.items():
            for sentence in rows:
                matches = dict(patterns.in_sentence(sentence))
                self.assertIn(name, matches, sentence)

    def test_plain(self) -> None:
        for sentence in PLAIN:
            self.assertEqual([], list(patterns.in_sentence(sentence)))

    def test_the_page_has_each(self) -> None:
        page = places.TOP / 'doc' / 'source' / 'contributor' / 'style.rst'
        rows = [row.lower() for row in pages.paragraphs(page.read_text())]
        for name in patterns.PATTERNS:
            before = rows[rows.index(name) + 1].capitalize()
            self.assertIn(name, dict(patterns.in_sentence(before)))


class TestSentences(base.BaseTestCase):
    def test_split(self) -> None:
        self.assertEqual(
            ['It moves, e.g. CPU load.', 'Is it on?', 'Yes; it is.']
            + ['*Skip Action* ends it.'],
            sentences.split(
                'It moves, e.g. CPU\nload. Is it on? Yes; it is. '
                '*Skip Action* ends it.'
            ),
        )

    def test_words(self) -> None:
        self.assertEqual(
            ['nova-compute', "isn't", 'up', 'for', '1,000.5', 's'],
            sentences.words("nova-compute isn't up (for 1,000.5 s)"),
        )

    def test_syllables(self) -> None:
        for word, count in {
            'the': 1,
            'move': 1,
            'table': 2,
            'Kronos': 2,
        }.items():
            self.assertEqual(count, sentences.syllables(word), word)

    def test_reading_ease(self) -> None:
        """By Flesch's formula: six words of one syllable."""
        self.assertAlmostEqual(
            206.835 - 1.015 * 6 - 84.6,
            sentences.reading_ease(['The cat sat on the mat.']),
        )
        self.assertEqual(100.0, sentences.reading_ease([]))


class TestPages(base.BaseTestCase):
    def test_paragraphs(self) -> None:
        page = """\
        Title
        =====

        .. _anchor:

        See :doc:`the page <page>` and
        ``option = 1``::

           code is left out

        * an item
          that goes on
        #. a step

        term
            Its definition.

        .. note::

           A note.

        .. code-block:: console

           $ openstack server list

        .. list-table::

           * - Cell
             - Other

        ====  =======
        code  meaning
        ====  =======
        one   the first
        ====  =======
        """
        self.assertEqual(
            ['Title', 'See the page and CODE:', 'an item that goes on']
            + ['a step', 'term', 'Its definition.', 'A note.', 'Cell']
            + ['Other', 'code', 'meaning', 'one', 'the first'],
            pages.paragraphs(textwrap.dedent(page)),
        )


class TestTree(base.BaseTestCase):
    """Trees of a few lines."""

    def tree(self, **files: str) -> pathlib.Path:
        """:param files: text by path, with two underscores for a slash"""
        top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name, text in files.items():
            folder, _, stem = name.rpartition('__')
            suffix = {'kronos': 'py', 'doc__source': 'rst'}.get(folder, 'yaml')
            path = top / folder.replace('__', '/') / f'{stem}.{suffix}'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return top

    def test_texts(self) -> None:
        top = self.tree(
            kronos__plan='''\
            """A docstring is not read by operators at night."""
            MESSAGE = f'the host {name} is not up. Start it.'
            LOG = 'the plan of %(scope)s is over'
            QUERY = 'sum by (host) (rate(cpu_seconds{mode!="idle"}[5m]))'
            NAMES = 'a few words'
            ''',
            doc__source__page='A page. It is short.\n',
            releasenotes__notes__note="""\
            prelude: A first line.
            fixes:
              - |
                A fault is gone.
            """,
        )
        self.assertEqual(
            {
                'doc/source/page.rst': ['A page.', 'It is short.'],
                'releasenotes/notes/note.yaml': [
                    'A first line.',
                    'A fault is gone.',
                ],
                'kronos/plan.py': [
                    'the host 0 is not up.',
                    'Start it.',
                    'the plan of 0 is over',
                ],
            },
            texts.read(top),
        )

    def test_counts(self) -> None:
        long = 'word ' * (sentences.LONG + 1)
        by_path = {
            'doc/source/page.rst': ['It is told.', long, 'Fine.'],
            'kronos/plan.py': ['The host is up.'],
        }
        self.assertEqual(
            ['doc/source/page.rst 1 1'], list(counts.baseline(by_path))
        )
        total = counts.kinds(by_path)
        self.assertEqual(45, total['documents'].words)
        self.assertAlmostEqual(1000 / 45, total['documents'].per_thousand)
        self.assertEqual(0, total['messages'].per_thousand)

    def test_lost_facts(self) -> None:
        before = """\
        .. _gone:

        Set ``old_option`` or ``kept``. It prints "no host is up" for 300 s.

        .. code-block:: console

           $ kronos-replay \\
             examples/uneven
           output

        .. says::

           … is busy

        .. reasons:: planned

        * - cell

        ====  =======
        code  meaning
        ====  =======
        last  the last
              of all
        ====  =======
        """
        after = 'kept, code, keptonly old_options, lasting 3000 cells.\n'
        rows = facts.lost(
            self.tree(doc__source__page=before),
            self.tree(doc__source__other=after),
        )
        self.assertEqual(
            [
                ('doc/source/page.rst', kind, fact)
                for kind, fact in (
                    ('anchor', '.. _gone:'),
                    ('directive', '.. reasons:: planned'),
                    ('literal', 'old_option'),
                    ('quoted', 'no host is up'),
                    ('row', 'cell'),
                    ('number', '300'),
                    ('command', 'kronos-replay examples/uneven'),
                    ('message', '… is busy'),
                    ('row', 'last'),
                )
            ],
            rows,
        )
        same = self.tree(
            doc__source__moved=before.replace('\\\n', '').replace(
                '- cell', '- :term:`cell <cells>`'
            )
        )
        self.assertEqual(
            [], facts.lost(self.tree(doc__source__page=before), same)
        )

    def run_command(self, status: int, *arguments: str) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertEqual(status, command.main(arguments))
        return output.getvalue()

    def test_command(self) -> None:
        top = self.tree(
            kronos__plan="MESSAGE = 'the host is told of the plan'\n",
            doc__source__page='Nobody reads ``this``.\n',
        )
        output = self.run_command(0, '--top', str(top))
        self.assertIn('\ndocuments  ', output)
        self.assertRegex(output, 'documents: nobody or nothing +1\n')
        self.assertEqual(
            'doc/source/page.rst 1 0\nkronos/plan.py 2 0\n',
            self.run_command(0, '--top', str(top), '--baseline'),
        )
        self.assertEqual(
            'doc/source/page.rst: nobody or nothing: "Nobody": '
            'Nobody reads CODE.\n',
            self.run_command(0, '--top', str(top), 'doc/source'),
        )

    def test_command_facts(self) -> None:
        before = self.tree(doc__source__page='Read ``this``.\n')
        after = str(self.tree(doc__source__page='Read ``that``.\n'))
        self.assertEqual(
            'doc/source/page.rst: literal: this\n',
            self.run_command(1, '--top', after, '--facts', str(before)),
        )
        self.assertEqual(
            '', self.run_command(0, '--top', after, '--facts', after)
        )
