"""The paths of the OpenAPI document are the app's routes, all of them and nothing else."""

import re

import pytest

from hybridmux.faces.http.app import make_app
from hybridmux.faces.http.context import Context
from hybridmux.faces.http.contract import ROUTES, paths
from hybridmux.problems import PROBLEMS
from hybridmux.wire.convert import dump
from hybridmux.wire.openapi import REQUESTS, document
from hybridmux.wire.problems import BODIES
from tests.e2e.test_doors import _Anything


@pytest.fixture(scope="module")
def app():
    return make_app(Context(*[_Anything()] * 7))


@pytest.fixture(scope="module")
def whole(app):
    return document(paths(app.url_map.iter_rules()))


@pytest.fixture(scope="module")
def operations(whole):
    """(method, path) → operation."""
    return {(m, path): each for path, methods in whole["paths"].items() for m, each in methods.items()}


def _blank(path: str) -> str:
    return re.sub(r"[<{][^>}]*[>}]", "*", path)


def test_every_route_of_the_app_is_there_and_nothing_else(app, operations):
    rules = list(app.url_map.iter_rules())
    served = {(m.lower(), _blank(r.rule)) for r in rules for m in r.methods - {"HEAD", "OPTIONS"}}
    assert {(method, _blank(path)) for method, path in operations} == served
    assert {rule.endpoint for rule in rules} == ROUTES.keys()
    assert len({each["operationId"] for each in operations.values()}) == len(operations)


def test_paths_name_their_parameters(operations):
    for (_, path), each in operations.items():
        named = [p["name"] for p in each["parameters"] if p["in"] == "path"]
        assert named == re.findall(r"{(\w+)}", path)


def test_what_is_referred_to_is_there(whole):
    referred = set(re.findall(r'"#/components/schemas/(\w+)"', dump(whole).decode()))
    assert {each.__name__ for each in BODIES.values()} <= referred
    assert referred <= whole["components"]["schemas"].keys()


def test_every_request_body_and_every_refusal_is_some_routes():
    taken = {route.takes for route in ROUTES.values()}
    assert {each.__name__ for each in REQUESTS if each not in taken} == {"AttachmentRef", "ClientResize"}
    refused = {body for route in ROUTES.values() for bodies in route.problems().values() for body in bodies}
    assert refused == {BODIES[row] for row in PROBLEMS}


def test_bodies_and_answers(operations):
    switch = operations["post", "/api/sessions/{sessionId}/switch"]
    assert switch["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/SwitchRequest")
    assert " ".join(sorted(switch["responses"])) == "200 204 400 401 403 404 409 413 415 502 503"
    assert operations["get", "/healthz"]["security"] == []
    assert "401" not in operations["get", "/healthz"]["responses"]
    assert "101" in operations["get", "/ws/s/{sessionId}/chat"]["responses"]
