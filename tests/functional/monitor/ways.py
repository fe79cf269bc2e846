# SPDX-License-Identifier: Apache-2.0
"""In which ways may a live migration end? Each has a guest of its own."""

from tests.functional.monitor.migrations import Move, Way
from tests.unit.monitor.hypervisor import until


def arrives(move: Move) -> None:
    move.begin()
    move.hasten()


def arrives_and_is_killed(move: Move) -> None:
    arrives(move)
    move.end()
    move.kill(move.target)


def arrives_paused_and_is_killed(move: Move) -> None:
    move.source.libvirt.virsh(f'suspend {move.name}')
    arrives_and_is_killed(move)


def forced_by_a_pause(move: Move) -> None:
    """As Nova forces one where post-copy is not permitted."""
    move.begin()
    move.order('suspend {0}')
    move.hasten()


def killed_in_a_forced_pause(move: Move) -> None:
    move.begin()
    move.order('suspend {0}')
    move.kill(move.source)


def aborted(move: Move) -> None:
    move.begin()
    move.order('domjobabort {0}')


def aborted_and_moved_again(move: Move) -> None:
    aborted(move)
    move.end()
    move.begin()
    move.hasten()
    move.pause(0.2)
    move.order('domjobabort {0}')


def times_out(move: Move) -> None:
    """By virsh, which pauses it then and lets it arrive."""
    move.begin('--timeout', '1', '--timeout-suspend')
    move.pause(2.0)
    move.order('domjobabort {0}')


def killed_at_the_target(move: Move) -> None:
    move.begin()
    move.kill(move.target)


def killed_at_the_source(move: Move) -> None:
    move.begin()
    move.kill(move.source)


def killed_at_the_source_as_it_leaves(move: Move) -> None:
    """A race: it is lost, or it has just arrived."""
    move.begin()
    move.hasten()
    move.until(move.source, 'SUSPENDED_MIGRATED')
    move.pause(0.03)
    move.kill(move.source)


def killed_at_the_target_as_it_comes(move: Move) -> None:
    move.begin()
    move.hasten()
    move.pause(0.3)
    move.kill(move.target)


def arrives_in_post_copy(move: Move) -> None:
    move.hand_over()


def post_copy_is_cut(move: Move) -> None:
    move.hand_over()
    move.order('domjobabort {0} --postcopy')


def post_copy_is_resumed(move: Move) -> None:
    """It was lost for a while, and that was told, unless it arrived before."""
    post_copy_is_cut(move)
    move.end()
    if not move.target.saw(move.name, 'RESUMED_POSTCOPY_FAILED'):
        return
    until(lambda: move.test.told()[move.name], f'{move.name} to be told')
    move.begin('--postcopy', '--postcopy-resume')


def killed_in_post_copy_at_the_target(move: Move) -> None:
    move.hand_over()
    move.pause(0.3)
    move.kill(move.target)


def killed_in_post_copy_at_the_source(move: Move) -> None:
    move.hand_over()
    move.pause(0.3)
    move.kill(move.source)


def killed_after_post_copy_was_cut(move: Move) -> None:
    """The operator clears up at the source."""
    post_copy_is_cut(move)
    move.end()
    move.kill(move.source)


def killed_at_the_source_as_it_arrives(move: Move) -> None:
    """The target has all of it, and has not said so yet."""
    move.begin()
    with move.target.libvirt.hanging():
        move.hasten()
        move.until(move.source, 'SUSPENDED_MIGRATED')
        move.pause()
        move.kill(move.source)
        move.until(move.source, 'STOPPED_FAILED')


def killed_at_the_target_before_it_resumes(move: Move) -> None:
    move.begin()
    with move.target.libvirt.hanging():
        move.hasten()
        move.until(move.source, 'SUSPENDED_MIGRATED')
        move.kill(move.target)


def libvirt_restarts_at_the_target(move: Move) -> None:
    move.begin()
    move.target.restart(move.chance.uniform(0.0, 0.5))


def libvirt_restarts_at_the_source(move: Move) -> None:
    move.begin()
    move.source.restart(move.chance.uniform(0.0, 0.5))


def libvirt_restarts_at_both(move: Move) -> None:
    move.begin()
    move.source.libvirt.stop()
    move.target.restart(0.0)
    move.source.libvirt.start()


def libvirt_restarts_in_post_copy(move: Move) -> None:
    move.hand_over()
    move.chance.choice(move.test.ends).restart(0.0)


def killed_while_libvirt_is_away(move: Move) -> None:
    """QEMU at either end, with the libvirt of the target."""
    move.begin()
    move.target.libvirt.stop()
    move.kill(move.chance.choice(move.test.ends))
    move.target.libvirt.start()


def aborted_while_the_agent_is_away(move: Move) -> None:
    move.begin()
    assert move.target.agent is not None
    move.target.agent.end()
    move.order('domjobabort {0}')
    move.end()
    move.test.watch(move.target)


def killed_while_the_agent_is_away(move: Move) -> None:
    """It had arrived meanwhile."""
    move.begin()
    assert move.target.agent is not None
    move.target.agent.end()
    move.hasten()
    move.end()
    move.kill(move.target)
    move.test.watch(move.target)


def aborted_after_the_agent_was_started_anew(move: Move) -> None:
    move.begin()
    assert move.target.agent is not None
    move.target.agent.end()
    move.test.watch(move.target)
    move.order('domjobabort {0}')


TOGETHER: dict[str, Way] = {
    one.__name__.replace('_', '-'): one
    for one in (
        arrives,
        arrives_and_is_killed,
        arrives_paused_and_is_killed,
        forced_by_a_pause,
        killed_in_a_forced_pause,
        aborted,
        aborted_and_moved_again,
        times_out,
        killed_at_the_target,
        killed_at_the_source,
        killed_at_the_source_as_it_leaves,
        killed_at_the_target_as_it_comes,
        arrives_in_post_copy,
        post_copy_is_cut,
        killed_in_post_copy_at_the_target,
        killed_in_post_copy_at_the_source,
        killed_after_post_copy_was_cut,
    )
}
"""Ways of guests side by side."""
APART: dict[str, Way] = {
    one.__name__.replace('_', '-'): one
    for one in (
        killed_at_the_source_as_it_arrives,
        killed_at_the_target_before_it_resumes,
        libvirt_restarts_at_the_target,
        libvirt_restarts_at_the_source,
        libvirt_restarts_at_both,
        libvirt_restarts_in_post_copy,
        killed_while_libvirt_is_away,
        aborted_while_the_agent_is_away,
        killed_while_the_agent_is_away,
        aborted_after_the_agent_was_started_anew,
    )
}
"""Ways that concern all guests of a host."""
