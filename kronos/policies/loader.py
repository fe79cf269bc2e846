# SPDX-License-Identifier: Apache-2.0
"""From a policies file to policies, or to one message with all its faults."""

import difflib
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

import pydantic
import yaml

from kronos.common.exceptions import PolicyFileError
from kronos.policies import models
from kronos.policies.models import Mode, Policy, PolicyFile

MAX_BYTES = 128 * 1024
"""Size of a policies file; a large one has some thousand."""
MAX_ALIASES = 100
"""So often a file may say ``*name``: each repeats what it stands for."""
MAX_DEPTH = 50
"""Of brackets; a policies file needs two."""
SHOWN = 60
"""Characters of a refused value that a message repeats."""
HUGE = 10**SHOWN

_UNFIT = (
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    TypeError,
)
"""What PyYAML raises of a scalar that is not what it looks like or is tagged:
a date that does not exist, a number too large for a float, ``!!bool x``."""


_AGGREGATES = (
    'the aggregates are not chosen here but by the audit or by [kronos] '
    'aggregates, and the policies apply to each of them'
)
_COOLDOWN = (
    'a scope has one cooldown, whatever its policies: [kronos] cooldown, in '
    'seconds'
)
ELSEWHERE = {
    'aggregate': _AGGREGATES,
    'aggregates': _AGGREGATES,
    'cooldown': _COOLDOWN,
    'cooldown_seconds': _COOLDOWN,
}
"""Fields that kronos-openstack had, or that one may look for here."""
NEEDED = {
    'vm_profile_query': ' (kronos-openstack supposed what a server weighs, '
    'Kronos asks)'
}
"""Why a field must be there that kronos-openstack could do without."""


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML's safe loader, but a key that comes twice is an error.

    So is a file that grows by what it repeats ("billion laughs").
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
        try:
            return super().construct_object(node, deep=deep)
        except _UNFIT as error:
            problem = 'a value does not fit its tag'
            if isinstance(error, ValueError | ArithmeticError):
                problem = _clip(str(error))
            raise yaml.constructor.ConstructorError(
                problem=problem, problem_mark=node.start_mark
            ) from error

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


def load(path: str) -> PolicyFile:
    """Read and validate a policies file.

    :param path: of a YAML file with the one key ``policies``
    :raises PolicyFileError: when it cannot be read, is not YAML or breaks
        a rule; the message names every policy, field and rule at fault
    """
    return parse(read(path), path)


def parse(text: str, path: str) -> PolicyFile:
    """The same for the text of a file.

    :param path: where it comes from, for the message
    """
    return validated(_data(text, path), path)


def validated(data: Any, path: str) -> PolicyFile:
    """The same for what YAML says."""
    if data is None:
        raise PolicyFileError(path=path, reason='it is empty')
    if not isinstance(data, dict):
        raise PolicyFileError(
            path=path,
            reason='it must be a mapping with the key policies, not '
            f'{_kind(data)}',
        )
    try:
        return PolicyFile.model_validate(data)
    except pydantic.ValidationError as error:
        faults = _faults(error, data)
        raise PolicyFileError(path=path, reason='; '.join(faults)) from None


def dump(policies: Sequence[Policy]) -> str:
    """Policies as the text of a file."""
    rows = [one.model_dump(mode='json', exclude_none=True) for one in policies]
    return yaml.safe_dump({'policies': rows}, sort_keys=False)


def scalar(text: str) -> Any:
    """What a value on a line of a policies file stands for.

    :returns: the text itself, if YAML takes it for something else
    """
    try:
        found = yaml.load(text, _UniqueKeyLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError):
        return text
    return found if isinstance(found, bool | int | float) else text


def require_mode(policies: PolicyFile, mode: Mode, path: str) -> None:
    """Refuse a file that was written for another strategy.

    :param mode: the one that the calling strategy plans
    :param path: of the file, for the message
    :raises PolicyFileError: if the policies are of another mode
    """
    if policies.mode is not mode:
        raise PolicyFileError(
            path=path,
            reason=f'mode: the policies are of mode {policies.mode}, but the '
            f'strategy kronos_{mode} needs mode {mode}',
        )


