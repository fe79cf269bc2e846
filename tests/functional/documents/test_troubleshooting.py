# SPDX-License-Identifier: Apache-2.0
"""Whatever an audit or an action says leads to a section of a page."""

import ast
import collections
import functools
import re
import sys
from collections.abc import Iterator

from oslotest import base

from kronos.common import exceptions
from kronos.engine import faults, reasons
from kronos.extensions.maintenance.codes import MaintenanceCode
from tests import places

EXT = str(places.TOP / 'doc' / 'ext')
if EXT not in sys.path:
    sys.path.insert(0, EXT)

import troubleshooting  # noqa: E402

PAGE = places.TOP / 'doc' / 'source' / 'troubleshooting.rst'
SAMPLES = places.TOP / 'tests' / 'fixtures' / 'messages'
ERRORS_OF_SCOPES = ('ScopeError',)
"""Errors whose text does not begin with words of their class."""
ROOMS = ('engine', 'extensions', 'snapshots', 'strategies')


@functools.cache
def page() -> list[troubleshooting.Section]:
    return troubleshooting.sections(PAGE.read_text())


def labels(message: str) -> list[str]:
    found = troubleshooting.sections_of(message, page())
    return [one.label for one in found]


def lines(name: str) -> list[str]:
    return (SAMPLES / name).read_text().splitlines()


class TestPage(base.BaseTestCase):
    def test_each_code_has_a_section(self) -> None:
        told = {name for one in page() for name in one.reasons}
        codes = (*reasons.Code, *MaintenanceCode)
        self.assertEqual({str(one) for one in codes}, told)

    def test_each_fault_has_one_section(self) -> None:
        """Since the code in brackets is the whole address."""
        told = [name for one in page() for name in one.faults]
        self.assertEqual(sorted(faults.Fault), sorted(told))

    def test_each_sentence_leads_to_its_own_section(self) -> None:
        told = collections.Counter(
            sentence for one in page() for sentence in one.sentences
        )
        self.assertEqual([], [one for one in told if told[one] > 1])
        for section in page():
            for sentence in section.sentences:
                found = labels(sentence.replace(troubleshooting.WHATEVER, '7'))
                self.assertEqual(section.label, found[0], sentence)

    def test_whatever_else_leads_nowhere(self) -> None:
        self.assertEqual([], labels('The quick brown fox'))
        self.assertEqual([], labels('KRONOS:PreFlightError: [no_such] it is'))


class TestSamples(base.BaseTestCase):
    def test_status_messages(self) -> None:
        """What audits and actions have said in the lab and in tests."""
        messages = lines('status.txt')
        self.assertGreater(len(messages), 200)
        for message in messages:
            self.assertNotEqual([], labels(message), message)

    def test_each_ending_of_the_samples_leads_to_its_code(self) -> None:
        for message in lines('status.txt'):
            if code := troubleshooting.told_code(message):
                (section,) = troubleshooting.sections_of(message, page())
                self.assertIn(code, section.faults)

    def test_reasons(self) -> None:
        """Their words alone lead to a section that has their code, too."""
        of_code = collections.defaultdict(set)
        for section in page():
            for code in section.reasons:
                of_code[code].add(section.label)
        for line in lines('reasons.txt'):
            code, _, text = line.partition('\t')
            self.assertTrue(of_code[code] & {*labels(text)}, line)


class TestCode(base.BaseTestCase):
    """Sentences as they stand in the code, with 7 for what is filled in."""

    def test_reasons(self) -> None:
        told = [
            (where, text)
            for where, call, function in _calls()
            if _name(call) in ('Reason', 'worded') and call.args
            for text in _texts(call.args[0], function)
        ]
        self.assertGreater(len(told), 80)
        for where, text in told:
            self.assertNotEqual([], labels(text), f'{where}: {text}')

    def test_errors(self) -> None:
        """Those of a class that begins with no words of its own."""
        told = [
            (where, text)
            for where, call, function in _calls()
            if _name(call) in ERRORS_OF_SCOPES
            for one in [*call.args, *(word.value for word in call.keywords)]
            for text in _texts(one, function)
        ]
        self.assertGreater(len(told), 8)
        for where, text in told:
            self.assertNotEqual([], labels(text), f'{where}: {text}')

    def test_classes_of_errors(self) -> None:
        """The words that the others begin with."""
        for kind in (
            exceptions.ConfigurationError,
            exceptions.PolicyFileError,
            *exceptions.ClientError.__subclasses__(),
        ):
            fields = dict.fromkeys(('reason', 'path', 'url'), 'x')
            self.assertNotEqual([], labels(str(kind(**fields))), kind)


def _calls() -> Iterator[tuple[str, ast.Call, ast.AST]]:
    """Every call in the rooms that plan, with the function around it."""
    for room in ROOMS:
        for path in (places.TOP / 'kronos' / room).rglob('*.py'):
            tree = ast.parse(path.read_text())
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef):
                    for node in ast.walk(function):
                        if isinstance(node, ast.Call):
                            where = f'{path.name}:{node.lineno}'
                            yield where, node, function


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition('.')[2]


def _texts(node: ast.AST, function: ast.AST) -> list[str]:
    """The sentences that an argument may be, where they can be read.

    What is put together elsewhere, or begins with what is filled in and has
    no word of its own, is left to the samples.
    """
    if isinstance(node, ast.Name):
        return [
            text
            for one in ast.walk(function)
            if isinstance(one, ast.Assign)
            and any(ast.unparse(name) == node.id for name in one.targets)
            for text in _texts(one.value, function)
        ]
    if isinstance(node, ast.IfExp):
        return _texts(node.body, function) + _texts(node.orelse, function)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = ''.join(
            part.value if isinstance(part, ast.Constant) else '7'
            for part in node.values
        )
    else:
        return []
    return [text] if len(re.findall('[a-z_]+', text)) > 2 else []
