# SPDX-License-Identifier: Apache-2.0
"""The parts of extensions in reports: what each adds, and in which words.

The document of a report, its page, and the tables of the commands are made of
them.
"""

import copy
import enum
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from kronos.common.plugins import extensions
from kronos.engine import wording
from kronos.engine.settings import Settings
from kronos.engine.types import AggregateResult, MigrationStep


class ReportPart:
    """What an extension adds to reports; each answer is "nothing".

    A key is in each report, null or empty if nothing is to be said, and
    is never renamed.
    """

    phases: ClassVar[Mapping[str, str]] = {}
    """What the page calls its phases."""
    stops: ClassVar[Mapping[str, str]] = {}
    """What the page says where a scope stands still for its sake."""
    sections: ClassVar[tuple[str, ...]] = ()
    """Templates in the folder ``templates`` beside its module, each a section
    of a scope on the page."""

    def settings(self, settings: Settings) -> dict[str, Any]:
        """Keys of what was planned with."""
        return {}

    def scope(self, scope: AggregateResult) -> dict[str, Any]:
        """Keys of a scope."""
        return {}

    def figures(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """What its sections draw, by name.

        :param scope: of the document, also of an older one
        """
        return {}

    def step(self, step: MigrationStep) -> dict[str, Any]:
        """Keys of a step."""
        return {}

    def uuids(self, scope: AggregateResult) -> Collection[str]:
        """Servers that :meth:`lines` name."""
        return ()

    def lines(
        self, scope: AggregateResult, uuids: wording.ShortUuids
    ) -> list[str]:
        """Lines of a scope for people, below its steps."""
        return []

    def answer_lines(self, answer: Mapping[str, Any]) -> list[str]:
        """Lines about a server for people, below its moves.

        :param answer: with the keys of ``Extension.answer``
        """
        return []

    def host_lines(self, answer: Mapping[str, Any]) -> list[str]:
        """Lines about a host for people, below what it does.

        :param answer: with the keys of ``Extension.host_answer``
        """
        return []


def by_name() -> Mapping[str, ReportPart]:
    """Those of all extensions."""
    return extensions.parts('reports', ReportPart)


def every() -> Collection[ReportPart]:
    """The same without their names."""
    return by_name().values()


def picked(source: object, names: str) -> dict[str, Any]:
    """The values of fields, by keys of the same names."""
    return {name: plain(getattr(source, name)) for name in names.split()}


def plain(value: Any) -> Any:
    """A value as a document has it: words of enums, copies of others."""
    if isinstance(value, enum.Enum):
        return value.value
    return copy.copy(value) if isinstance(value, list | dict) else value
