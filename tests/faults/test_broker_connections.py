"""Too many idle connections never block services, and block receivers only while they last."""

import re
import socket
from contextlib import ExitStack
from pathlib import Path

import psutil
from ingest.private_broker import private_broker
from support.running import RunningStack
from support.stack_client import eventually

OPEN_FILES, IDLE = 256, 300  # like 1,024 and 1,100, but faster
REFUSED = re.compile("Client connection .* denied|socket count has been exceeded")


def test_services_connect_while_the_receivers_port_is_full(tmp_path: Path) -> None:
    with private_broker(tmp_path / "broker", open_files=OPEN_FILES) as broker:
        password = broker.accounts("add", "gateway", "pi-1")
        with ExitStack() as idle:
            for _ in range(IDLE):
                idle.enter_context(socket.create_connection(("127.0.0.1", broker.tls_port)))
            eventually(lambda: REFUSED.search(broker.log()), what="the first that is refused")
            for service in ("telegraf-readings", "nodered"):
                with broker.session(service) as session:
                    assert session.answer == "Success"
        with broker.session("pi-1", password, tls=True) as receiver:
            assert receiver.answer == "Success"


def test_all_listeners_together_stay_below_the_open_files_of_the_broker(stack: RunningStack) -> None:
    limit, _ = psutil.Process(stack.pid("mosquitto")).rlimit(psutil.RLIMIT_NOFILE)
    listeners = (stack.data_dir / "broker" / "listeners.d" / "listeners.conf").read_text()
    bounds = [int(bound) for bound in re.findall(r"^max_connections (\d+)$", listeners, re.MULTILINE)]
    assert len(bounds) == len(re.findall(r"^listener ", listeners, re.MULTILINE)) == 3
    assert sum(bounds) < limit
    services, receivers, readers = bounds
    assert min(services, receivers) >= 0.4 * limit - readers


def test_the_spool_reads_over_its_own_listener(stack: RunningStack) -> None:
    """Over the plain one its acknowledgements would starve where a thousand receivers publish at once."""
    ports = {one.raddr.port for one in psutil.Process(stack.pid("spool")).net_connections("tcp") if one.raddr}
    assert stack.settings.port("MQTT_READERS_PORT") in ports
    assert stack.ports.mqtt not in ports
