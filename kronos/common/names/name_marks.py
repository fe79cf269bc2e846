# SPDX-License-Identifier: Apache-2.0
"""The name marks: what a field with text is the name of.

Each text that a recording may hold has one, by its type. Whoever anonymises a
recording finds and replaces names by them.
"""

from enum import Enum, auto
from typing import Annotated


class Name(Enum):
    """What has a name."""

    HOST = auto()
    """A host, its node, or a value of a label that may mean one."""
    UUID = auto()
    """A server, a server group, an aggregate, an action or its plan."""
    SERVER = auto()
    """The display name of a server."""
    DOMAIN = auto()
    """The internal name of a server, which libvirt knows."""
    GROUP = auto()
    SCOPE = auto()
    """An aggregate, or what else is planned by itself."""
    REFERENCE = auto()
    """An aggregate by its name, else by its uuid or id."""
    ZONE = auto()
    CELL = auto()
    FLAVOR = auto()
    PROJECT = auto()
    NONE = auto()
    """No name: the anonymizer sees to the text itself."""


HostName = Annotated[str, Name.HOST]
Uuid = Annotated[str, Name.UUID]
ServerName = Annotated[str, Name.SERVER]
DomainName = Annotated[str, Name.DOMAIN]
GroupName = Annotated[str, Name.GROUP]
ScopeName = Annotated[str, Name.SCOPE]
AggregateReference = Annotated[str, Name.REFERENCE]
ZoneName = Annotated[str, Name.ZONE]
CellName = Annotated[str, Name.CELL]
FlavorName = Annotated[str, Name.FLAVOR]
ProjectName = Annotated[str, Name.PROJECT]
Text = Annotated[str, Name.NONE]
