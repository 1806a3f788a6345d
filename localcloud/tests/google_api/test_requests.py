"""What no method of Google's would take is refused: paths, fields, values, parameters."""

from __future__ import annotations

import pytest

from localcloud.google_api.core import discovery
from localcloud.google_api.core.request import HANDLERS
from localcloud.tests.google_api.conftest import COMPUTE, GKE, Client, Props


@pytest.mark.parametrize(
    ("http", "path", "status", "text"),
    [
        ("GET", f"{COMPUTE}/global/nets", 404, "no such method"),
        ("PUT", f"{COMPUTE}/global/networks", 404, "no such method"),
        ("GET", "sql.googleapis.com/v1/projects/p/instances", 404, "no such method"),
        ("GET", f"{COMPUTE}/global/images", 501, "does not imitate it. To add it: a function in"),
        ("GET", f"{COMPUTE}/global/networks/none", 404, "'projects/my-project/global/networks/none' was not found"),
        ("GET", f"{GKE}/clusters/none", 404, "Not found: projects/my-project/locations/us-east5/clusters/none."),
    ],
)
def test_what_is_not_there_is_refused_as_google_does(
    client: Client, http: str, path: str, status: int, text: str
) -> None:
    code, _, message = client.refused(http, path)
    assert code == status
    assert text in message


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"nam": "vpc"}, 'Unknown name "nam": Cannot find field.'),
        ({"name": "vpc", "routingConfig": {"mode": "GLOBAL"}}, "Unknown name \"mode\" at 'routingConfig'"),
        ({"name": "vpc", "autoCreateSubnetworks": "no"}, 'autoCreateSubnetworks\', "no": true or false is expected'),
        (
            {"name": "vpc", "routingConfig": {"routingMode": "ALL"}},
            "Invalid value at 'routingConfig.routingMode', \"ALL\"",
        ),
        ({"name": ["vpc"]}, "a string is expected"),
        ({"name": "vpc", "subnetworks": "nodes"}, "a list is expected"),
        ({"name": "vpc", "routingConfig": 3}, "an object is expected"),
        ({"name": "vpc", "mtu": "wide"}, "a number is expected"),
    ],
)
def test_a_body_that_google_does_not_know_is_refused(client: Client, body: Props, text: str) -> None:
    status, reason, message = client.refused("POST", f"{COMPUTE}/global/networks", body)
    assert (status, reason) == (400, "badRequest")
    assert text in message


def test_a_parameter_that_the_method_does_not_have_is_refused(client: Client) -> None:
    assert client.refused("GET", f"{COMPUTE}/global/networks", alt="json", colour="red")[2].startswith(
        'Invalid JSON payload received. Unknown name "colour"'
    )


def test_every_handler_answers_a_method_that_google_documents() -> None:
    hosts = {f"{method.partition('.')[0]}.googleapis.com" for method in HANDLERS}
    documented = {method for host in hosts for name in discovery.documents(host) for method in discovery.methods(name)}
    assert HANDLERS.keys() - documented == set()
    assert len(HANDLERS) > 80
