"""The list of processes: `make up` and the system tests start exactly these, in this order."""

import functools
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from . import health
from .digest import digest
from .install import mosquitto_program, telegraf_program
from .layout import ROOT, VERSIONS, cache_dir, influxd_program, nats_program, node_folder
from .settings import Settings, reachable
from .stores import FIRST, Store

LOW_PRIORITY = ("nice", "-n", "19")
"""Command prefix of the store. On a busy machine the live services and what empties the broker go first."""
REDUCED_PRIORITY = ("nice", "-n", "10")
"""Command prefix of what prepares readings for the store. What it has not taken yet is on the spool's disk."""

CALLOUTS = (1, 2)
"""Two, since nobody can connect to NATS without one."""
ERASING_WITHIN_S = 900.0
"""Time to erase one person from a week of readings on a large site."""


@dataclass(frozen=True, slots=True)
class Process:
    """A service as supervisord runs it."""

    name: str
    version: str
    command: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str]
    healthy: Callable[[], health.Health]
    ports: tuple[str, ...] = ()
    """Keys of `.env` whose ports it listens on."""
    stop_within_s: int = 20
    stop_signal: str = "TERM"
    configuration: str = field(default="")
    """Digest of the files that it reads at its start: if they change, `make up` restarts it."""


def processes(settings: Settings) -> list[Process]:
    """All processes of an installation, in the order of their start."""
    ingest = [make(settings, store) for make in (_influxd, _spool, _telegraf) for store in settings.stores]
    services = [*_broker(settings), *ingest, *_erasures(settings), _node_red(settings), *_renewals(settings)]
    return [*services, _simulator(settings)] if settings.demo else services


def first_processes(settings: Settings) -> list[Process]:
    """The processes of the broker and of the databases. Databases issue tokens to the processes after them."""
    return [*_broker(settings), *(_influxd(settings, store) for store in settings.stores)]


def _broker(settings: Settings) -> list[Process]:
    if settings.on_cluster:
        return []
    return [_nats(settings), *_callouts(settings)] if settings.on_nats else [_mosquitto(settings)]


def admits(settings: Settings) -> Callable[[], health.Health]:
    """Whether the broker admits an account."""
    account = ("nodered-probe", settings["MQTT_NODERED_PASSWORD"], "nodered")
    return functools.partial(health.broker, settings.mqtt_host, settings.port("MQTT_PORT"), *account)


def _nats(settings: Settings) -> Process:
    return nats_node(
        settings.data_dir / "broker", "nats", "nats", settings.port("NATS_PORT"), "NATS_PORT", "MQTTS_PORT"
    )


def nats_node(data: Path, name: str, configuration: str, port: int, *port_keys: str) -> Process:
    """A nats-server.

    Args:
        data: the broker's data folder.
        name: of the process.
        configuration: name of its file in the folder `nats`.
        port: of NATS' own protocol.
        port_keys: keys of `.env` whose ports it listens on.
    """
    file = data / "nats" / f"{configuration}.conf"
    return Process(
        name=name,
        version=VERSIONS["NATS_VERSION"],
        command=(str(nats_program()), "--config", str(file)),
        directory=data,  # every path in its configuration is relative to it
        environment={},
        healthy=functools.partial(health.listens, "127.0.0.1", port),
        ports=port_keys,
        stop_within_s=30,
        configuration=digest([file]),
    )


def _callouts(settings: Settings) -> list[Process]:
    data, port = settings.data_dir / "broker", settings.port("NATS_PORT")
    return [callout(data, number, port, settings.port("MQTTS_PORT"), admits(settings)) for number in CALLOUTS]


