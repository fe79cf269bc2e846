# SPDX-License-Identifier: Apache-2.0
"""The Glance client at the wire."""

from typing import Any

from oslotest import base

from kronos.clients import connection, glance
from kronos.common import exceptions
from tests.fakes import keystone
from tests.fakes.keystone import GLANCE

IMAGES = f'{GLANCE}/v2/images'


class TestImagesNamed(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.keystone = self.useFixture(keystone.Keystone())
        self.client = glance.GlanceClient(
            connection.connect(self.keystone.session, 'one').image,
            sleep=lambda seconds: None,
        )

    def answer(self, *images: dict[str, Any], **more: Any) -> None:
        self.keystone.wire.get(IMAGES, json={'images': images}, **more)

    def test_what_is_told(self) -> None:
        self.answer(
            {
                'id': 'i1',
                'name': 'Web:1',
                'status': 'active',
                'owner': 'p',
                'visibility': 'private',
                'instance_uuid': 'vm',
                'file': '/v2/images/i1/file',
            },
            {'id': 'i2', 'name': 'Web:1', 'owner': None},
            {'id': 'i3', 'name': 'web:1'},
        )
        self.assertEqual(
            [
                glance.Image('i1', 'Web:1', 'active', 'p', 'private', 'vm'),
                glance.Image('i2', 'Web:1', '', '', ''),
            ],
            self.client.images_named('Web:1'),
        )

    def test_what_is_asked(self) -> None:
        """Any name is one, and no operator of a filter."""
        self.answer()
        self.assertEqual([], self.client.images_named('in:a b&c'))
        [asked] = self.keystone.requests('/images')
        self.assertEqual(['eq:in:a b&c'], asked.qs['name'])
        self.assertNotIn('OpenStack-API-Version', asked.headers)

    def test_refused(self) -> None:
        self.keystone.wire.get(IMAGES, status_code=403, text='no')
        error = self.assertRaises(
            exceptions.GlanceClientError, self.client.images_named, 'a'
        )
        self.assertIn('Glance: GET /images: HTTP 403', str(error))
        self.assertFalse(error.kwargs['transient'])
