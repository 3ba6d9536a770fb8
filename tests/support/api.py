"""Calls `/api/v1` by operationId and checks every response against the description."""

import copy
import re
from collections.abc import Mapping
from typing import Any, Protocol

import httpx
from jsonschema import Draft202012Validator

from . import web

ID = "https://sda.invalid/openapi.json"


class Installation(Protocol):
    """A stack, or an entry to several sites."""

    @property
    def http_url(self) -> str: ...

    @property
    def secrets(self) -> Mapping[str, str]:
        """SDA_API_KEY: the key to ask with."""


class Api:
    """The API of an installation, with an all-rights key."""

    def __init__(self, stack: Installation) -> None:
        headers = {"X-API-Key": stack.secrets["SDA_API_KEY"]}
        self.http = web.Client(base_url=stack.http_url, headers=headers, timeout=20)
        self.description: dict[str, Any] = self.http.get("/api/v1/openapi.json").json()
        self._strict = _closed(self.description)
        self.operations = {
            operation["operationId"]: (method, path, operation)
            for path, item in self.description["paths"].items()
            for method, operation in item.items()
        }

    def close(self) -> None:
        self.http.close()

    def ask(self, operation: str, expected: int = 200, **parameters: Any) -> httpx.Response:
        """Call an operation with path or query parameters; check status and schema of the response."""
        method, path, described = self.operations[operation]
        in_path = {name: parameters.pop(name) for name in re.findall(r"\{(\w+)\}", path)}
        body = {"json": parameters} if "requestBody" in described else {"params": parameters}
        answer = self.http.request(method, path.format(**in_path), **body)  # type: ignore[arg-type]
        assert answer.status_code == expected, f"{answer.status_code} {answer.text[:500]}"
        self.check(operation, answer)
        return answer

    def get(self, operation: str, **parameters: Any) -> Any:
        """The decoded response."""
        return self.ask(operation, **parameters).json()

    def pages(self, operation: str, items: str, **parameters: Any) -> list[Any]:
        """All items, page after page."""
        found, cursor = [], None
        for _ in range(1000):
            page = self.get(operation, **parameters, **({"cursor": cursor} if cursor else {}))
            found += page[items]
            cursor = page["next"]
            if cursor is None:
                return found
        raise AssertionError("the pages do not end")

    def check(self, operation: str, answer: httpx.Response) -> None:
        """Check that the response matches the description, without additional properties."""
        responses = self.operations[operation][2]["responses"]
        assert str(answer.status_code) in responses, f"{operation} may not answer {answer.status_code}"
        reported = self._strict["paths"][self.operations[operation][1]][self.operations[operation][0]]["responses"]
        response = reported[str(answer.status_code)]
        response = self._at(response["$ref"]) if "$ref" in response else response
        if "content" not in response:
            assert answer.content == b""
            return
        media = answer.headers["content-type"].split(";")[0]
        schema = response["content"][media]["schema"]
        value = answer.json() if media == "application/json" else answer.text
        Draft202012Validator({"$id": ID, **schema, "components": self._strict["components"]}).validate(value)

    def _at(self, reference: str) -> Any:
        found: Any = self._strict
        for name in reference.removeprefix("#/").split("/"):
            found = found[name]
        return found


def _closed(described: Any) -> Any:
    """The same description, but objects may have no additional properties."""
    value = copy.deepcopy(described)

    def close(one: Any) -> None:
        if isinstance(one, dict):
            if isinstance(one.get("properties"), dict) and one.get("type") == "object":
                one.setdefault("additionalProperties", False)
            for inner in one.values():
                close(inner)
        elif isinstance(one, list):
            for inner in one:
                close(inner)

    close(value)
    return value
