# SPDX-License-Identifier: Apache-2.0
"""The keys of instances: the content of an instance's label, by its type.

A further type of label is a further case of each ``match`` over the types:
mypy names them all.
"""

from typing import Literal, assert_never

from kronos.engine.types import Snapshot
from kronos.policies.models import LabelType

Key = Literal['uuid', 'internal_name', 'name']
"""A field of an instance."""


def key_of(kind: LabelType) -> Key:
    """The field whose values a label of that type has."""
    match kind:
        case LabelType.NOVA_INSTANCE_UUID:
            return 'uuid'
        case LabelType.NOVA_INTERNAL_NAME:
            return 'internal_name'
        case LabelType.NOVA_DISPLAY_NAME:
            return 'name'
        case _:
            assert_never(kind)


def elsewhere(snapshot: Snapshot, kind: LabelType) -> set[str]:
    """Such values that instances outside of the scope have, too."""
    match kind:
        case LabelType.NOVA_INSTANCE_UUID:
            return set()
        case LabelType.NOVA_INTERNAL_NAME:
            return snapshot.internal_names_elsewhere
        case LabelType.NOVA_DISPLAY_NAME:
            return snapshot.display_names_elsewhere
        case _:
            assert_never(kind)
