"""Ingest and flows take the same of almost valid messages. The long form is `make fuzz`: a million of them."""

from fuzz.run import run

MUTATIONS, SEED = 12_000, 28


def test_ingest_and_flows_take_the_same() -> None:
    found = run(MUTATIONS, SEED)
    assert not found.different, "\n".join(found.examples)
    assert MUTATIONS / 20 < found.taken < MUTATIONS / 2, "enough that is taken, and enough that is not"
