"""The secrets of a NATS broker: `nats/keys.json` in its data folder, made once. Needs the package `nkeys`.

nats.conf names public keys only. All nodes of a cluster share one such file.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import nkeys
from nats_config import PublicKeys
from store import Store, StoreError

_SECRET_BYTES = 24


@dataclass(frozen=True, slots=True)
class Keys:
    """Seeds of nkeys (`SA…` accounts, `SU…` users) and two passwords."""

    issuer: str = field(repr=False)
    callout: str = field(repr=False)
    system: str = field(repr=False)
    sites: dict[str, str] = field(repr=False)
    figures_password: str = field(repr=False)
    """Of the MQTT account that publishes the broker's figures."""
    route_password: str = field(repr=False)
    """Among the nodes of a cluster."""

    def public(self) -> PublicKeys:
        """What nats.conf may say."""
        sites = {site: _public(seed) for site, seed in self.sites.items()}
        return PublicKeys(_public(self.issuer), _public(self.callout), _public(self.system), sites)


def load(folder: Path) -> Keys:
    """The keys in `folder`. Raises StoreError if they are missing or damaged."""
    path = folder / "nats" / "keys.json"
    try:
        return Keys(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            f"{path} cannot be used ({error}); restore it, or remove it and run `make up`, which makes new ones"
        ) from None


def ensure(store: Store, sites: Sequence[str]) -> Keys:
    """The keys of the broker's data folder, with those that were missing. Raises StoreError if they are damaged."""
    store.make_folder(store.folder / "nats")
    path = store.folder / "nats" / "keys.json"
    keys = load(store.folder) if path.exists() else _fresh()
    missing = {site: _seed(nkeys.PREFIX_BYTE_USER) for site in sites if site not in keys.sites}
    keys = replace(keys, sites=keys.sites | missing)
    store.replace(path, json.dumps(asdict(keys), indent=1) + "\n")
    return keys


def _fresh() -> Keys:
    return Keys(
        issuer=_seed(nkeys.PREFIX_BYTE_ACCOUNT),
        callout=_seed(nkeys.PREFIX_BYTE_USER),
        system=_seed(nkeys.PREFIX_BYTE_USER),
        sites={},
        figures_password=secrets.token_urlsafe(_SECRET_BYTES),
        route_password=secrets.token_urlsafe(_SECRET_BYTES),
    )


def _seed(kind: int) -> str:
    seed: bytes = nkeys.encode_seed(secrets.token_bytes(32), kind)
    return seed.decode()


def _public(seed: str) -> str:
    public: bytes = nkeys.from_seed(seed.encode()).public_key
    return public.decode()
