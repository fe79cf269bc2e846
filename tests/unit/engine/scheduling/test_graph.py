# SPDX-License-Identifier: Apache-2.0
"""Does a plan stay legal when its moves run side by side?"""

import random
from collections import Counter

from oslotest import base

from kronos.engine import types
from kronos.engine.scheduling import graph


def step(instance, source, destination, scope='alpha', memory_mb=1024):
    return types.MigrationStep(
        scope=scope,
        phase=types.MigrationPhase.SPREAD,
        instance=instance,
        instance_name=instance,
        source=source,
        destination=destination,
        memory_mb=memory_mb,
        imbalance_before={},
        imbalance_after={},
        combined_before=0.0,
        combined_after=0.0,
    )


def snapshot(instances, free, groups=(), scope='alpha'):
    """A scope's snapshot.

    :param instances: uuid to (host, memory in MiB)
    :param free: host to free MiB; None if Placement's view is unknown
    """
    return types.Snapshot(
        scope=scope,
        hosts={
            name: types.Host(
                name=name,
                headroom=None
                if room is None
                else {'MEMORY_MB': types.Headroom(room + 5000, 5000)},
            )
            for name, room in free.items()
        },
        instances={
            uuid: types.Instance(uuid=uuid, host=host, memory_mb=memory_mb)
            for uuid, (host, memory_mb) in instances.items()
        },
        readings={},
        groups=list(groups),
    )


def roomy(steps):
    hosts = {s.source for s in steps} | {s.destination for s in steps}
    where = {s.instance: (s.source, s.memory_mb) for s in reversed(steps)}
    return snapshot(where, dict.fromkeys(hosts, 10**6))


class ParentsTestCase(base.BaseTestCase):
    """Only what a rule wants has any."""

    def parents(self, steps, shot=None, limit=9):
        return graph.schedule(steps, [shot or roomy(steps)], limit).parents

    def test_the_limits_need_none(self):
        """Out of a host, into one, and in the scope."""
        out = [step('a', 'h1', 'h2'), step('b', 'h1', 'h3')]
        self.assertEqual([[], []], self.parents(out))
        into = [step(name, f'from-{name}', 'h') for name in 'abcd']
        self.assertEqual([[]] * 4, self.parents(into))
        self.assertEqual([[]] * 4, self.parents(into, limit=1))

    def test_max_concurrent_zero_is_refused(self):
        self.assertRaises(ValueError, graph.schedule, [], [], 0)

    def test_moves_of_one_instance_keep_order(self):
        steps = [step('a', 'h1', 'h2'), step('a', 'h2', 'h3')]
        self.assertEqual([[], [0]], self.parents(steps))

    def test_the_halves_of_a_swap_keep_order(self):
        steps = [step('a', 'h1', 'h2'), step('b', 'h2', 'h1')]
        self.assertEqual([[], []], self.parents(steps))
        steps[1].requires = 'a'
        self.assertEqual([[], [0]], self.parents(steps))

    def test_moves_of_one_group_keep_order(self):
        steps = [
            step('a', 'h1', 'h2'),
            step('x', 'h5', 'h6'),
            step('b', 'h3', 'h4'),
        ]
        shot = roomy(steps)
        shot.groups = [types.ServerGroup('g', 'anti-affinity', ['a', 'b'])]
        self.assertEqual([[], [], [0]], self.parents(steps, shot))

    def test_a_tight_host_waits_for_the_room_that_a_move_frees(self):
        steps = [step('a', 'h1', 'h2'), step('b', 'h3', 'h1')]
        where = {'a': ('h1', 1024), 'b': ('h3', 1024)}
        shot = snapshot(where, {'h1': 512, 'h2': 4096, 'h3': 0})
        self.assertEqual([[], [0]], self.parents(steps, shot))

    def test_unknown_room_is_tight(self):
        steps = [step('a', 'h1', 'h2'), step('b', 'h3', 'h2')]
        where = {'a': ('h1', 1024), 'b': ('h3', 1024)}
        shot = snapshot(where, {'h1': 512, 'h2': None, 'h3': 0})
        self.assertEqual([[], [0]], self.parents(steps, shot))

    def test_implied_parents_are_left_out(self):
        steps = [step('a', *ends) for ends in ('xy', 'yz', 'zx')]
        steps += [step('b', 'x', 'y')]
        shot = roomy(steps)
        shot.groups = [types.ServerGroup('g', 'anti-affinity', ['a', 'b'])]
        self.assertEqual([[], [0], [1], [2]], self.parents(steps, shot))


class SecondsTestCase(base.BaseTestCase):
    def test_of_the_whole_plan(self):
        """Two out of one host, and one beside them."""
        steps = [step('a', 'h1', 'h2'), step('b', 'h1', 'h3')]
        steps += [step('c', 'h4', 'h5')]
        for one, seconds in zip(steps, (20.0, 30.0, 45.0), strict=True):
            one.seconds = seconds
        found = graph.schedule(steps, [roomy(steps)], 2)
        self.assertEqual(50.0, found.seconds(steps, 2))
        self.assertEqual(95.0, found.seconds(steps, 1))
        self.assertEqual(0.0, graph.schedule([], [], 2).seconds([], 2))


