# SPDX-License-Identifier: Apache-2.0
"""The execution of an event, and its reversal.

What cannot be done, since a server is gone or a service is away, is told
and no trouble.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from keystoneauth1 import exceptions as keystone
from labkit import running, topology, troubled
from labkit.lab import Lab
from labkit.wanted import Wanted

from chaoskit.events import BEGIN, Event, Step
from chaoskit.facts import NotDone, Outages
from chaoskit.nodes import Nodes

NOVA = '2.100'
REFUSED = 'not done: '
START_SECONDS = 120.0
CANCEL_SECONDS = 20.0
"""Within which a plan must begin, to be cancelled."""
BUSY_MEMORY_MB = 1500


class Hands:
    """An operator, some tenants and some accidents.

    :param prometheus: what stands before it
    """

    def __init__(
        self,
        lab: Lab,
        outages: Outages,
        groups: dict[str, str],
        prometheus: troubled.Troubled,
    ) -> None:
        self._lab = lab
        self._cloud = lab.cloud
        self._outages = outages
        self._groups = groups
        self._prometheus = prometheus
        self._nodes = Nodes(lab, outages)
        self._troubles: dict[int, Event] = {}
        """Events that are not yet taken back, by number."""
        self._lock = threading.Lock()
        self._image = self._cloud._image(topology.IMAGE)
        self._flavors = self._cloud.flavors()
        self._demands: dict[str, dict[str, float]] = {}
        self._tellers = {
            'prometheus': self._tell_prometheus,
            'exporter': self._tell_exporter,
            'nova-api': self._tell_nova_api,
            'migrations': self._tell_migrations,
        }

    def do(self, step: Step) -> str:
        """What came of it; '': it was done."""
        try:
            self._work(step)(step.event)
        except NotDone as error:
            return f'{REFUSED}{error}'
        # Whatever is killed may be what was needed.
        except Exception as error:
            return f'{REFUSED}{type(error).__name__}: {error}'[:160]
        return ''

    def _work(self, step: Step) -> Callable[[Event], None]:
        begins = step.phase == BEGIN
        if step.event.kind in self._tellers:
            return self._trouble if begins else self._no_trouble
        works = {
            **self._nodes.works(),
            'boot': (self._boot,),
            'delete': (self._delete,),
            'stop-server': (self._stop_server, self._start_server),
            'resize': (self._resize, self._confirm),
            'lock': (self._close, self._open),
            'migrate': (self._migrate,),
            'disable': (self._disable, self._enable),
            'cancel-plan': (self._cancel_plan,),
            'demand': (self._demand,),
            'kill-host': (self._kill, self._start),
            'kill': (self._kill, self._start),
            'stop': (self._stop, self._start),
        }
        return works[step.event.kind][0 if begins else 1]

    # Tenants

    def _boot(self, event: Event) -> None:
        if self._find(event.subject):
            raise NotDone('it is there already')
        told = event.told
        wanted = Wanted(
            event.subject,
            cpu=told['cpu'],
            memory_mb=told['memory_mb'],
            flavor=told['flavor'],
            group=self._groups.get(told.get('group', '')),
        )
        self._cloud._post(wanted, self._image, self._flavors[told['flavor']])

    def _delete(self, event: Event) -> None:
        self._answer('delete', f'/servers/{self._uuid(event.subject)}')

    def _stop_server(self, event: Event) -> None:
        self._act(event, {'os-stop': None})

    def _start_server(self, event: Event) -> None:
        self._act(event, {'os-start': None})

    def _resize(self, event: Event) -> None:
        flavor = self._flavors[event.told['flavor']]
        self._act(event, {'resize': {'flavorRef': flavor}})

    def _confirm(self, event: Event) -> None:
        self._act(event, {'confirmResize': None})

    # The operator

    def _close(self, event: Event) -> None:
        self._act(event, {'lock': None})

    def _open(self, event: Event) -> None:
        self._act(event, {'unlock': None})

    def _migrate(self, event: Event) -> None:
        told = {'host': event.told['to'], 'block_migration': 'auto'}
        self._act(event, {'os-migrateLive': told})

    def _disable(self, event: Event) -> None:
        self._cloud.set_host(event.subject, False, 'chaos')

    def _enable(self, event: Event) -> None:
        self._cloud.set_host(event.subject, True)

    def _cancel_plan(self, event: Event) -> None:
        going = self._plans_under_way()
        end = time.monotonic() + CANCEL_SECONDS
        while not going and time.monotonic() < end:
            time.sleep(1)
            going = self._plans_under_way()
        if not going:
            raise NotDone('no plan is under way')
        plan = sorted(going, key=lambda one: str(one['uuid']))[0]
        value = 'CANCELLING' if plan['state'] == 'ONGOING' else 'CANCELLED'
        change = [{'op': 'replace', 'path': '/state', 'value': value}]
        url = f'/v1/action_plans/{plan["uuid"]}'
        self._cloud.watcher(url, 'patch', json=change, raise_exc=False)

    def _plans_under_way(self) -> list[dict[str, Any]]:
        plans = self._cloud.watcher('/v1/action_plans')['action_plans']
        return [
            plan for plan in plans if plan['state'] in ('ONGOING', 'PENDING')
        ]

    # Accidents

    def _kill(self, event: Event) -> None:
        self._away(event, kill=True)

    def _stop(self, event: Event) -> None:
        self._away(event, kill=False)

    def _start(self, event: Event) -> None:
        self.serve(event.subject)

    def _away(self, event: Event, kill: bool) -> None:
        if self._outages.open(event.subject):
            raise NotDone('it is away already')
        self._outages.begin(event.subject, time.time())
        self._lab.stop(event.subject, kill=kill)

    def serve(self, name: str) -> None:
        """Start a host or a service unless it runs, and wait for it.

        :raises LabError: it does not serve in time
        """
        # It runs at once, but what it reports to may be away.
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                self._lab.start(name)
                break
            except (
                running.LabError,
                OSError,
                LookupError,
                keystone.ClientException,
            ):
                if time.monotonic() > end:
                    raise
                time.sleep(1)
        self._outages.end(name, time.time())

    def _demand(self, event: Event) -> None:
        """All servers of a host become as busy as that."""
        on_it = [
            server['name']
            for server in self._cloud.servers().values()
            if server['OS-EXT-SRV-ATTR:host'] == event.subject
        ]
        with self._lock:
            for name in on_it:
                self._demands[name] = {
                    'cpu': event.told['cpu'],
                    'memory_mb': BUSY_MEMORY_MB,
                }
            self._cloud.set_demand(**self._demands)

    def _trouble(self, event: Event) -> None:
        with self._lock:
            self._troubles[event.number] = event
            self._tell(event.kind)

    def _no_trouble(self, event: Event) -> None:
        with self._lock:
            self._troubles.pop(event.number, None)
            self._tell(event.kind)

    def _tell(self, kind: str) -> None:
        """All troubles of a kind that are not yet over."""
        now = self._troubles.values()
        self._tellers[kind]([one.told for one in now if one.kind == kind])

    def _tell_prometheus(self, now: list[dict[str, Any]]) -> None:
        self._prometheus.trouble = now[-1]['trouble'] if now else ''

    def _tell_exporter(self, now: list[dict[str, Any]]) -> None:
        told: dict[str, Any] = {}
        for one in now:
            told |= one
        self._cloud.set_exporter(**told)

    def _tell_nova_api(self, now: list[dict[str, Any]]) -> None:
        self._cloud.set_nova_api([one['rule'] for one in now])

    def _tell_migrations(self, now: list[dict[str, Any]]) -> None:
        self._cloud.set_migrations({one['of']: one['rule'] for one in now})

    def be_well(self) -> None:
        """No trouble is told any more."""
        with self._lock:
            self._troubles.clear()
            for kind in self._tellers:
                self._tell(kind)
        self._nodes.heal()

    def confirm(self, uuid: str) -> None:
        """Confirm a resize that nobody has confirmed."""
        url = f'/servers/{uuid}/action'
        self._answer('post', url, json={'confirmResize': None})

    # What they need

    def _find(self, name: str) -> dict[str, Any] | None:
        for server in self._cloud.servers().values():
            if server['name'] == name:
                return server
        return None

    def _uuid(self, name: str) -> str:
        result = self._find(name)
        if result is None:
            raise NotDone('there is no such server')
        return str(result['id'])

    def _act(self, event: Event, body: dict[str, Any]) -> None:
        url = f'/servers/{self._uuid(event.subject)}/action'
        self._answer('post', url, json=body)

    def _answer(self, method: str, url: str, **more: Any) -> None:
        call = getattr(self._cloud.compute, method)
        answer = call(url, microversion=NOVA, **more)
        if not answer.ok:
            raise NotDone(f'{answer.status_code} {answer.text[:120]}')
