# SPDX-License-Identifier: Apache-2.0
"""The options of planning, as their rows say (:mod:`kronos.options`)."""

import typing
from typing import Any, ClassVar

from oslo_config import cfg, types

from kronos.options import extensions
from kronos.options.choices import SwapMoves
from kronos.options.disruption import DisruptionOptions
from kronos.options.planning import PlanningOptions
from kronos.options.row import Row, rows


class _SwapMoves(types.String):  # type: ignore[misc]
    """One of the choices, or what it was as a flag."""

    FLAGS: ClassVar[dict[str, str]] = {
        **dict.fromkeys(types.Boolean.TRUE_VALUES, 'safe'),
        **dict.fromkeys(types.Boolean.FALSE_VALUES, 'none'),
    }

    def __call__(self, value: Any) -> Any:
        text = str(value).lower()
        return super().__call__(self.FLAGS.get(text, text))


class _OrPlugin(types.String):  # type: ignore[misc]
    """One of the choices, or the name of a plugin of another package."""

    def __init__(self, row: Row) -> None:
        super().__init__(choices=row.choices and row.choices.choices())
        self._row = row

    def __call__(self, value: Any) -> Any:
        is_plugin = value in self._row.words()
        return value if is_plugin else super().__call__(value)


class _Checked(types.String):  # type: ignore[misc]
    """A text with a rule of its own."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self._row = row

    def __call__(self, value: Any) -> Any:
        return self._row.checked(super().__call__(value))


class _CheckedDict(types.Dict):  # type: ignore[misc]
    """Names with texts that have a rule of their own."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self._row = row

    def __call__(self, value: Any) -> Any:
        return self._row.checked(value)


class _CheckedList(types.List):  # type: ignore[misc]
    """Words that have a rule of their own."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self._row = row

    def __call__(self, value: Any) -> Any:
        return self._row.checked(super().__call__(value))


_CHECKED = {dict: _CheckedDict, list: _CheckedList}


def of(kind: type) -> list[Any]:
    """The options among the fields of a dataclass."""
    return [option_of(row) for row in rows(kind)]


def option_of(row: Row) -> Any:
    """The option of a row; the default of a choice is its plain word."""
    default = getattr(row.default, 'value', row.default)
    values: dict[str, Any] = {'default': default, 'help': row.help}
    if row.kind is SwapMoves:
        values['type'] = _SwapMoves(choices=SwapMoves.choices())
        return cfg.Opt(row.name, **values)
    if row.check is not None:
        kind = _CHECKED.get(typing.get_origin(row.kind), _Checked)
        return cfg.Opt(row.name, type=kind(row), **values)
    if row.kind is bool:
        return cfg.BoolOpt(row.name, **values)
    if row.has_lines:
        return cfg.MultiStrOpt(row.name, **values)
    if typing.get_origin(row.kind) is list:
        return cfg.ListOpt(row.name, **values)
    if row.choices is None:
        number = cfg.IntOpt if row.is_whole else cfg.FloatOpt
        return number(row.name, min=row.least, max=row.most, **values)
    if row.plugins:
        return cfg.Opt(row.name, type=_OrPlugin(row), **values)
    return cfg.StrOpt(row.name, choices=row.choices.choices(), **values)


OPTS = [
    option
    for kind in (
        PlanningOptions,
        DisruptionOptions,
        *extensions.classes(),
    )
    for option in of(kind)
]
