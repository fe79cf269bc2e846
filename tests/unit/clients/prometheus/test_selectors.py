# SPDX-License-Identifier: Apache-2.0
"""Is it seen which series a query asks for?"""

from oslotest import base

from kronos.clients.prometheus import selectors

SERIES = {selectors.NAME: 'kronos_vm_failed', 'kind': 'hang'}


class TestAsks(base.BaseTestCase):
    def test_it_may(self) -> None:
        for query in (
            'kronos_vm_failed',
            'max by (host) (kronos_vm_failed)',
            'max by (host) (kronos_vm_failed{})',
            'kronos_vm_failed{kind="hang"} == 1',
            "kronos_vm_failed{kind='hang'}",
            'kronos_vm_failed{kind=`hang`}',
            'kronos_vm_failed{kind!="io_error"}',
            'kronos_vm_failed{kind=~"crash|ha.*"}',
            'kronos_vm_failed{kind!~"crash|io_.*"}',
            'kronos_vm_failed { host =~ "cmp.*" , kind = "hang" }',
            'kronos_vm_failed{kind=~"(?i:HANG)"}',
            'kronos_vm_failed{kind=~"\\\\pL+"}',
            '{__name__="kronos_vm_failed"}',
            '{__name__=~"kronos_vm_.*",host!=""}',
            '{"kronos_vm_failed", kind="hang"}',
            '{"kronos_vm_failed", "kind"="hang"}',
            'up{job="a}b"} * on (host) kronos_vm_failed{kind="hang"}',
            'kronos_vm_failed{kind="io_error"} or kronos_vm_failed',
            'count_over_time(kronos_vm_failed{kind="hang"}[5m:1m])',
        ):
            self.assertTrue(selectors.asks(query, SERIES), query)

    def test_it_does_not(self) -> None:
        for query in (
            '',
            'up',
            'my_kronos_vm_failed',
            'kronos_vm_failed{kind="io_error"}',
            'kronos_vm_failed{kind="io_error",host=~"a|b"}',
            'kronos_vm_failed{kind=~"io_error|crash"}',
            'kronos_vm_failed{kind=~"han"}',
            'kronos_vm_failed{kind!~"hang|panic"}',
            'kronos_vm_failed{kind!="hang"}',
            'up{job="kronos_vm_failed"}',
            'up{job="x{kronos_vm_failed}"}',
            'up # kronos_vm_failed',
            'label_replace(up, "a", "kronos_vm_failed", "b", "c")',
            'count by (host) (count by (host, instance_uuid) '
            '(kronos_vm_failed{kind="io_error"})) >= 2',
        ):
            self.assertFalse(selectors.asks(query, SERIES), query)
