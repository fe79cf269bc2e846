# SPDX-License-Identifier: Apache-2.0
"""Does a validator end early, and tell what pydantic's own would tell?"""

import enum
from dataclasses import dataclass, field
from typing import Annotated, Any

import pydantic
import pydantic_core
from oslotest import base
from typing_extensions import TypedDict

from kronos.common import first_fault

STRICT = pydantic.ConfigDict(strict=True, extra='forbid')
MANY = 5000


class Size(enum.StrEnum):
    SMALL = 'small'


@dataclass
class Part:
    number: int


@dataclass
class Row:
    name: str
    size: Size = Size.SMALL
    parts: list[Part] = field(default_factory=list)
    by_name: dict[str, Part] = field(default_factory=dict)
    other: Part | None = None


class Page(TypedDict):
    metadata: dict[str, str]
    default: list[int]


class Model(pydantic.BaseModel):
    scores: Annotated[dict[str, float], first_fault.Portions(9)]


ROWS = first_fault.adapter(list[Row], STRICT, most=MANY)
TABLE = first_fault.adapter(dict[str, dict[str, Part]], STRICT, most=MANY)


def faults(adapter: Any, data: Any) -> list[dict[str, Any]]:
    """Those that are gathered; of Python's objects, or of JSON's text."""
    try:
        if isinstance(data, bytes):
            adapter.validate_json(data)
        else:
            adapter.validate_python(data)
    except pydantic.ValidationError as error:
        return error.errors()
    return []


class TestEndings(base.BaseTestCase):
    def test_few_faults(self) -> None:
        """Whatever there are many of."""
        wrong = ', '.join(['1'] * MANY)
        keys = ', '.join(f'"k{number}": 1' for number in range(MANY))
        row = '[{"name": "a", %s}]'
        for adapter, text in (
            (ROWS, f'[{wrong}]'),
            (ROWS, row % f'"parts": [{wrong}]'),
            (ROWS, row % f'"by_name": {{{keys}}}'),
            (ROWS, row % keys),
            (ROWS, row % f'"other": {{"number": 1, {keys}}}'),
            (TABLE, f'{{{keys}}}'),
            (TABLE, f'{{"a": {{{keys}}}}}'),
        ):
            with self.subTest(text=text[:60]):
                texts = faults(adapter, text.encode())
                self.assertIn(len(texts), range(1, first_fault.PORTION + 1))

    def test_typed_dicts(self) -> None:
        """Whose fields may be called as the keys of a schema are."""
        page = first_fault.adapter(Page)
        table = {f'k{number}': number for number in range(MANY)}
        for body, field_name in (
            ({'metadata': table, 'default': []}, 'metadata'),
            ({'metadata': {}, 'default': ['x'] * MANY}, 'default'),
        ):
            texts = faults(page, body)
            self.assertIn(len(texts), range(1, first_fault.PORTION + 1))
            self.assertEqual(field_name, texts[0]['loc'][0])

    def test_too_many(self) -> None:
        more = MANY + 1
        for adapter, text in (
            (ROWS, '[' + ', '.join(['{"name": "a"}'] * more) + ']'),
            (
                TABLE,
                '{' + ', '.join(f'"{k}": {{}}' for k in range(more)) + '}',
            ),
        ):
            [text_of_fault] = faults(adapter, text.encode())
            self.assertRegex(
                text_of_fault['msg'], f'(at most|more than) {MANY} '
            )

    def test_models(self) -> None:
        adapter = pydantic.TypeAdapter(Model)
        table = {f'k{number}': 'x' for number in range(MANY)}
        [fault] = faults(adapter, {'scores': table})
        self.assertIn('more than 9 entries', fault['msg'])


class TestWords(base.BaseTestCase):
    def test_as_pydantic_says_it(self) -> None:
        for adapter, kind in (
            (ROWS, list[Row]),
            (TABLE, dict[str, dict[str, Part]]),
        ):
            plain = pydantic.TypeAdapter(kind, config=STRICT)
            for text in (
                b'[{"name": 1}]',
                b'[{"name": "a", "strange": 1}]',
                b'[{"name": "a", "other": {"number": 1, "strange": 1}}]',
                b'[{"name": "a", "parts": [{"number": "1"}]}]',
                b'[{"name": "a", "size": "huge"}]',
                b'{"a": {"b": {}}}',
                b'{"a": {"b": {"number": 1, "c": 1}}}',
                b'1',
            ):
                self.assertEqual(
                    [(x['loc'], x['msg']) for x in faults(plain, text)[:1]],
                    [(x['loc'], x['msg']) for x in faults(adapter, text)[:1]],
                )

    def test_what_is_right(self) -> None:
        table = {
            f'h{host}': {f'r{number}': Part(number) for number in range(3)}
            for host in range(3 * first_fault.PORTION)
        }
        text = pydantic_core.to_json(table)
        self.assertEqual(table, TABLE.validate_json(text))
        rows = [
            Row('a', parts=[Part(1)], by_name={'x': Part(2)}, other=Part(3)),
            Row('b'),
        ]
        text = ROWS.dump_json(rows)
        self.assertEqual(rows, ROWS.validate_json(text))
