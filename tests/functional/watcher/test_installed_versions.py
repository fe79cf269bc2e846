# SPDX-License-Identifier: Apache-2.0
"""Are these the releases that the cohort says? And by default?"""

import os
import re
import sys
from importlib import metadata

import requests
import watcher
from oslotest import base as oslotest_base
from watcher import version

from tests import places
from tests.functional.watcher import base

sys.path.insert(0, str(places.TOP / 'tools'))

from labkit import cohorts  # noqa: E402

COHORT = cohorts.COHORTS.get(
    os.environ.get('KRONOS_COHORT', ''), cohorts.REFERENCE
)


class TestInstalled(oslotest_base.BaseTestCase):
    def test_all_is_of_the_cohort(self):
        wanted = COHORT.versions()
        have = {
            re.sub('[-_.]+', '-', one.metadata['Name']).lower(): one.version
            for one in metadata.distributions()
        }
        both = set(wanted) & set(have)
        self.assertLess({'nova', 'numpy', 'python-watcher'}, both)
        self.assertEqual(
            {name: wanted[name] for name in both},
            {name: have[name] for name in both},
        )


class TestRunning(base.KronosTestCase):
    def test_watcher(self):
        """It is the one of this environment that answers."""
        self.assertTrue(watcher.__file__.startswith(sys.prefix))
        release = version.version_info.release_string()
        self.assertEqual(str(COHORT.watcher), release.partition('.')[0])
        root = self.admin_api.base_url.removesuffix('/v1')
        told = requests.get(f'{root}/', timeout=60).json()
        [newest] = {one['max_version'] for one in told['versions']}
        self.assertEqual(COHORT.watcher_api, newest)