class OrderTestCase(base.BaseTestCase):
    """Who gets a turn first."""

    def order(self, steps, shot=None, limit=2):
        return graph.schedule(steps, [shot or roomy(steps)], limit).order

    def test_nothing(self):
        self.assertEqual([], self.order([]))

    def test_what_waits_for_its_host_comes_later(self):
        steps = [step('a', 'h1', 'h2'), step('b', 'h1', 'h3')]
        steps += [step('c', 'h4', 'h5')]
        self.assertEqual([0, 2, 1], self.order(steps))

    def test_max_concurrent_is_per_scope(self):
        steps = [step(n, f's{n}', f'd{n}', scope='alpha') for n in 'ab']
        steps += [step(n, f's{n}', f'd{n}', scope='beta') for n in 'cd']
        self.assertEqual([0, 2, 1, 3], self.order(steps, limit=1))

    def test_the_host_with_most_to_give_is_served_first(self):
        """Else its moves would be left over, one after another."""
        steps = [step('a', 'h1', 'h5'), step('b', 'h2', 'h6')]
        steps += [step(name, 'h3', 'h7') for name in 'cde']
        self.assertEqual([2, 0, 3, 1, 4], self.order(steps))

    def test_so_is_the_longest_of_equal_ones(self):
        steps = [
            step('a', 'h1', 'h2'),
            step('big', 'h3', 'h4', memory_mb=9000),
            step('b', 'h5', 'h6'),
        ]
        self.assertEqual([1, 0, 2], self.order(steps))

    def test_so_is_what_a_long_chain_waits_for(self):
        steps = [step(n, f's-{n}', f'd-{n}', memory_mb=9000) for n in 'ab']
        steps += [step(n, f's-{n}', f'd-{n}') for n in 'cdefgh']
        shot = roomy(steps)
        shot.groups = [types.ServerGroup('g', 'anti-affinity', list('cdefgh'))]
        self.assertEqual(2, self.order(steps, shot)[0])


class _Cloud:
    """Run a graph as Watcher's applier does, and watch the rules.

    A worker takes an action whose parents have ended, and keeps it; of those
    that have a worker the first one begins that the limits let begin.

    An action that finds its move impossible ends at once, as an action of
    Kronos does: nobody stops the actions after it.
    """

    def __init__(self, test, steps, shot, parents, limit, order):
        self.test = test
        self.steps = steps
        self.parents = parents
        self.limit = limit
        self.shot = shot
        self.groups = shot.groups
        self.free = {
            name: host.headroom['MEMORY_MB'].capacity
            - host.headroom['MEMORY_MB'].used
            for name, host in shot.hosts.items()
        }
        self.host = {i.uuid: i.host for i in shot.instances.values()}
        self.waiting = list(order)
        self.held = []
        self.done = []
        self.running = {}
        self.failed = set()
        """Steps that moved nothing, for whatever reason."""
        self.refused = 0

    def run(self, durations, workers=1000, failing=()):
        """Run all of it.

        :param failing: steps at whose end the instance is still where it was
        """
        now = 0.0
        while len(self.done) < len(self.steps):
            while (index := self.next(workers)) is not None:
                self.begin(index, now + durations[index])
                self.check()
            if len(self.done) < len(self.steps):
                self.test.assertTrue(self.running, 'deadlock')
                index = min(self.running, key=self.running.get)
                now = self.running.pop(index)
                self.end(index, index in failing)

    def next(self, workers):
        """A step whose turn it is, if any is."""
        for index in list(self.waiting):
            if len(self.running) + len(self.held) == workers:
                break
            if set(self.parents[index]) <= set(self.done):
                self.waiting.remove(index)
                self.held.append(index)
        for index in self.held:
            if self.may(self.steps[index]):
                self.held.remove(index)
                return index
        return None

    def may(self, step):
        """Whether the turns let it begin, as those of the action do."""
        running = [self.steps[index] for index in self.running]
        return (
            all(one.source != step.source for one in running)
            and sum(o.destination == step.destination for o in running) < 2
            and sum(one.scope == step.scope for one in running) < self.limit
        )

    def begin(self, index, until):
        one = self.steps[index]
        if one.source != self.host[one.instance]:
            self.test.assertIn(one.instance, self.stuck(index, 'instance'))
            self.give_up(index)
        elif self.free[one.destination] < one.memory_mb:
            # What should have made room has failed, or it would be there.
            self.test.assertIn(one.destination, self.stuck(index, 'source'))
            self.refused += 1
            self.give_up(index)
        else:
            # Nova claims the room at the start and frees it at the end.
            self.free[one.destination] -= one.memory_mb
            self.running[index] = until

    def stuck(self, index, what):
        """What is known of the earlier steps that moved nothing."""
        return {
            getattr(self.steps[one], what)
            for one in self.failed
            if one < index
        }

    def give_up(self, index):
        self.failed.add(index)
        self.done.append(index)

    def end(self, index, fails):
        one = self.steps[index]
        if fails:
            self.free[one.destination] += one.memory_mb
            self.give_up(index)
            return
        self.free[one.source] += one.memory_mb
        self.host[one.instance] = one.destination
        self.done.append(index)

    def check(self):
        running = [self.steps[index] for index in self.running]
        out = Counter(one.source for one in running)
        into = Counter(one.destination for one in running)
        scope = Counter(one.scope for one in running)
        self.test.assertLessEqual(max(out.values(), default=0), 1)
        self.test.assertLessEqual(max(into.values(), default=0), 2)
        self.test.assertLessEqual(max(scope.values(), default=0), self.limit)
        moving = [one.instance for one in running]
        for group in self.groups:
            members = [uuid for uuid in moving if uuid in group.members]
            self.test.assertLessEqual(len(members), 1)

    def check_order(self):
        """What must keep the plan's order has begun in it."""
        for group in self.groups:
            self.in_order(lambda one, g=group: one.instance in g.members)
        for uuid in self.host:
            self.in_order(
                lambda one, u=uuid: u in (one.instance, one.requires)
            )

    def in_order(self, wanted):
        found = [n for n in self.done if wanted(self.steps[n])]
        self.test.assertEqual(sorted(found), found)