def read(path: str) -> str:
    """The text of a policies file.

    :raises PolicyFileError: it cannot be read, is too large or no text
    """
    try:
        with open(path, 'rb') as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            reason = f'it has more than {MAX_BYTES} bytes'
        else:
            return data.decode()
    except OSError as error:
        reason = f'it cannot be read: {error.strerror}'
    except UnicodeDecodeError:
        reason = 'it is not UTF-8 text'
    raise PolicyFileError(path=path, reason=reason)


def _data(text: str, path: str) -> Any:
    try:
        # a subclass of SafeLoader: it builds plain values only
        return yaml.load(text, _UniqueKeyLoader)  # noqa: S506
    except RecursionError:
        reason = 'it is not valid YAML: it is nested too deeply'
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f'line {mark.line + 1}: ' if mark else ''
        reason = f'it is not valid YAML: {line}{error.problem}'
    except yaml.YAMLError as error:
        reason = f'it is not valid YAML: {str(error).splitlines()[0]}'
    raise PolicyFileError(path=path, reason=reason)


def _faults(
    error: pydantic.ValidationError, data: dict[Any, Any]
) -> list[str]:
    """Every fault as ``policy NAME: FIELD: RULE, not VALUE``."""
    rows = data.get('policies')
    rows = rows if isinstance(rows, list) else []
    places = _places(rows)
    faults = [
        _fault(detail['type'], detail['loc'], detail['input'], places)
        for detail in error.errors(include_url=False)
        if detail['loc']  # what concerns the whole comes from conflicts
    ]
    return faults + models.conflicts(
        [row if isinstance(row, dict) else {} for row in rows]
    )


def _fault(
    kind: str, loc: tuple[int | str, ...], value: Any, places: list[str]
) -> str:
    if len(loc) == 1 or not isinstance(loc[1], int):
        model: type[pydantic.BaseModel] = PolicyFile
        where, path = '', loc
    else:
        model = Policy
        where, path = f'{places[loc[1]]}: ', loc[2:]
    if not path:
        return f'{where}must be a mapping of fields, not {_shown(value)}'
    name = str(path[0])
    return f'{where}{_clip(name)}: {_rule(model, name, kind, value)}'


def _rule(
    model: type[pydantic.BaseModel], name: str, kind: str, value: Any
) -> str:
    """What is wrong with one field, in words of the file."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    if name not in model.model_fields:
        alike = difflib.get_close_matches(name, model.model_fields, 1)
        hint = (
            f'did you mean {alike[0]}?'
            if alike
            else ('known: ' + ', '.join(model.model_fields))
        )
        return f'there is no such field, {hint}'
    if kind == 'value_error':  # the one rule that hangs on another field
        return 'is required in mode pack'
    rule = f'must be {model.model_fields[name].description}'
    if kind == 'missing':
        return f'is missing, it {rule}{NEEDED.get(name, "")}'
    return f'{rule}, not {_shown(value)}'


def _places(rows: list[Any]) -> list[str]:
    """What each policy is called: by its name, and by its number if needed."""
    names = [row.get('name') if isinstance(row, dict) else '' for row in rows]
    counts = Counter(one for one in names if isinstance(one, str))
    found = []
    for number, name in enumerate(names, 1):
        if not isinstance(name, str) or not name.strip():
            found.append(f'policy {number}')
        else:
            place = f' (number {number})' if counts[name] > 1 else ''
            found.append(f'policy {_clip(name)}{place}')
    return found


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _clip(repr(value))
    if isinstance(value, int) and abs(value) > HUGE:
        return 'so huge a number'  # too long for Python to write, maybe
    if isinstance(value, int | float):
        return str(value)
    return _kind(value)


def _kind(value: Any) -> str:
    names = {dict: 'a mapping', list: 'a list', type(None): 'nothing'}
    return names.get(type(value), f'a {type(value).__name__}')


def _clip(text: str) -> str:
    """On one line, and not endless."""
    line = ' '.join(text.split())
    return line if len(line) <= SHOWN else f'{line[:SHOWN]}...'
