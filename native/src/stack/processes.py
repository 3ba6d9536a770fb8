"""The list of processes: `make up` and the system tests start exactly these, in this order."""

import functools
import sys
from pathlib import Path

from . import health
from .digest import digest
from .install import telegraf_program
from .layout import ROOT, VERSIONS, cache_dir, influxd_program, node_folder
from .process import Process
from .settings import Settings, reachable
from .stores import FIRST, Store

LOW_PRIORITY = ("nice", "-n", "19")
"""Command prefix of the store. On a busy machine the live services and what empties the broker go first."""
REDUCED_PRIORITY = ("nice", "-n", "10")
"""Command prefix of what prepares readings for the store. What it has not taken yet is on the spool's disk."""


def processes(settings: Settings) -> list[Process]:
    """All processes of an installation, in the order of their start."""
    ingest = [make(settings, store) for make in (_influxd, _spool, _telegraf) for store in settings.stores]
    own = settings.stores_kind.run(settings)
    services = [*settings.broker.run(settings), *ingest, *own, _node_red(settings), *_renewals(settings)]
    return [*services, _simulator(settings)] if settings.demo else services


def first_processes(settings: Settings) -> list[Process]:
    """The processes of the broker and of the databases. Databases issue tokens to the processes after them."""
    return [*settings.broker.run(settings), *(_influxd(settings, store) for store in settings.stores)]


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
            "BROKER_KEEPS_ORDER": "yes" if settings.broker.keeps_order else "no",
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
    if not settings.broker.has_certificate:
        return []
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
