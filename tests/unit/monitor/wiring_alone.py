# SPDX-License-Identifier: Apache-2.0
"""Is the agent assembled as its settings say?"""

from kronos.common.exceptions import ConfigurationError
from kronos.monitor import wiring
from kronos.monitor.metrics import Address, Metrics, Server
from tests.unit.monitor import agents


class TestWiring(agents.AgentTestCase):
    def test_a_sink(self) -> None:
        made = wiring.agent_of(self.settings('http://127.0.0.1:1/x'))
        self.addCleanup(made._spool.close)
        (one,) = made._deliveries
        self.assertEqual('hook', one.sink.name)
        self.assertEqual(1.0, one._backoff.most)

    def test_a_port_that_is_taken(self) -> None:
        server = Server(Address('127.0.0.1', 0), Metrics('x'))
        self.addCleanup(server.close)
        settings = self.settings()
        settings.metrics = Address('127.0.0.1', server.port)
        error = self.assertRaises(
            ConfigurationError, wiring.agent_of, settings
        )
        self.assertIn('Address already in use', str(error))

    def test_rules_that_are_wrong(self) -> None:
        self.rules.write_text('rules: 7')
        self.assertRaises(ConfigurationError, wiring.agent_of, self.settings())
