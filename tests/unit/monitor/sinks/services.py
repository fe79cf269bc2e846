# SPDX-License-Identifier: Apache-2.0
"""The sinks of a test that are services of OpenStack, and their options."""

import pathlib
from typing import Any

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.conf import monitor
from kronos.monitor.messages import Message
from tests.unit.monitor.sinks import hooks
from tests.unit.monitor.sinks.cloud import AUDIT, Cloud

SECRET = 's3cret-password'


def options(driver: str, url: str, **more: Any) -> dict[str, Any]:
    """All options of a driver, with their defaults but for these."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    group = monitor.group_of(driver)
    conf.register_opts([], group=group)
    known = monitor.register_sink(conf, driver, driver)
    return {
        **{one.dest: conf[group][one.dest] for one in known},
        'auth_url': f'{url}/v3',
        'username': 'kronos-monitor',
        'password': SECRET,
        'user_domain_name': 'Default',
        'project_name': 'service',
        'project_domain_name': 'Default',
        'insecure': True,
        'timeout': 30.0,
        **({'audit': AUDIT} if driver == 'watcher' else {}),
        **more,
    }


def message(**more: Any) -> Message:
    return hooks.message().model_copy(update=more)


class ServiceTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def cloud(self, *args: Any, **more: Any) -> Cloud:
        cloud = Cloud(*args, **more)
        self.addCleanup(cloud.close)
        return cloud
