"""Tabs that one test after the other uses: only the first has to fetch and compile the dashboard's scripts."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Error, Page

from .browser import faultless


@dataclass
class Tabs:
    """Each kind of context has tabs of its own; those of a test that failed to leave them empty are closed."""

    browser: Browser
    _free: dict[str, list[Page]] = field(default_factory=dict)

    @contextmanager
    def lent(self, **options: Any) -> Iterator[Page]:
        """An empty tab, logged in as `storage_state` says; a script's error in it fails.

        Args:
            options: of `Browser.new_context`, among them `viewport`.
        """
        free = self._free.setdefault(json.dumps(options, sort_keys=True), [])
        page = free.pop() if free else self.browser.new_context(**options).new_page()
        try:
            with faultless(page.context):
                yield page
                emptied = _emptied(page, **options)
        except BaseException:
            page.context.close()
            raise
        if emptied:
            free.append(page)
        else:
            page.context.close()


def _emptied(page: Page, storage_state: Any, viewport: Any, **_: Any) -> bool:
    """Leave nothing of a test for the next one but the browser's cache; whether that is possible."""
    context = page.context
    try:
        for other in context.pages:
            if other != page:
                other.close()
        page.unroute_all(behavior="ignoreErrors")
        context.set_offline(False)
        page.emulate_media(color_scheme="null", reduced_motion="null")
        page.set_viewport_size(viewport)
        if page.url != "about:blank":
            page.evaluate("localStorage.clear(), sessionStorage.clear()")
        page.goto("about:blank")
        context.clear_cookies()
        context.add_cookies(storage_state["cookies"])
    except Error:
        return False
    return True
