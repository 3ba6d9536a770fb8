"""Installs and runs the SDA Locator services as native processes."""
