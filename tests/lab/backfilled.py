# SPDX-License-Identifier: Apache-2.0
"""A Prometheus of a test: with a past that is written before it starts."""

import contextlib
import pathlib
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import requests
import yaml

TRIES = 300


@contextlib.contextmanager
def serve(text: str = '', target: str = '') -> Iterator[str]:
    """Run it on loopback.

    :param text: all samples, as OpenMetrics has them
    :param target: ADDRESS:PORT of what it scrapes each second; '': nothing
    :returns: its address
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / 'data'
        if text:
            _fill(data, text)
        config = folder / 'prometheus.yml'
        config.write_text(yaml.safe_dump({'scrape_configs': _jobs(target)}))
        port = free_port()
        with subprocess.Popen(
            [
                'prometheus',
                f'--config.file={config}',
                f'--storage.tsdb.path={data}',
                '--storage.tsdb.retention.time=100y',
                f'--web.listen-address=127.0.0.1:{port}',
            ],
            stderr=subprocess.DEVNULL,
        ) as child:
            try:
                yield _ready(f'http://127.0.0.1:{port}')
            finally:
                child.terminate()


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port: int = free.getsockname()[1]
    return port


def _fill(data: pathlib.Path, text: str) -> None:
    file = data.with_name('past.txt')
    file.write_text(text)
    command = ['promtool', 'tsdb', 'create-blocks-from', 'openmetrics']
    subprocess.run(
        [*command, str(file), str(data)],
        check=True,
        timeout=120,
        capture_output=True,
    )


def _jobs(target: str) -> list[dict[str, Any]]:
    if not target:
        return []
    return [
        {
            'job_name': 'kronos',
            'scrape_interval': '1s',
            'static_configs': [{'targets': [target]}],
        }
    ]


def _ready(url: str) -> str:
    for _ in range(TRIES):
        try:
            if requests.get(f'{url}/-/ready', timeout=5).ok:
                return url
        except requests.ConnectionError:
            pass
        time.sleep(0.2)
    raise AssertionError('Prometheus does not come up')
