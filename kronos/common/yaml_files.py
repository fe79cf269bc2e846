# SPDX-License-Identifier: Apache-2.0
"""YAML files that people write: read within bounds, with words for faults.

Policies and event rules are read by it.
"""

import re
import typing
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import pydantic
import yaml

from kronos.common import plain_files, plain_text
from kronos.common.names import near_names

MAX_BYTES = 128 * 1024
"""Size of a file; a large one has some thousand."""
MAX_ALIASES = 100
"""So often a file may say ``*name``: each repeats what it stands for."""
MAX_DEPTH = 50
"""Of brackets; the files of Kronos need some three."""
SHOWN = 60
"""Characters of a refused value that a message repeats."""
HUGE = 10**SHOWN

_YAML = 'tag:yaml.org,2002:'
_PLAIN = ('null', 'bool', 'int', 'float', 'timestamp', 'str', 'seq', 'map')
_TAGS = {f'{_YAML}{name}' for name in _PLAIN}
"""Those that a plain value may have."""
_SURROGATE = re.compile('[\ud800-\udfff]')
"""Half of a character: no file and no terminal takes it."""
_UNFIT = (
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    TypeError,
)
"""What PyYAML raises of a scalar that is not what it looks like or is tagged:
a date that does not exist, a number too large for a float, ``!!bool x``."""


Model = type[pydantic.BaseModel]
Words = Callable[[str, str, Any], str]
"""What else there is to say of a field, by its name, pydantic's name of the
fault, and the value; '' if nothing."""


class Unreadable(Exception):
    """A file is no YAML that may be read; the text says why, not which."""