def callout(
    data: Path, number: int, port: int, mqtt_port: int, admission: Callable[[], health.Health], *more: str
) -> Process:
    """A process that admits clients to NATS.

    Args:
        data: the broker's data folder.
        number: which one it is.
        port: NATS' own port of the node that it works with.
        mqtt_port: where it publishes the broker's figures.
        admission: whether the broker admits an account.
        more: options.
    """
    broker, ready = ROOT / "broker", data / "nats" / f"callout-{number}.ready"
    sources = [*broker.glob("*.py"), *(broker / "callout").glob("*.py"), data / "nats" / "keys.json"]
    return Process(
        name=f"callout-{number}",
        version=VERSIONS["NATS_VERSION"],
        command=(sys.executable, "-m", "callout", "--data", str(data), "--port", str(port),
                 "--mqtt-port", str(mqtt_port), "--ready", str(ready), *more),
        directory=data,
        environment={"PYTHONPATH": str(broker)},
        healthy=functools.partial(health.callout, ready, admission),
        configuration=digest(sources),
    )  # fmt: skip


def _mosquitto(settings: Settings) -> Process:
    data = settings.data_dir / "broker"
    start, configuration = ROOT / "broker" / "run.sh", ROOT / "broker" / "mosquitto.conf"
    return Process(
        name="mosquitto",
        version=VERSIONS["MOSQUITTO_SERIES"],
        command=("sh", str(start), mosquitto_program(), "-c", str(configuration)),
        directory=data,  # every path in mosquitto.conf is relative to it
        environment={},
        healthy=admits(settings),
        ports=("MQTT_PORT", "MQTTS_PORT", "MQTT_READERS_PORT"),
        configuration=digest([start, configuration, data / "listeners.d" / "listeners.conf", data / "sessions.json"]),
    )


def _influxd(settings: Settings, store: Store) -> Process:
    data = settings.data_dir / store.name("influxdb")
    port = store.key("INFLUX_PORT")
    configuration = ROOT / "influx" / "influxd.toml"
    return Process(
        name=store.name("influxd"),
        version=VERSIONS["INFLUXDB_VERSION"],
        command=(
            *LOW_PRIORITY,
            str(influxd_program()),
        ),
        directory=data,
        environment={
            "INFLUXD_CONFIG_PATH": str(configuration),
            "INFLUXD_BOLT_PATH": str(data / "influxd.bolt"),
            "INFLUXD_SQLITE_PATH": str(data / "influxd.sqlite"),
            "INFLUXD_ENGINE_PATH": str(data / "engine"),
            "INFLUXD_HTTP_BIND_ADDRESS": f"127.0.0.1:{settings[port]}",
        },
        healthy=functools.partial(health.http, f"{settings.url_of('INFLUX_PORT', store)}/health"),
        ports=(port,),
        stop_within_s=60,
        stop_signal="INT",  # on SIGTERM it exits at once, in the middle of writes
        configuration=digest([configuration]),
    )


def _spool(settings: Settings, store: Store) -> Process:
    program, data = ROOT / "ingest" / "spool" / "serve.py", settings.data_dir / store.name("spool")
    port = store.key("SPOOL_PORT")
    return Process(
        name=store.name("spool"),
        version="disk",
        command=(sys.executable, str(program), "--data", str(data), "--port", settings[port]),
        directory=data,
        environment={
            "INFLUX_URL": settings.influx_url_from("spool", store),
            "INFLUX_WRITE_TOKEN": settings[store.key("INFLUX_WRITE_TOKEN")],
            "MQTT_URL": settings.mqtt_readers_url_from("spool"),
            "MQTT_TELEGRAF_PASSWORD": settings["MQTT_TELEGRAF_PASSWORD"],
            "TELEGRAF_NAME": store.name("telegraf"),
            "TELEGRAF_READINGS_URL": f"{settings.url_of('READINGS_PORT', store)}/readings",
        },
        healthy=functools.partial(health.http, f"{settings.url_of('SPOOL_PORT', store)}/status"),
        ports=(port,),
        configuration=digest(program.parent.glob("*.py")),
    )


