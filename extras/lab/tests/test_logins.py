"""Receivers that cannot log in are found before the run, with what to do."""

from pathlib import Path

from lab import logins
from lab.target import Target

THREE = [f"lab-{number}" for number in range(3)]
FAR = Target("https://sda.example.org", mqtt_tls=True, mqtt_password="of the simulator")


def test_over_tls_each_receiver_needs_an_account() -> None:
    fault = logins.fault([f"lab-x-{number}" for number in range(250)], FAR, {})
    assert "over TLS each of the 250 receivers needs an account of its own" in fault
    assert """make account ARGS="add phone $(seq -s ' ' -f lab-%.0f 0 249)" > accounts.tsv""" in fault


def test_receivers_that_the_file_leaves_out_are_named() -> None:
    target = Target("https://sda.example.org", mqtt_tls=True, accounts="accounts.tsv")
    assert logins.fault(THREE, target, dict.fromkeys(THREE, "a password")) == ""
    fault = logins.fault(THREE, target, {"lab-0": "a password"})
    assert "accounts.tsv has no password for 2 of 3 receivers (lab-1 …)" in fault
    assert "make account ARGS='add phone lab-1 lab-2' >> accounts.tsv" in fault


def test_without_tls_one_account_does_for_all() -> None:
    near = Target("http://127.0.0.1:1880", mqtt_password="of the simulator")
    assert logins.fault(THREE, near, {}) == ""
    assert "MQTT_SIMULATOR_PASSWORD" in logins.fault(THREE, Target("http://127.0.0.1:1880"), {})


def test_a_run_without_receivers_needs_no_account() -> None:
    assert logins.fault([], FAR, {}) == ""


def test_the_file_is_the_one_that_make_account_writes(tmp_path: Path) -> None:
    file = tmp_path / "accounts.tsv"
    file.write_text("lab-0\tfirst\nlab-1\tsecond\n")
    assert logins.accounts_of(Target("", accounts=str(file))) == {"lab-0": "first", "lab-1": "second"}
