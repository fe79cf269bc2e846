# SPDX-License-Identifier: Apache-2.0
"""A small scope: a server on the first of three hosts may go to the next."""

from oslotest import base

from kronos.engine.settings import Settings
from tests.builders import constraints, scopes


class ScopeTestCase(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.policies = [scopes.policy('cpu')]
        self.snapshot = scopes.scope(
            self.policies,
            {'a': [0.8], 'b': [0.2], 'c': [0.2]},
            [scopes.vm('v', 'a', [0.3])],
        )
        self.settings = Settings(min_host_coverage=0.0)

    def reason(self) -> str | None:
        """Why it may not; None: it may."""
        built = constraints.built(self.snapshot, self.policies, self.settings)
        assert built is not None
        return built[1].why_not(0, 1)
