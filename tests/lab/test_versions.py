# SPDX-License-Identifier: Apache-2.0
"""The services that run are of the releases that the lab says it has."""

import json
import pathlib
import re
import subprocess

import requests

from tests.lab import base

from labkit import layout, process  # isort: skip

STARTED = re.compile(r'Starting \S+ node \(version (\S+)\)')
ASK = """
import importlib.metadata as metadata, json
names = ('nova', 'python-watcher', 'keystone', 'openstack-placement', 'glance')
print(json.dumps({name: metadata.version(name) for name in names}))
"""


class TestVersions(base.LabTestCase):
    def test_every_service_is_of_this_environment(self):
        others = {}
        for name, record in process.records().items():
            words = pathlib.Path(f'/proc/{record.pid}/cmdline').read_bytes()
            program = words.decode().split('\0')[0]
            if 'python' in pathlib.Path(program).name:
                others[name] = program
        self.assertLess({'nova-api', 'watcher-api', 'keystone'}, set(others))
        self.assertEqual({layout.program('python')}, set(others.values()))
        asked = subprocess.run(
            [layout.program('python'), '-c', ASK],
            capture_output=True,
            check=True,
        )
        wanted = layout.COHORT.versions()
        for name, version in json.loads(asked.stdout).items():
            self.assertEqual(wanted[name], version, name)

    def test_nova_tells(self):
        """In the log of each service that ever starts."""
        for name in ('nova-conductor', 'nova-scheduler', 'compute-cmp1'):
            log = (layout.LOG / f'{name}.log').read_text()
            told = STARTED.findall(log)
            self.assertEqual(layout.COHORT.versions()['nova'], told[-1], name)

    def test_watcher_tells(self):
        """By the newest microversion of its API."""
        port = self.lab.ports['watcher_api']
        told = requests.get(f'http://127.0.0.1:{port}/', timeout=60).json()
        [newest] = {one['max_version'] for one in told['versions']}
        self.assertEqual(layout.COHORT.watcher_api, newest)
