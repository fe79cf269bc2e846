# SPDX-License-Identifier: Apache-2.0
"""Is a certificate read from a report, and is another file refused?"""

import json
from dataclasses import asdict

from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.extensions.room import certificates
from kronos.extensions.room.certificates import (
    Certificate,
    Claim,
    KindPrice,
)

CERTIFICATE = Certificate(
    Claim.MOST, 7, 3, 0.25, {'f16': 1.0}, [KindPrice({'VCPU': 2}, 4, 0.125)]
)


class TestOfReport(base.BaseTestCase):
    def test_same(self) -> None:
        scopes = [
            {'name': 'a', 'room': {'certificate': asdict(CERTIFICATE)}},
            {'name': 'b', 'room': {'certificate': None}},
            {'name': 'c', 'room': None},
            {'name': 'd'},
        ]
        report = json.loads(json.dumps({'scopes': scopes}))
        self.assertEqual({'a': CERTIFICATE}, certificates.of_report(report))

    def test_others(self) -> None:
        lacking = asdict(CERTIFICATE)
        del lacking['slots']
        wrong = {**asdict(CERTIFICATE), 'claim': 'true'}
        for report in (
            {},
            [],
            {'scopes': [{'name': 'a', 'room': {'certificate': lacking}}]},
            {'scopes': [{'name': 'a', 'room': {'certificate': wrong}}]},
            {'scopes': [{'name': 'a', 'room': {'certificate': 5}}]},
        ):
            error = self.assertRaises(
                ConfigurationError, certificates.of_report, report
            )
            self.assertIn('no report of a plan that makes room', str(error))