def _telegraf(settings: Settings, store: Store) -> Process:
    ingest, registry = ROOT / "ingest", settings.data_dir / "ingest"
    health_url = settings.url_of("TELEGRAF_PORT", store)
    return Process(
        name=store.name("telegraf"),
        version=VERSIONS["TELEGRAF_VERSION"],
        command=(*REDUCED_PRIORITY, str(ingest / "start"), str(telegraf_program()),
                 "--config", str(ingest / "telegraf.conf"), "--config-directory", str(ingest / "telegraf.d"),
                 "--config", str(registry / "registry.conf"), "--watch-config", "notify"),
        directory=registry,
        environment={
            "MQTT_URL": settings.mqtt_url_from("telegraf"),
            "MQTT_TELEGRAF_PASSWORD": settings["MQTT_TELEGRAF_PASSWORD"],
            **({} if store == FIRST else {"TELEGRAF_NAME": store.name("telegraf")}),
            "SPOOL_URL": settings.url_of("SPOOL_PORT", store),
            "INFLUX_WRITE_TOKEN": settings[store.key("INFLUX_WRITE_TOKEN")],
            "SDA_INGEST_DIR": str(ingest),
            "SDA_REGISTRY_DIR": str(registry),
            "TELEGRAF_HEALTH_URL": health_url,
            "READINGS_ADDRESS": f"tcp://127.0.0.1:{settings[store.key('READINGS_PORT')]}",
            "GOMAXPROCS": "1",  # a fifth to a quarter less CPU a message, measured at 2,500 messages/s
        },
        healthy=functools.partial(health.telegraf, health_url, registry),
        ports=(store.key("TELEGRAF_PORT"), store.key("READINGS_PORT")),
        configuration=digest([ingest / "start", ingest / "readings.star", *ingest.rglob("*.conf")]),
    )  # fmt: skip


def _erasures(settings: Settings) -> list[Process]:
    """Erases people from an InfluxDB that was away at the time of the request. It runs only with two InfluxDBs."""
    if len(settings.stores) == 1:
        return []
    influx, data = ROOT / "influx", settings.data_dir / "erasures"
    environment = {
        f"STORE_{store.number}_{name}": value
        for store in settings.stores
        for name, value in (
            ("URL", settings.influx_url_from("erasures", store)),
            ("SPOOL_URL", settings.url_of("SPOOL_PORT", store)),
            ("TOKEN", settings[store.key("INFLUX_ERASE_TOKEN")]),
        )
    }
    return [
        Process(
            name="erasures",
            version="disk",
            command=(*LOW_PRIORITY, sys.executable, str(influx / "erase.py"), "serve", "--data", str(data)),
            directory=data,
            environment=environment,
            healthy=functools.partial(health.recent, data / "alive", ERASING_WITHIN_S),
            configuration=digest([influx / "erase.py", influx / "erasures.py", influx / "api.py"]),
        )
    ]


