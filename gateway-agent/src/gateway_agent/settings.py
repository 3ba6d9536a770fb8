"""Every key of the configuration file: type, default, bounds and meaning. The README's table is made from it."""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_type_hints

from gateway_agent.scan_settings import MIN_RSSI, RSSI_OFFSET, WINDOW_MS

ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class Rule:
    """Meaning and valid values of a key."""

    doc: str
    default: Any = REQUIRED
    low: float | None = None
    high: float | None = None
    pattern: str | None = None
    choices: tuple[str, ...] = ()
    secret: bool = False

    @property
    def required(self) -> bool:
        """Whether the configuration must have it."""
        return self.default is REQUIRED


def key(doc: str, default: Any = REQUIRED, **bounds: Any) -> Any:
    """A field with its Rule."""
    rule = Rule(doc, default, **bounds)
    return field(metadata={"rule": rule})


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """``[broker]``: the broker and the account. The account's name is the gateway's `id`."""

    host: str = key("name or address of the broker", pattern=r"\S+")
    port: int = key("its port; 8883 is the platform's listener with TLS", 8883, low=1, high=65535)
    password: str = key("the account's password; better in `password_file`", "", secret=True)
    password_file: str = key("file holding the password, readable by the agent alone", "")
    tls: bool = key("encrypt, and check the broker's certificate", True)
    ca_file: str = key("certificate of the CA to trust, and no other; empty: the system's CAs", "")
    client_cert: str = key("client certificate (PEM), where the broker asks for one", "")
    client_key: str = key("its private key (PEM)", "")
    keepalive_s: int = key("seconds of silence after which the connection is tested", 30, low=5, high=600)
    retry_max_s: float = key("longest pause between two attempts to connect", 30.0, low=1, high=3600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """``[scan]``: how to scan. The retained `config` topic overrides keys marked (live)."""

    adapter: str = key(
        "Bluetooth adapter by its address (stays) or name (`hci0`); empty: of those that are powered the one with the "
        "lowest address",
        "",
        pattern=r"|hci[0-9]+|([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}",
    )
    window_ms: int = key("length of one window, one message each (live)", 1000, low=WINDOW_MS[0], high=WINDOW_MS[1])
    min_rssi: int = key("weaker readings are left out, dBm (live)", -127, low=MIN_RSSI[0], high=MIN_RSSI[1])
    rssi_offset: int = key("added to every RSSI, dB (live)", 0, low=RSSI_OFFSET[0], high=RSSI_OFFSET[1])
    allow: list[str] = key(  # noqa: RUF009 - a field with its rule
        "registered beacons; empty: only what the `config` topic says (live)", ()
    )
    unregistered: str = key(
        "beacons nobody registered: `drop`, or `publish` up to 256", "drop", choices=("drop", "publish")
    )
    restart_after_s: float = key("no advert for so long: a fresh scanner", 30.0, low=1, high=3600)
    reset_after_s: float = key("no advert for so long: the adapter is reset", 120.0, low=2, high=86400)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxSettings:
    """``[outbox]``: storage of batches until the broker has them for good."""

    max_age_h: float = key("older batches are dropped; the platform takes seven days", 168.0, low=0.01, high=168)
    max_mib: int = key("size of the file; the oldest batches are dropped first", 256, low=1, high=65536)
    replay_s: float = key(
        "acknowledged batches are kept so long, for a broker that forgets them", 600.0, low=0, high=86400
    )
    backlog_rate: float = key("readings a second of what had to wait", 10000.0, low=10, high=1e6)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSettings:
    """``[clock]``: when to trust the wall clock."""

    source: str = key(
        "`kernel` (what the kernel says, true with chrony, ntpd and systemd-timesyncd), `trust`, or the path of a file "
        "that exists once the clock is right",
        "kernel",
        pattern=r"kernel|trust|/.+",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The whole file."""

    id: str = key("this gateway's id, which is also its account at the broker", pattern=ID_PATTERN)
    state_dir: str = key("folder of the outbox; must outlive a reboot", "/var/lib/sda-gateway-agent", pattern="/.*")
    log_level: str = key("`debug`, `info`, `warning` or `error`", "info", choices=("debug", "info", "warning", "error"))
    health_s: float = key("pause between two health messages", 15.0, low=1, high=3600)
    broker: Broker
    scan: Scan
    outbox: OutboxSettings
    clock: ClockSettings


def rules(of: type) -> dict[str, tuple[Any, Rule | type]]:
    """Key -> (its type, its Rule); for a section its dataclass stands in place of the Rule."""
    hints = get_type_hints(of)
    return {
        item.name: (hints[item.name], hints[item.name] if is_dataclass(hints[item.name]) else item.metadata["rule"])
        for item in fields(of)
    }
