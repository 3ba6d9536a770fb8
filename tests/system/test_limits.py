"""Rate limits: each key has its own rate, without effect on others."""

import time
from concurrent.futures import ThreadPoolExecutor

from support import web
from support.keys import asking, named_key
from support.metrics import figures
from support.running import RunningStack

PATH = "/retrieveformonitoring"
WINDOW_S = 10


def test_only_a_key_above_its_rate_is_limited(stack: RunningStack) -> None:
    slow = named_key(stack, "slow", "presence", rate_per_s=2)
    quick = named_key(stack, "quick", "presence")
    before = figures(stack)["sda_http_limited_total"]
    with asking(stack, slow) as caller:
        answers = [caller.get(PATH) for _ in range(2 * WINDOW_S + 5)]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200] * 2 * WINDOW_S + [429] * 5
    refused = answers[-1]
    assert 1 <= int(refused.headers["retry-after"]) <= WINDOW_S
    assert refused.json() == {"error": "too many requests of slow"}
    with asking(stack, quick) as caller:
        assert caller.get(PATH).status_code == 200
    assert web.get(stack.http_url + PATH).status_code == 200
    assert figures(stack)["sda_http_limited_total"] == before + 5


def test_refused_extractbeacon_still_carries_a_list(stack: RunningStack) -> None:
    key = named_key(stack, "slowest", "history", rate_per_s=1)
    with asking(stack, key) as caller:
        answers = [caller.get("/extractbeacon?staff_id=0&start_time=1&end_time=2") for _ in range(WINDOW_S + 1)]
    assert answers[-1].status_code == 429
    assert answers[-1].json()["location"] == []


def test_a_trusted_address_is_limited_only_by_the_machine(stack: RunningStack) -> None:
    """HACS polls 10,000 people every ten seconds; here 2,000 polls at full speed. An overloaded machine answers 503,
    but never 429."""
    before = figures(stack)["sda_http_limited_total"]
    end_s = int(time.time())
    poll = f"/extractbeacon?staff_id=0&start_time={end_s - 10}&end_time={end_s}"

    def ask(count: int) -> set[int]:
        with web.Client(base_url=stack.http_url, retry_503=False) as caller:
            return {caller.get(poll).status_code for _ in range(count)}

    with ThreadPoolExecutor(4) as threads:
        answers = set().union(*threads.map(ask, [500] * 4))
    assert 200 in answers
    assert answers <= {200, 503}
    assert figures(stack)["sda_http_limited_total"] == before