def _node_red(settings: Settings) -> Process:
    flows, user_dir = ROOT / "flows", settings.data_dir / "node-red"
    certificate, key = settings.https_certificate
    passed_on = ("HTTP_PORT", "HTTP_BIND", "MQTT_PORT", "MQTT_NODERED_PASSWORD", "INFLUX_READ_TOKEN", "SDA_API_KEY",
                 "SDA_ADMIN_USER", "SDA_ADMIN_PASSWORD", "SDA_VIEWER_USER", "SDA_VIEWER_PASSWORD", "SDA_TRUSTED_NETS",
                 "HTTPS_PORT", "HTTP_NAMES", "SDA_TRUSTED_PROXIES", "SDA_RATE_PER_S", "SDA_RATE_TRUSTED_PER_S",
        "SDA_EDITOR", "SDA_CORS_ORIGINS",
    )  # fmt: skip
    sources = [path for part in ("lib", "nodes", "building") for path in (flows / part).rglob("*") if path.is_file()]
    sources += [flows / "dashboard" / name for name in ("package.json", "plugin.cjs", "bootstrap.js")]
    return Process(
        name="node-red",
        version=VERSIONS["NODE_RED_VERSION"],
        command=(str(node_folder() / "node"), str(flows / "node_modules" / "node-red" / "red.js"),
                 "--settings", str(flows / "settings.js"), "--userDir", str(user_dir)),
        directory=user_dir,
        environment={key: settings[key] for key in passed_on} | {
            "HTTP_HOST": settings["HTTP_BIND"],
            "HTTPS_HOST": settings["HTTPS_BIND"],
            "HTTPS_CERT": str(certificate),
            "HTTPS_KEY": str(key),
            "BROKER": settings["BROKER"],
            "MQTT_URL": settings.mqtt_readers_url_from("node-red"),
            "MQTT_HOST": settings.mqtt_host,
            "MQTT_PORT": settings["MQTT_PORT"],
            "MQTTS_HOST": reachable(settings["MQTTS_BIND"]),
            "MQTTS_PORT": settings["MQTTS_PORT"],
            "INFLUX_URL": settings.influx_url_from("node-red"),
            "SPOOL_URL": settings.spool_url,
            **_second_store(settings),
            "SDA_BUILDING": str(settings.building),
            "SDA_REGISTRY_DIR": str(settings.data_dir / "ingest"),
            "SDA_USER_DIR": str(user_dir),
            "NODE_COMPILE_CACHE": str(cache_dir() / "node-compile-cache"),  # compiling takes a fifth of the start
        },
        healthy=functools.partial(health.node_red, f"{settings.http_url}/health"),
        ports=("HTTP_PORT", *(("HTTPS_PORT",) if settings["HTTPS_PORT"] else ())),
        configuration=digest([flows / "settings.js", flows / "flows.json", flows / "package-lock.json", *sources]),
    )  # fmt: skip


def _second_store(settings: Settings) -> dict[str, str]:
    """What the flows need to know of a second InfluxDB; empty without one."""
    return {
        name: value
        for store in settings.stores
        if store != FIRST
        for name, value in (
            (store.key("INFLUX_URL"), settings.influx_url_from("node-red", store)),
            (store.key("INFLUX_READ_TOKEN"), settings[store.key("INFLUX_READ_TOKEN")]),
            (store.key("SPOOL_URL"), settings.url_of("SPOOL_PORT", store)),
        )
    }


def _renewals(settings: Settings) -> list[Process]:
    if settings.on_cluster:
        return []  # it is the cluster's certificate
    return [renewal(settings.data_dir / "broker", reachable(settings["MQTTS_BIND"]), settings.port("MQTTS_PORT"))]


def renewal(broker: Path, host: str, port: int) -> Process:
    """Renews certificates.

    Args:
        broker: the broker's data folder.
        host: where its TLS listener is.
        port: of that listener.
    """
    program = ROOT / "broker" / "renew.py"
    return Process(
        name="certificates",
        version="daily",
        command=(sys.executable, str(program), "--data", str(broker)),
        directory=broker,
        environment={},
        healthy=functools.partial(health.certificate, host, port, broker / "tls" / "ca.crt"),
        configuration=digest([program, program.with_name("certificates.py")]),
    )


# As in compose.yaml: something for the alerts page, and nothing left on the broker when these people leave.
DEMO = ("-n", "50", "--low-batteries", "1", "--failing", "1", "--final-status", "removed")


def _simulator(settings: Settings) -> Process:
    return Process(
        name="simulator",
        version="demo",
        command=(sys.executable, "-m", "simulator", "mixed", *DEMO, "--building", str(settings.building),
                 "--when-changed", "follow" if settings["SIM"] == "1" else "leave"),
        directory=settings.data_dir,
        environment={
            "MQTT_HOST": settings.mqtt_host,
            "MQTT_PORT": settings["MQTT_PORT"],
            "MQTT_SIMULATOR_PASSWORD": settings["MQTT_SIMULATOR_PASSWORD"],
            "PYTHONUNBUFFERED": "1",
        },
        healthy=functools.partial(health.demo, f"{settings.http_url}/retrieveformonitoring", settings["SDA_API_KEY"]),
    )  # fmt: skip
