"""Targets of the locator in the simulated building. Data."""

from collections.abc import Iterator

from accuracy.figures import Wanted


def _wanted() -> Iterator[Wanted]:
    for mode, device in (("phone", "beacon"), ("gateway", "gateway")):
        for out, right in (("", None), (f", one {device} out", 90.0)):
            still, patrol = f"{mode}, still{out}", f"{mode}, patrol{out}"
            yield Wanted(f"{still}, history right %", right or 99.0)
            yield Wanted(f"{still}, flips an hour", 0.1)
            yield Wanted(f"{patrol}, history right %", right or 95.0)
            for way in ("history", "live"):
                yield Wanted(f"{patrol}, {way} delay s, median", 2.0)
                yield Wanted(f"{patrol}, {way} delay s, p95", 6.0)
            for manner in (still, patrol):
                yield Wanted(f"{manner}, wrong level %", 0.2)
                yield Wanted(f"{manner}, lost after s, first", 55.0)
                yield Wanted(f"{manner}, lost after s, last", 65.0)
        yield Wanted(f"{mode}, still, where the {device} is out, history right %", 90.0)


WANTED = tuple(_wanted())
