# SPDX-License-Identifier: Apache-2.0
"""The Glance client: which images there are of a name."""

from dataclasses import dataclass
from typing import Any, NotRequired

from typing_extensions import TypedDict

from kronos.clients import rest
from kronos.clients.schema import Text
from kronos.common import exceptions

NO_MICROVERSION = ''
"""Glance has none."""
_PAGE = '1000'
"""Images that Glance gives at once, unless its ``api_limit_max`` is less."""


class _Image(TypedDict):
    id: str
    name: NotRequired[Text]
    status: NotRequired[Text]
    owner: NotRequired[Text]
    visibility: NotRequired[Text]
    instance_uuid: NotRequired[Text]


class _Images(TypedDict):
    images: list[_Image]


@dataclass(frozen=True)
class Image:
    """An image, as far as it tells what it is there for."""

    id: str
    name: str
    status: str
    owner: str
    visibility: str
    instance: str = ''
    """Uuid of the server that Nova made it of; '': of none, or not told."""


class GlanceClient:
    """Glance, as an administrator reads it.

    Every method raises :class:`~kronos.common.exceptions.GlanceClientError`
    whose ``kwargs`` are those of :class:`~kronos.clients.rest.Wire`.

    :param adapter: openstacksdk's proxy of the service ``image``, or a
        keystoneauth1 adapter whose endpoint ends in ``/v2``
    :param options: of :class:`~kronos.clients.rest.Wire`
    """

    def __init__(self, adapter: Any, **options: Any) -> None:
        self._wire = rest.Wire(
            adapter, exceptions.GlanceClientError, **options
        )

    def images_named(self, name: str) -> list[Image]:
        """The images of exactly this name, whoever owns them."""
        # Without the operator a name with a colon would be one.
        query = {'name': f'eq:{name}', 'limit': _PAGE}
        listing = self._wire.get(
            '/images', NO_MICROVERSION, query, shape=_Images
        )
        return [
            Image(
                id=row['id'],
                name=name,
                status=row.get('status') or '',
                owner=row.get('owner') or '',
                visibility=row.get('visibility') or '',
                instance=row.get('instance_uuid') or '',
            )
            for row in listing['images']
            # Some databases compare without regard to case.
            if row.get('name') == name
        ]
