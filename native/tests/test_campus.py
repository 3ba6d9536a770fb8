"""`make campus`: its ports, its campus.toml, its folders."""

import tomllib
from pathlib import Path

import pytest
from stack.campus import FIRST_PORT, SITES, campus_toml, entry_port, site_settings
from stack.errors import StackError
from stack.settings import PORT_KEYS


def test_campus_toml_lists_each_site_and_holds_no_secret() -> None:
    text = campus_toml(19_000, {"north": "http://127.0.0.1:19004", "south": "http://127.0.0.1:19014"})
    assert tomllib.loads(text) == {
        "entry": {
            "port": 19_000,
            "data_dir": ".",
            "site_timeout_ms": 3000,
            "trusted_nets": ["127.0.0.0/8", "::1/128"],
        },
        "sites": [
            {"name": "north", "url": "http://127.0.0.1:19004", "key_file": "north.key"},
            {"name": "south", "url": "http://127.0.0.1:19014", "key_file": "south.key"},
        ],
    }


def test_sites_have_folders_and_ports_of_their_own(tmp_path: Path) -> None:
    made = [site_settings(tmp_path, site, FIRST_PORT + 1 + 10 * number) for number, site in enumerate(SITES)]
    ports = [settings.port(key) for settings in made for key in PORT_KEYS]
    assert len(set(ports)) == len(ports)
    assert len({settings.data_dir for settings in made}) == len(SITES)
    assert [settings.demo for settings in made] == [True, False], "people walk in the demo building alone"
    made[1].building.write_text(made[1].building.read_text().replace("Annex", "Our annex"))
    again = site_settings(tmp_path, SITES[1], FIRST_PORT + 11)
    assert "Our annex" in again.building.read_text(), "a building that was changed is kept"


@pytest.mark.parametrize("port", ["80", "65530", "many", "-1"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    with pytest.raises(StackError, match=r"CAMPUS_PORT=.* is no port for the campus entry"):
        entry_port({"CAMPUS_PORT": port})


def test_without_a_port_it_is_the_usual_one() -> None:
    assert entry_port({"CAMPUS_PORT": ""}) == entry_port({}) == FIRST_PORT