def random_plan(rng):
    """A plan that is legal in its order, in a cluster with little room."""
    hosts = [f'h{n}' for n in range(rng.randint(2, 7))]
    where = {
        f'i{n}': (rng.choice(hosts), rng.choice([1, 2, 4, 8]) * 512)
        for n in range(rng.randint(2, 25))
    }
    free = {name: rng.randint(0, 6) * 1024 for name in hosts}
    members = rng.sample(sorted(where), min(len(where), 4))
    shot = snapshot(where, free, [types.ServerGroup('g', 'x', members)])
    host = {uuid: at for uuid, (at, _) in where.items()}
    room = dict(free)
    steps = []
    for _ in range(rng.randint(1, 40)):
        uuid = rng.choice(sorted(where))
        destination = rng.choice(hosts)
        memory_mb = where[uuid][1]
        if destination == host[uuid] or room[destination] < memory_mb:
            continue
        steps.append(step(uuid, host[uuid], destination, memory_mb=memory_mb))
        room[host[uuid]] += memory_mb
        room[destination] -= memory_mb
        host[uuid] = destination
    return steps, shot


class LegalWhateverItTakesTestCase(base.BaseTestCase):
    """500 plans, each with durations that nobody foresaw."""

    def plans(self):
        for seed in range(500):
            rng = random.Random(seed)
            steps, shot = random_plan(rng)
            exchanged = {one.instance: n for n, one in enumerate(steps)}
            for n, one in enumerate(steps):
                other = rng.choice(steps).instance
                if rng.random() < 0.2 and exchanged[other] < n:
                    one.requires = other
                one.scope = rng.choice(['alpha', 'alpha', 'beta'])
            limit = rng.randint(1, 4)
            found = graph.schedule(steps, [shot], limit)
            order = found.order
            if seed % 2:
                # Turns may come in any order: nobody is waited for for long.
                order = rng.sample(order, len(order))
            yield rng, _Cloud(self, steps, shot, found.parents, limit, order)

    def test_the_order_has_parents_first(self):
        for _, cloud in self.plans():
            found = graph.schedule(cloud.steps, [cloud.shot], cloud.limit)
            place = {step: n for n, step in enumerate(found.order)}
            self.assertEqual(sorted(place), list(range(len(cloud.steps))))
            for step, parents in enumerate(found.parents):
                self.assertTrue(all(place[n] < place[step] for n in parents))

    def test_every_rule_holds_at_every_moment(self):
        seen = Counter()
        for rng, cloud in self.plans():
            durations = [rng.uniform(0.1, 10) for _ in cloud.steps]
            cloud.run(durations)
            cloud.check_order()
            self.assertEqual(set(), cloud.failed)
            seen['steps'] += len(cloud.steps)
            seen['parallel'] += sum(not one for one in cloud.parents) > 1
            seen['exchanged'] += any(one.requires for one in cloud.steps)
        # The cases must not be trivial.
        self.assertGreater(seen['steps'], 2000)
        self.assertGreater(seen['parallel'], 100)
        self.assertGreater(seen['exchanged'], 100)

    def test_whatever_fails_and_however_many_workers(self):
        """Of the moves that are still possible all are made."""
        seen = Counter()
        for rng, cloud in self.plans():
            durations = [rng.lognormvariate(2, 1) for _ in cloud.steps]
            failing = {
                n for n in range(len(cloud.steps)) if rng.random() < 0.3
            }
            cloud.run(durations, rng.choice([1, 2, 32]), failing)
            cloud.check_order()
            seen['refused'] += cloud.refused
            seen['failed'] += len(cloud.failed)
            seen['moved'] += len(cloud.steps) - len(cloud.failed)
        self.assertGreater(min(seen.values()), 100, seen)
