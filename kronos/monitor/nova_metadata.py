# SPDX-License-Identifier: Apache-2.0
"""Nova's metadata in the XML of a domain: whose it is, and what it is made of.

The XML may be hostile, since some of its texts are a tenant's: it is bounded,
and what has a document type, and with it entities, is refused.
"""

import xml.parsers.expat  # noqa: S407 (it refuses what makes XML dangerous)
from dataclasses import dataclass, field

from kronos.common import plain_text

MAX_BYTES = 2**20
"""Of the XML; a large one has some ten thousand."""
MAX_TEXT = 255
"""Characters of a name or a value that are kept."""
MAX_PAIRS = 200
"""Of extra specs, and of properties of an image."""
MAX_PAIRS_BYTES = 4096
"""The same, in UTF-8: tenants set properties, and a host has many servers."""
MAX_DEPTH = 100
NOVA = 'http://openstack.org/xmlns/libvirt/nova/'
"""Namespaces that begin so are Nova's; its version follows."""


class HostileXml(ValueError):
    """The XML is broken, too large, or dangerous."""


@dataclass
class Metadata:
    """What Nova wrote about a server when it started it."""

    display_name: str = ''
    project: str = ''
    """The UUID."""
    project_name: str = ''
    flavor: str = ''
    extra_specs: dict[str, str] = field(default_factory=dict)
    image: str = ''
    """The UUID; '' where it boots from a volume."""
    image_properties: dict[str, str] = field(default_factory=dict)


def parse(text: str | bytes) -> Metadata:
    """Read the metadata from the XML of a domain.

    :returns: empty where Nova wrote none
    :raises HostileXml: nothing of it was kept
    """
    data = text.encode(errors='replace') if isinstance(text, str) else text
    if len(data) > MAX_BYTES:
        raise HostileXml(f'it has more than {MAX_BYTES} bytes')
    reader = _MetadataReader()
    try:
        reader.read(data)
    except HostileXml:
        raise
    except Exception as error:
        # Expat has its own errors, and lets those of codecs through.
        raise HostileXml(f'it is not XML: {error}') from None
    return reader.metadata


def bounded(text: str) -> str:
    """A name or a value as it may be kept and told: one line, not endless."""
    start = text[:MAX_TEXT].encode(errors='replace').decode()
    return plain_text.line(start)


class _MetadataReader:
    def __init__(self) -> None:
        self.metadata = Metadata()
        self._path: list[str] = []
        self._attributes: list[dict[str, str]] = []
        self._text: list[str] = []

    def read(self, data: bytes) -> None:
        # What the XML says of its encoding does not matter: it was a text.
        parser = xml.parsers.expat.ParserCreate('utf-8', ' ')
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.Parse(data, True)

    @staticmethod
    def _refuse(*_: object) -> None:
        raise HostileXml('it has a document type')

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self._path) >= MAX_DEPTH:
            raise HostileXml('it is nested too deeply')
        space, _, name = tag.rpartition(' ')
        self._path.append(name if space.startswith(NOVA) else '')
        self._attributes.append(attributes)
        self._text.clear()

    def _end(self, _: str) -> None:
        metadata = self.metadata
        # domain, metadata, and then Nova's own element
        match self._path[2:]:
            case ['instance', 'name']:
                metadata.display_name = self._said()
            case ['instance', 'flavor']:
                metadata.flavor = self._attribute('name')
            case ['instance', 'flavor', 'extraSpecs', 'extraSpec']:
                self._pair(metadata.extra_specs)
            case ['instance', 'image']:
                metadata.image = self._attribute('uuid')
            case ['instance', 'image', 'properties', 'property']:
                self._pair(metadata.image_properties)
            case ['instance', 'owner', 'project']:
                metadata.project = self._attribute('uuid')
                metadata.project_name = self._said()
        self._path.pop()
        self._attributes.pop()
        self._text.clear()

    def _said(self) -> str:
        return bounded(''.join(self._text).strip())

    def _attribute(self, name: str) -> str:
        return bounded(self._attributes[-1].get(name, ''))

    def _pair(self, pairs: dict[str, str]) -> None:
        name, value = self._attribute('name'), self._said()
        texts = [name, value, *pairs, *pairs.values()]
        size = sum(len(text.encode()) for text in texts)
        if len(pairs) < MAX_PAIRS and size <= MAX_PAIRS_BYTES:
            pairs[name] = value
