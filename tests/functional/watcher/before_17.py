# SPDX-License-Identifier: Apache-2.0
"""Watcher's services in one process, of releases that have no such harness.

As much of watcher.tests.functional, which there is since 17, as the tests
here need: an API, a decision engine and an applier on one database, which
talk as they would by a message broker.
"""

import contextlib
import sqlite3
import threading
from unittest import mock

import fixtures
import oslo_messaging
import requests
from oslo_config import cfg, fixture
from oslo_db.sqlalchemy import enginefacade, test_fixtures
from oslo_messaging import conffixture
from watcher import objects
from watcher.api import app
from watcher.applier import manager as applier_manager
from watcher.common import config, context, rpc, service
from watcher.db.sqlalchemy import api, models
from watcher.decision_engine import manager as engine_manager
from watcher.decision_engine import sync
from watcher.decision_engine.model import model_root
from watcher.decision_engine.model.collector import manager as collectors
from wsgi_intercept import interceptor

from tests import watcher_tests
from tests.functional.watcher import catalog

CONF = cfg.CONF
URL = 'http://watcher.example:80'
PEOPLE = {'X-User-Id': 'a' * 32, 'X-Project-Id': 'b' * 32, 'X-Roles': 'admin'}


class Database(fixtures.Fixture):
    """An SQLite file with Watcher's tables."""

    def _setUp(self):
        file = f'{self.useFixture(fixtures.TempDir()).path}/watcher.sqlite'
        with contextlib.closing(sqlite3.connect(file)) as connection:
            connection.execute('PRAGMA journal_mode=WAL')
        url = f'sqlite:///{file}'
        CONF.set_override('connection', url, 'database')
        self.addCleanup(CONF.clear_override, 'connection', 'database')
        facade = enginefacade.transaction_context()
        facade.configure(connection=url, sqlite_synchronous=False)
        self.useFixture(
            test_fixtures.ReplaceEngineFacadeFixture(
                enginefacade._context_manager, facade
            )
        )
        engine = enginefacade.writer.get_engine()
        self.addCleanup(engine.dispose)
        models.Base.metadata.create_all(engine)
        self._lock = threading.RLock()
        self._for_write = api._session_for_write
        self.useFixture(
            fixtures.MockPatchObject(api, '_session_for_write', self._alone)
        )

    @contextlib.contextmanager
    def _alone(self):
        """SQLite lets one write at a time, and the others fail."""
        with self._lock, self._for_write() as session:
            yield session


class Service(fixtures.Fixture):
    """A decision engine or an applier, without its heartbeat."""

    def __init__(self, manager):
        super().__init__()
        self._manager = manager

    def _setUp(self):
        with mock.patch.object(service, 'ServiceHeartbeat', autospec=True):
            served = service.Service(self._manager)
        served.start()
        self.addCleanup(served.wait)
        self.addCleanup(served.stop)


class Client:
    """Asks the API as an administrator."""

    base_url = f'{URL}/v1'

    def _headers(self):
        return {**PEOPLE, 'Accept': 'application/json'}

    def get(self, path):
        return self._ask('GET', path)

    def post(self, path, body):
        return self._ask('POST', path, body)

    def patch(self, path, body):
        return self._ask('PATCH', path, body)

    def _ask(self, method, path, body=None):
        return requests.request(
            method,
            self.base_url + path,
            json=body,
            headers=self._headers(),
            timeout=60,
        )


class WatcherFunctionalTestCase(watcher_tests.base.BaseTestCase):
    """``self.admin_api`` and ``self.context``."""

    CAST_AS_CALL = True

    def setUp(self):
        super().setUp()
        self._override(None, enable_authentication=False)
        self._override('collector', collector_plugins=[])
        self._messaging()
        self._options()
        self.useFixture(watcher_tests.policy_fixture.PolicyFixture())
        self.useFixture(Database())
        objects.register_all()
        sync.Syncer().sync()
        self._no_model()
        self.addCleanup(service.Singleton._instances.clear)
        self.useFixture(Service(engine_manager.DecisionEngineManager))
        self.useFixture(Service(applier_manager.ApplierManager))
        application = app.VersionSelectorApplication()
        api = interceptor.RequestsInterceptor(
            lambda: application, url=f'{URL}/'
        )
        api.install_intercept()
        self.addCleanup(api.uninstall_intercept)
        self.admin_api = Client()
        self.context = context.make_context(
            user_id=PEOPLE['X-User-Id'],
            project_id=PEOPLE['X-Project-Id'],
            is_admin=True,
        )

    def _override(self, group, **options):
        for name, value in options.items():
            CONF.set_override(name, value, group)
            self.addCleanup(CONF.clear_override, name, group)

    def _options(self):
        self.useFixture(fixture.Config(CONF))
        file = f'{self.useFixture(fixtures.TempDir()).path}/watcher.conf'
        with open(file, 'w') as options:
            options.write(catalog.OPTIONS)
        # Those of the process are read again whenever a plugin is loaded.
        arguments = ['watcher', f'--config-file={file}']
        self.useFixture(fixtures.MonkeyPatch('sys.argv', arguments))
        config.parse_args(arguments)

    def _messaging(self):
        """Within the process; before the options are read, which use it."""
        broker = conffixture.ConfFixture(CONF)
        broker.transport_url = 'fake:/'
        self.useFixture(broker)
        self.addCleanup(rpc.cleanup)
        if self.CAST_AS_CALL:
            client = oslo_messaging.RPCClient
            self.useFixture(
                fixtures.MockPatchObject(client, 'cast', client.call)
            )

    def _no_model(self):
        """Kronos does not look at Watcher's model of the cloud."""
        collector = mock.Mock()
        model = model_root.ModelRoot(stale=False)
        collector.get_latest_cluster_data_model.return_value = model
        handler = collector.get_audit_scope_handler.return_value
        handler.get_scoped_model.return_value = model
        self.useFixture(
            fixtures.MockPatchObject(
                collectors.CollectorManager,
                'get_cluster_model_collector',
                return_value=collector,
            )
        )
