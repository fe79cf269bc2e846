# SPDX-License-Identifier: Apache-2.0
"""The parts of extensions in a recording: what each keeps, and replays.

An extension needs none of its own: what an audit asks of it and what it keeps
beside a snapshot are objects of dataclasses that it names, whose fields have
marks of names (``common/names``). They are stored as they are. Those that have
keys and files of their own say so here.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import pydantic

from kronos.common import first_fault
from kronos.common.exceptions import ConfigurationError
from kronos.common.names.name_marks import Name
from kronos.common.plugins import extensions
from kronos.engine.extension import PLAIN, Extension
from kronos.engine.settings import PlanMode, Settings
from kronos.engine.types import Instance
from kronos.recordings.safe_files import MAX_ROWS, STRICT, Folder
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import HostChoice, ScopeRequest

if TYPE_CHECKING:
    from kronos.recordings.anonymize.extra_specs import Specs

BESIDE = 'extensions'
"""The folder of what extensions keep beside snapshots, a file each."""
Keys = Mapping[str, tuple[Any, Any]]
"""Type and default by key; where the value is None the key is left out."""


class RecordingPart:
    """What an extension keeps in a recording; each answer is "nothing"."""

    mode: ClassVar[str] = ''
    """The word of ``--mode`` that asks for it; '': its name."""
    meta: ClassVar[Keys] = {}
    """Its own keys of ``meta.json``."""
    request: ClassVar[Keys] = {}
    """The same of what was asked for."""
    settings: ClassVar[Keys] = {}
    """The same of what was planned with."""
    special: ClassVar[Mapping[Name, Collection[str]]] = {}
    """What is no name, though it stands where one may be."""
    phases: ClassVar[Collection[str]] = ()
    """Phases of past moves that an anonymous recording may tell."""
    phrases: ClassVar[Collection[str]] = ()
    """The same of warnings: words of Kronos."""
    keeps_beside: ClassVar[bool] = False
    """Whether its own files hold what an inventory keeps for it, and itself
    takes the texts out."""
    keeps_texts: ClassVar[bool] = False
    """Whether itself takes texts out of what an inventory keeps for it."""
    metadata: ClassVar[Mapping[str, Collection[str]]] = {}
    """Keys of servers' metadata that it looks at, with the values that an
    anonymous recording may tell."""

    def meta_values(self, gathered: CloudInventory) -> dict[str, Any]:
        """The values of its keys."""
        return {}

    def request_values(self, request: ScopeRequest) -> dict[str, Any]:
        """The same as rows."""
        return {}

    def request_fields(self, row: Any) -> dict[str, Any]:
        """The fields of a request that such rows are."""
        return {}

    def settings_values(self, settings: Settings) -> dict[str, Any]:
        """The same as rows."""
        return {}

    def extension(self, row: Any) -> Extension | None:
        """The extension that its keys of the settings ask for."""
        return None

    def files(self, gathered: CloudInventory) -> dict[str, Any]:
        """Its own files by name, each a document."""
        return {}

    def read(
        self, folder: Folder, meta: Any, gathered: CloudInventory
    ) -> None:
        """Add to an inventory what its files and its keys of the meta say.

        :raises ArchiveError: names the file and the field that is wrong
        """

    def replayed(
        self, parameters: Mapping[str, Any], gathered: CloudInventory
    ) -> Any:
        """What an audit with these parameters asks of the extension.

        :raises ConfigurationError: a parameter is wrong, or lacks
        """
        return None

    def chosen(self, settings: Settings) -> HostChoice | None:
        """The hosts that it asks for; None: those of aggregates."""
        return None

    def extra_specs(
        self, gathered: CloudInventory
    ) -> Iterable[Mapping[str, str]]:
        """Extra specs that are not those of an instance."""
        return ()

    def anonymous_fields(self, instance: Instance) -> dict[str, Any]:
        """Fields of an instance whose texts may tell of a cloud."""
        return {}

    def disabled_reason(
        self, reason: str, rename: Callable[[str], str]
    ) -> str | None:
        """What an anonymous recording tells of a reason of a nova-compute.

        :param rename: gives a name of a group, or of what has the same mark,
            as it is there
        :returns: None: the reason is not of this extension
        """
        return None

    def redact(self, gathered: CloudInventory) -> None:
        """Hide secrets in its texts.

        :param gathered: a copy, whose fields may be set
        """

    def anonymous(self, gathered: CloudInventory, specs: 'Specs') -> None:
        """Take texts out that may tell of a cloud; names are new already.

        :param gathered: a copy, whose fields may be set
        """


def by_name() -> Mapping[str, RecordingPart]:
    """Those of all extensions that have one."""
    return extensions.parts('recordings', RecordingPart)


def every() -> Collection[RecordingPart]:
    """The same without their names."""
    return by_name().values()


def by_mode() -> dict[str, str]:
    """The names of all extensions, by their words of ``--mode``."""
    of_parts = by_name()
    return {
        (name in of_parts and of_parts[name].mode) or name: name
        for name in extensions.names()
    }


def modes_of_others() -> list[str]:
    """The words of the extensions of other packages."""
    return [mode for mode in by_mode() if mode not in [*PlanMode]]


def takes_parameters(name: str) -> bool:
    """Whether an audit has parameters for an extension.

    :param name: '': none
    """
    part = by_name().get(name)
    if part is not None:
        return type(part).replayed is not RecordingPart.replayed
    return bool(name) and _kind(name).asks is not None


def replayed(
    name: str, parameters: Mapping[str, Any], gathered: CloudInventory
) -> Extension:
    """The extension that a command asks for, with its parameters.

    :param name: '': none
    :raises ConfigurationError: it cannot be loaded, or asked so
    """
    part = by_name().get(name)
    if part is None:
        return made(name, parameters or None)
    return _kind(name)(part.replayed(parameters, gathered))


def made(name: str, request: Any) -> Extension:
    """An extension, of which a recording or a command asks something.

    :param request: plain values, as a recording has them
    :raises ConfigurationError: it is not installed, or is asked otherwise
    """
    if not name:
        return PLAIN
    kind = _kind(name)
    if kind.asks is not None and request is not None:
        request = _validated(kind.asks, request, name)
    return kind(request)


def _kind(name: str) -> type[Extension]:
    return extensions.kind(name, Extension)


def _validated(kind: type, plain: Any, name: str) -> Any:
    """:raises ConfigurationError: names the field that is wrong"""
    try:
        adapter = _adapter(kind)
        return adapter.validate_python({name: plain}, strict=False)[name]
    except pydantic.ValidationError as error:
        reason = f'extension {first_fault.sentence(error)}'
        raise ConfigurationError(reason=reason) from None


def _adapter(kind: Any) -> pydantic.TypeAdapter[dict[str, Any]]:
    """Of an object of an extension by its name, with no other fields."""
    return first_fault.adapter(dict[str, kind], STRICT, MAX_ROWS)


def files(gathered: CloudInventory) -> dict[str, Any]:
    """All files of extensions, each a document."""
    documents = {
        f'{BESIDE}/{name}.json': _adapter(type(value)).dump_python(
            {name: value}, mode='json'
        )
        for name, value in gathered.beside.items()
        if not keeps_beside(name)
    }
    for part in every():
        documents |= part.files(gathered)
    return documents


def read(folder: Folder, meta: Any, gathered: CloudInventory) -> None:
    """Add what extensions keep to an inventory.

    A file of an extension that is not installed is left alone.

    :raises ArchiveError: names the file and the field that is wrong
    """
    for name in extensions.names():
        file = f'{BESIDE}/{name}.json'
        if folder.has(file) and (kind := _kind(name).keeps):
            values: dict[str, Any] = folder.decode(_adapter(kind), file)
            gathered.beside |= values
    for part in every():
        part.read(folder, meta, gathered)


def chosen(settings: Settings) -> HostChoice | None:
    """The hosts that an extension asks for, if it is not for aggregates."""
    return next(
        filter(None, (part.chosen(settings) for part in every())), None
    )


def keeps_beside(name: str) -> bool:
    """Whether an extension keeps what is its own by a part."""
    part = by_name().get(name)
    return part is not None and part.keeps_beside


def keeps_texts(name: str) -> bool:
    """Whether the part of an extension takes its texts out."""
    part = by_name().get(name)
    return part is not None and (part.keeps_beside or part.keeps_texts)


def has_keys(extension: Extension) -> bool:
    """Whether it stands in the settings under keys of its own."""
    part = by_name().get(extension.name)
    return part is not None and bool(part.settings)
