"""When the scanner is replaced and the adapter reset."""

from itertools import pairwise

from gateway_agent.scan_supervisor import Action, Watchdog
from hypothesis import given
from hypothesis import strategies as st


def silence(watchdog: Watchdog, seconds: int, start: int = 0) -> list[tuple[int, Action]]:
    """The actions during a silence, second by second."""
    done: list[tuple[int, Action]] = []
    for now in range(start, start + seconds):
        action = watchdog.due(now)
        if action is Action.RESTART:
            watchdog.restarted(now)
        elif action is Action.RESET:
            watchdog.reset(now)
        if action is not Action.NOTHING:
            done.append((now, action))
    return done


def test_a_new_scanner_after_30_s_and_a_reset_after_120_s() -> None:
    done = silence(Watchdog(30, 120, 0), 121)
    assert done == [(30, Action.RESTART), (60, Action.RESTART), (90, Action.RESTART), (120, Action.RESET)]


def test_resets_become_rare_but_restarts_continue() -> None:
    done = silence(Watchdog(30, 120, 0), 24 * 3600)
    resets = [at for at, action in done if action is Action.RESET]
    assert resets[:4] == [120, 360, 840, 1800]
    assert max(later - sooner for sooner, later in pairwise(resets)) <= 3600
    assert max(later[0] - sooner[0] for sooner, later in pairwise(done)) <= 30


@given(st.lists(st.integers(1, 29), min_size=1, max_size=50))
def test_nothing_is_due_while_adverts_arrive(pauses: list[int]) -> None:
    watchdog, now = Watchdog(30, 120, 0), 0
    for pause in pauses:
        assert silence(watchdog, pause, now) == []
        now += pause
        watchdog.advert_seen(now)


def test_an_advert_resets_the_pause_between_resets() -> None:
    watchdog = Watchdog(30, 120, 0)
    silence(watchdog, 2000)
    watchdog.advert_seen(2000)
    assert silence(watchdog, 130, 2000)[-1] == (2120, Action.RESET)
