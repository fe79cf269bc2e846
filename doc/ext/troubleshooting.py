# SPDX-License-Identifier: Apache-2.0
"""The index of messages, made of the sections of the page it stands on.

A section has a label, and says in directives what leads to it: ``says`` has
sentences of audits and actions; ``reasons`` and ``faults`` have codes, of
which meaning and remedy come from the code. ``message-index`` lists all
sentences. Tests find the section of a message by the same functions.
"""

import functools
import re
from dataclasses import dataclass, field

import generated

from kronos.engine import faults, reasons
from kronos.extensions.maintenance.codes import MaintenanceCode

_SECTION = re.compile(r'^\.\. _(\S+):\n\n(.+)\n[=-]{3,}\n', re.MULTILINE)
_SAYS = re.compile(r'^\.\. says::\n\n((?:   .*\n)+)', re.MULTILINE)
_CODES = re.compile(
    r'^\.\. (reasons|faults):: (.*\n(?:   .*\n)*)', re.MULTILINE
)
_TOLD = re.compile(r'KRONOS:\w+: \[(\w+)\]')
WHATEVER = '…'


@dataclass
class Section:
    """What a message may lead to."""

    label: str
    title: str
    sentences: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def sections(text: str) -> list[Section]:
    """Those of a page that have a label."""
    parts = _SECTION.split(text)[1:]
    found = []
    for label, title, body in zip(
        parts[::3], parts[1::3], parts[2::3], strict=True
    ):
        section = Section(label, title)
        for block in _SAYS.findall(body):
            section.sentences += [line.strip() for line in block.splitlines()]
        for kind, names in _CODES.findall(body):
            getattr(section, kind).extend(names.split())
        found.append(section)
    return found


def sections_of(message: str, page: list[Section]) -> list[Section]:
    """Where a message leads: by its code, else by all its sentences.

    :returns: that of the longest sentence first
    """
    if code := told_code(message):
        return [one for one in page if code in one.faults]
    longest = {}
    for section in page:
        fitting = [one for one in section.sentences if fits(one, message)]
        if fitting:
            longest[section.label] = max(map(_weight, fitting))
    found = [one for one in page if one.label in longest]
    return sorted(found, key=lambda one: -longest[one.label])


def told_code(message: str) -> str:
    """The code of an action that ended; '' if it tells none."""
    told = _TOLD.match(message)
    return told[1] if told else ''


def _weight(sentence: str) -> int:
    return len(sentence.replace(WHATEVER, ''))


def fits(sentence: str, message: str) -> bool:
    """Whether a sentence of the page stands in a message."""
    return _pattern(sentence).search(' '.join(message.split())) is not None


@functools.cache
def _pattern(sentence: str) -> re.Pattern[str]:
    parts = sentence.split(WHATEVER)
    return re.compile('.*'.join(re.escape(part) for part in parts))


class Says(generated.Generated):
    has_content = True

    def lines(self) -> list[str]:
        sentences = (f'``{line}``' for line in self.content)
        return [f'Messages: {" · ".join(sentences)}']


class Reasons(generated.Generated):
    required_arguments = 1
    final_argument_whitespace = True

    def lines(self) -> list[str]:
        codes = {
            code.value: code for code in (*reasons.Code, *MaintenanceCode)
        }
        named = [codes[name] for name in self.arguments[0].split()]
        return generated.table(
            ('Code of a plan', 'What it means', 'What to do'),
            [
                (f'``{one}``', one.means, one.remedy or 'Nothing.')
                for one in named
            ],
        )


class Faults(generated.Generated):
    required_arguments = 1
    final_argument_whitespace = True

    def lines(self) -> list[str]:
        named = [faults.Fault(name) for name in self.arguments[0].split()]
        told = [(f'``{one}``', faults.TABLE[one]) for one in named]
        return generated.table(
            ('Code of an action', 'What it means', 'What to do'),
            [(code, row.means, row.remedy) for code, row in told],
        )


class MessageIndex(generated.Generated):
    def lines(self) -> list[str]:
        with open(self.state.document['source']) as file:
            page = sections(file.read())
        rows = [
            (f'``{sentence}``', f':ref:`{one.title} <{one.label}>`')
            for one in page
            for sentence in one.sentences
        ]
        return generated.table(
            ('Message', 'Section'), sorted(rows, key=_letters)
        )


def _letters(row: tuple[str, str]) -> str:
    return re.sub(r'[^a-z]', '', row[0].lower())


def setup(app):
    app.add_directive('says', Says)
    app.add_directive('reasons', Reasons)
    app.add_directive('faults', Faults)
    app.add_directive('message-index', MessageIndex)
    return {'parallel_read_safe': True}
