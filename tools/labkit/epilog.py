# SPDX-License-Identifier: Apache-2.0
"""The examples at the end of the help of ``tools/lab``."""

TEXT = """\
A first time:
  ./tools/lab demo                    see Kronos even out a cloud
or
  ./tools/lab up
  eval "$(./tools/lab env)"           openstack now talks to the lab
  openstack hypervisor list
  ./tools/lab down

While it runs these files, all optional, are read anew all the time:
  .lab/run/demand.json      {"web-1": {"cpu": 1.5, "memory_mb": 2048}}
  .lab/run/trace.json       {"start": 1767225600, "step": 10, "cores":
                            {"web-1": [0.5, 1.5, 1.0]}}
                            what they use from when on, in Unix seconds
  .lab/run/migrations.json  {"source:cmp1": {"seconds": 30}, "web-2":
                            {"end": "failed"}}
                            {"default": {"seconds": 9, "stall_at": 0.5}}
                            {"web-3": {"queued_seconds": null}}
                            all keys: tools/labkit/faults.py
  .lab/run/nova-api.json    {"rules": [{"body": "os-migrateLive",
                            "answer": 503, "count": 2}]}
                            what Watcher gets from Nova's API, but not the
                            client; more: tools/labkit/novaproxy.py
  .lab/run/exporter.json    {"down": ["cmp3"]}

Real hosts, for which root and some packages are needed:
  ./tools/lab up --real 2             ra and rb, in the aggregate "real"
  openstack server create --image real-guest --flavor real.128 --nic none \\
    --host ra NAME
  ./tools/lab guest NAME "cpu 40"     use 40 % of a processor
  ./tools/lab guest NAME "dirty 30"   write 30 MiB of memory, for ever
  ./tools/lab guest NAME "disk 20"    write 20 MiB to its disk, once
  ./tools/lab guest NAME quit         power off; "crash": as its kernel would
  ./tools/lab speed NAME 4            migrate with at most 4 MiB/s from here
  ./tools/lab kill ra --libvirtd      or --compute, or --qemu NAME
  ./tools/lab pause rb --qemu NAME    and resume: what migrates to rb stalls

Two cells, of which one is to be emptied (data of another number is not used:
wipe it before):
  ./tools/lab up --cells 2            old1 and old2 in cell2, all else in cell1
  ./tools/lab demo --cells            see Kronos empty cell2
  ./tools/lab policy closed           nobody may take a server to another cell
  .lab/run/migrations.json  {"source:old1": {"fail": "snapshot"},
                            "destination:cmp1": {"spawn_seconds": 20}}

Three databases behind HAProxy, three brokers, and two of Nova's and Watcher's
services (data of one of each is not used: wipe it before):
  ./tools/lab up --ha                 db1 to db3 and mq1 to mq3
  ./tools/lab status                  which database is in use
  ./tools/lab kill db2                and start; stop and pause do the same
  ./tools/lab isolate mq3             cut off from the others; and resume
  ./tools/lab desync db1              lags behind the others; and resume
  ./tools/lab fill db3                its disk is full; and start and resume
  ./tools/lab skew watcher-applier-2 90
                                      its clock is ahead; and restart

A cloud of other releases, in a lab of its own, which has the cohort's name:
  ./tools/lab demo --cohort 2025.2    see Kronos even out a cloud of then
  ./tools/lab down --cohort 2025.2    each command takes it

A host that is empty boots another kernel, and shows Nova another hypervisor:
  ./tools/lab reboot cmp1 --release 6.1.0-2 --hypervisor-version 1001

"stop --kill" is a crash; what is paused accepts connections and says nothing
until it is resumed; watcher-applier-2 and watcher-decision-engine-2 are
started by name only.

Horizon with watcher-dashboard, while the lab runs; "down" stops it:
  ./tools/lab horizon                 prints where it is

With KRONOS_LAB=NAME in the environment all of this is about a second lab, in
.lab/lab-NAME.
"""
