# SPDX-License-Identifier: Apache-2.0
"""Terms are linked where a page first uses them; how pages begin."""

import itertools
import sys
import textwrap

from oslotest import base

from tests import places

sys.path.insert(0, str(places.TOP / 'tools'))

from prose import counts, pages, sentences, terms, texts  # noqa: E402

MOST_LINES = 5
"""Of the first paragraph of a page."""
MOST_WORDS = 2000
"""Of a page without a list of its sections."""
WITHOUT_SENTENCES = {'contributing.rst', 'devstack.rst', 'readme.rst'} | {
    'examples.rst'
}
"""They include a file."""
GLOSSARY = """\
Concepts
========

.. glossary::

   scope
      Hosts of one :term:`plan`.

   host at fault
   policy
      Two words.

What a plan contains
====================

.. glossary::

   plan
      Its moves.

   combined imbalance
      A sum.

   imbalance
      A difference.

   certificate
      Its limit.
"""


class TestTerms(base.BaseTestCase):
    def test_pages(self) -> None:
        """See ``python tools/prose PAGE`` for the places."""
        self.assertEqual(
            [],
            [
                f'{page}: link the first "{use.term}" to its :term:'
                for page, use in terms.unlinked(places.TOP)
            ],
        )

    def test_glossary(self) -> None:
        """Longest first, so that no term is looked for in a longer one."""
        self.assertEqual(
            ['combined imbalance', 'host at fault', 'imbalance']
            + ['policy', 'scope', 'plan'],
            terms.glossary(GLOSSARY),
        )

    def first_uses(self, text: str) -> list[str]:
        text = textwrap.dedent(text)
        return [
            text[use.start : use.end]
            for use in terms.first_uses(text, terms.glossary(GLOSSARY))
        ]

    def test_found(self) -> None:
        for text, use in {
            'All Scopes are even.': 'Scopes',
            'The policies are in a file.': 'policies',
            'Hosts\nat fault receive no server.': 'Hosts\nat fault',
            'A scope; see :term:`scope`.': 'scope',
            'It makes a plan.': 'plan',
            '.. note::\n\n   The scope is empty.\n': 'scope',
            '.. list-table::\n\n   * - a policy\n': 'policy',
            'host\n   Each is in a scope.\n': 'scope',
        }.items():
            self.assertEqual([use], self.first_uses(text), text)

    def test_not_found(self) -> None:
        for text in (
            ':term:`Scopes <scope>` are even, and a scope is small.',
            'Kronos plans. You plan, too.',
            'Scope\n=====\n\nIt is empty.\n',
            '``scope = 1``, and "a scope", and :doc:`scope`, and *scope*.',
            'Code::\n\n    the scope\n',
            '.. code-block:: text\n\n   the scope\n',
            '.. figure:: a.png\n   :alt: a bar of\n      a scope\n',
            '====  =====\na     scope\n====  =====\n',
            'scope\n   This word has a definition.\n',
            'A policy file of Nova, which is written in telescopes.',
        ):
            self.assertEqual([], self.first_uses(text), text)

    def test_a_longer_term(self) -> None:
        self.assertEqual(
            ['combined imbalance'],
            self.first_uses('The combined imbalance is 0.'),
        )
        self.assertEqual(
            ['imbalance'],
            self.first_uses(':term:`combined imbalance`; an imbalance'),
        )


class TestBeginnings(base.BaseTestCase):
    """Of pages, before their first section."""

    def test_first_paragraphs(self) -> None:
        """They are short, and in sentences."""
        for path in texts.documents(places.TOP):
            if path.name in WITHOUT_SENTENCES or path.parent == places.TOP:
                continue
            paragraph = self._beginning(path.read_text())[0]
            self.assertLessEqual(len(paragraph.splitlines()), MOST_LINES, path)
            self.assertRegex(paragraph, r'[.:]$', path)

    def test_lists_of_sections(self) -> None:
        long = 0
        for path in texts.documents(places.TOP):
            text = path.read_text()
            words = counts.Counts.of(
                [
                    sentence
                    for row in pages.paragraphs(text)
                    for sentence in sentences.split(row)
                ]
            ).words
            if words > MOST_WORDS:
                long += 1
                beginning = '\n'.join(self._beginning(text))
                self.assertIn('On this page', beginning, str(path))
        self.assertGreater(long, 5)

    @staticmethod
    def _beginning(text: str) -> list[str]:
        """Paragraphs between the title and the first section."""
        lines = text.splitlines()
        titles = [
            index
            for index, (line, rule) in enumerate(itertools.pairwise(lines))
            if line and pages.is_rule(rule) and not pages.is_rule(line)
        ]
        first, second = [*titles, len(lines)][:2]
        body = '\n'.join(lines[first + 2 : second])
        return [part for part in body.strip('\n').split('\n\n') if part]