class UniqueKeyLoader(yaml.SafeLoader):
    """YAML's safe loader, but a key that comes twice is an error.

    So is a file that grows by what it repeats ("billion laughs"), and a tag
    such as ``!!set``: the values are those that JSON has, and dates.
    """

    aliases = 0

    def fetch_flow_collection_start(self, token: Any) -> None:
        """Levels are counted early: they cost their square in time."""
        if self.flow_level >= MAX_DEPTH:
            raise yaml.scanner.ScannerError(
                problem='it is nested too deeply',
                problem_mark=self.get_mark(),
            )
        super().fetch_flow_collection_start(token)

    def compose_node(
        self, parent: yaml.Node | None, index: Any
    ) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            self.aliases += 1
            if self.aliases > MAX_ALIASES:
                raise yaml.composer.ComposerError(
                    problem=f'there are more than {MAX_ALIASES} aliases'
                )
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """A value that is not what it looks like is told with its line."""
        if node.tag not in _TAGS:
            tag = clip(node.tag.replace(_YAML, '!!'))
            raise yaml.constructor.ConstructorError(
                problem='could not determine a constructor for the tag '
                f'{tag}; remove the tag, or quote the text',
                problem_mark=node.start_mark,
            )
        try:
            return super().construct_object(node, deep=deep)
        except _UNFIT as error:
            problem = 'a value does not fit its tag'
            if isinstance(error, ValueError | ArithmeticError):
                problem = clip(str(error))
            raise yaml.constructor.ConstructorError(
                problem=problem, problem_mark=node.start_mark
            ) from error

    def compose_scalar_node(
        self, anchor: dict[Any, yaml.Node]
    ) -> yaml.ScalarNode:
        node = super().compose_scalar_node(anchor)
        if _SURROGATE.search(node.value):
            raise yaml.composer.ComposerError(
                problem='an escape is half of a surrogate pair',
                problem_mark=node.start_mark,
            )
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Of what is merged, keep one of each key: the last, which holds."""
        super().flatten_mapping(node)
        last = {
            key.value if isinstance(key, yaml.ScalarNode) else id(key): (
                key,
                value,
            )
            for key, value in node.value
        }
        node.value = list(last.values())

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        for key_node, _ in pairs:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f'the key {key_node.value} comes twice',
                    problem_mark=key_node.start_mark,
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep=deep)


def text_of(path: str, most: int = MAX_BYTES) -> str:
    """The text of a file.

    :param most: bytes that it may have
    :raises Unreadable: it cannot be read, is too large or no text
    """
    try:
        data = plain_files.read(path, most + 1)
        if len(data) <= most:
            return data.decode()
        reason = f'it has more than {most} bytes'
    except OSError as error:
        reason = f'it cannot be read: {error.strerror}'
    except UnicodeDecodeError:
        reason = 'it is not UTF-8 text'
    raise Unreadable(reason)


def data_of(text: str) -> Any:
    """What a text says, in plain values.

    :raises Unreadable: it is not YAML, or too much of it
    """
    try:
        # a subclass of SafeLoader: it builds plain values only
        return yaml.load(text, UniqueKeyLoader)  # noqa: S506
    except RecursionError:
        reason = 'it is not valid YAML: it is nested too deeply'
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f'line {mark.line + 1}: ' if mark else ''
        reason = f'it is not valid YAML: {line}{error.problem}'
    except yaml.YAMLError as error:
        reason = f'it is not valid YAML: {str(error).splitlines()[0]}'
    raise Unreadable(plain_text.line(reason))


def size_of(data: Any) -> int:
    """How many values there are, each as often as aliases repeat it."""
    sizes: dict[int, int] = {}

    def size(value: Any) -> int:
        if not isinstance(value, dict | list):
            return 1
        if id(value) not in sizes:
            sizes[id(value)] = 1  # if it has itself
            parts = value.values() if isinstance(value, dict) else value
            sizes[id(value)] = 1 + sum(map(size, parts))
        return sizes[id(value)]

    return size(data)


def places(rows: Iterable[Any], kind: str) -> list[str]:
    """What each row is called: by its name, and by its number if needed.

    :param kind: what a row is, such as ``policy``
    """
    names = [row.get('name') if isinstance(row, dict) else '' for row in rows]
    counts = Counter(name for name in names if isinstance(name, str))
    texts = []
    for number, name in enumerate(names, 1):
        if not isinstance(name, str) or not name.strip():
            texts.append(f'{kind} {number}')
        else:
            place = f' (number {number})' if counts[name] > 1 else ''
            texts.append(f'{kind} {clip(name)}{place}')
    return texts


def faults(
    error: pydantic.ValidationError,
    model: Model,
    places: Sequence[str],
    instead: Words = lambda *_: '',
    more: Words = lambda *_: '',
) -> list[str]:
    """Every fault as ``policy NAME: FIELD: RULE, not VALUE``.

    The rule is the description of the field.

    :param model: of the file
    :param places: of its rows
    :param instead: of the rule
    :param more: behind it
    """
    return [
        _fault(detail, model, places, instead, more)
        for detail in error.errors(include_url=False)
        if detail['loc']  # not what concerns the whole
    ]


def _fault(
    detail: Mapping[str, Any],
    model: Model,
    places: Sequence[str],
    instead: Words,
    more: Words,
) -> str:
    where, loc, value = '', detail['loc'], detail['input']
    while len(loc) > 1 and (inner := _inner(model, loc[0])):
        is_row = isinstance(loc[1], int)
        where += f'{places[loc[1]] if is_row else loc[0]}: '
        model, loc = inner, loc[2 if is_row else 1 :]
    if not loc:
        return f'{where}must be a mapping of fields, not {shown(value)}'
    name, what = str(loc[0]), detail['type']
    where += clip(name)
    if words := instead(name, what, value):
        return f'{where}: {words}'
    field = model.model_fields.get(name)
    if field is None:
        hint = near_names.of_fields(name, model.model_fields)
        return f'{where}: there is no such field, {hint}'
    rule = f'must be {field.description}'
    if what == 'missing':
        return f'{where}: is missing, it {rule}{more(name, what, value)}'
    return f'{where}: {rule}, not {shown(value)}{more(name, what, value)}'


def _inner(model: Model, name: Any) -> Model | None:
    """The model of a field, or of its rows; None: it has none."""
    field = model.model_fields.get(name)
    todo = [field.annotation] if field else []
    for kind in todo:
        if isinstance(kind, type) and issubclass(kind, pydantic.BaseModel):
            return kind
        todo += typing.get_args(kind)
    return None


def shown(value: Any) -> str:
    """A refused value, as a message repeats it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return clip(repr(value))
    if isinstance(value, int) and abs(value) > HUGE:
        return 'so huge a number'  # too long for Python to write, maybe
    if isinstance(value, int | float):
        return str(value)
    return kind(value)


def kind(value: Any) -> str:
    """What a value is, for a message."""
    names = {dict: 'a mapping', list: 'a list', type(None): 'nothing'}
    return names.get(type(value), f'a {type(value).__name__}')


def clip(text: str) -> str:
    """On one line, and not endless."""
    line = plain_text.line(' '.join(text.split()))
    return line if len(line) <= SHOWN else f'{line[:SHOWN]}...'
