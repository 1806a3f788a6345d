"""Google's APIs through Google's own client library, with its errors turned into four kinds.

``google-api-python-client`` carries the descriptions of all APIs, so no description is fetched, and it accepts another
address for each: that of the emulator of Google's APIs (:mod:`localcloud.google_api`) for a laptop cloud and in tests.
A client belongs to one thread (httplib2 is not thread-safe): each request builds its own.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from operations.printing import short

VERSIONS = {
    "cloudbilling": ("cloudbilling", "v1"),
    "cloudresourcemanager": ("cloudresourcemanager", "v3"),
    "compute": ("compute", "v1"),
    "container": ("container", "v1"),
    "limits": ("serviceusage", "v1beta1"),
    "monitoring": ("monitoring", "v3"),
    "serviceusage": ("serviceusage", "v1"),
}
"""APIs with their name and version in the client library. Limits with dimensions (``tpu_family``) are in v1beta1 of
Service Usage only, and the states of several services at once in v1 only."""

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
REQUEST_SECONDS = 15

RETRIES = 2
"""Retries after 429, 5xx and broken connections; the client library waits longer each time."""

ENDPOINT = "LLMD_GKE_GOOGLE_ENDPOINT"
"""Environment variable: an emulator of all of Google's APIs, such as ``http://127.0.0.1:8040``.

No credentials are read then.
"""


class GoogleRequestError(Exception):
    """Google rejected or failed a request."""


class ApiOff(GoogleRequestError):
    """The API is not enabled in the project. ``api`` is its short name."""

    def __init__(self, api: str) -> None:
        super().__init__(f"{api}.googleapis.com is disabled")
        self.api = api


class Denied(GoogleRequestError):
    """The caller lacks credentials or a permission."""


class MissingResource(GoogleRequestError):
    """The resource does not exist."""


class NoAnswer(GoogleRequestError):
    """No usable answer: too many requests, an error of Google's, or no answer in time."""


class _Http(Protocol):
    status: int


class _HttpError(Protocol):
    resp: _Http
    reason: str
    error_details: object


class _Credentials(Protocol):
    def refresh(self, request: object) -> None: ...


class _Request(Protocol):
    def execute(self, num_retries: int = 0) -> object: ...


@dataclass
class GoogleClient:
    """Queries Google's APIs for one project with one caller's credentials. ``credentials``: see :func:`login`.
    ``endpoint``: see :data:`ENDPOINT`.
    """

    project: str
    credentials: object
    endpoint: str | None = field(default_factory=lambda: os.environ.get(ENDPOINT))
    seconds: float = REQUEST_SECONDS

    def ask(self, method: str, **arguments: object) -> dict[str, object]:
        """Calls e.g. ``compute.zones.get`` and returns its answer.

        Raises ``ApiOff``, ``Denied``, ``MissingResource`` or ``NoAnswer``, and ``GoogleRequestError`` for other errors.
        """
        from google.auth.exceptions import GoogleAuthError
        from googleapiclient.errors import HttpError  # pyright: ignore[reportMissingTypeStubs]
        from httplib2 import HttpLib2Error

        api, *path, verb = method.split(".")
        try:
            target: object = self._client(api)
            for part in path:
                target = cast("Callable[[], object]", getattr(target, part))()
            request = cast("_Request", cast("Callable[..., object]", getattr(target, verb))(**arguments))
            return cast("dict[str, object]", request.execute(num_retries=RETRIES))
        except HttpError as error:
            raise kind_of(VERSIONS[api][0], cast("_HttpError", error)) from None
        except GoogleAuthError as error:
            raise Denied(f"the credentials were rejected: {short(str(error))}") from None
        except (OSError, HttpLib2Error) as error:
            raise NoAnswer(f"{api} did not answer within {self.seconds:g} s ({short(str(error))})") from None

    def pages(self, method: str, **arguments: object) -> Iterator[dict[str, object]]:
        """Every page of a list. Raises as :meth:`ask`."""
        token: object = None
        while token != "":
            page = self.ask(method, **arguments, pageToken=token)
            token = page.get("nextPageToken") or ""
            yield page

    def wait(self, operation: Mapping[str, object], zone: str, seconds: float) -> dict[str, object]:
        """Waits for a zonal operation of Compute Engine and returns it. Raises ``NoAnswer`` if it takes longer than
        ``seconds``.
        """
        return self.settle("compute.zoneOperations.wait", operation, seconds, zone=zone)

    def settle(
        self, method: str, operation: Mapping[str, object], seconds: float, **location: str
    ) -> dict[str, object]:
        """As :meth:`wait`, for an operation in any ``location``; ``method`` polls it: ``globalOperations.wait``."""
        ends = time.monotonic() + seconds
        state = dict(operation)
        while state.get("status") != "DONE":
            if time.monotonic() > ends:
                raise NoAnswer(f"operation {operation['name']} is not done after {seconds:g} s")
            # Google answers when the operation is done, after two minutes at the latest.
            state = self.ask(method, project=self.project, operation=state["name"], **location)
        return state

    def _client(self, api: str) -> object:
        import httplib2
        from google_auth_httplib2 import AuthorizedHttp  # pyright: ignore[reportMissingTypeStubs]
        from googleapiclient import discovery  # pyright: ignore[reportMissingTypeStubs]

        name, version = VERSIONS[api]
        # An emulator runs on this machine: the environment's proxy must not be used.
        proxy = None if self.endpoint else httplib2.proxy_info_from_environment
        http = AuthorizedHttp(self.credentials, http=httplib2.Http(timeout=self.seconds, proxy_info=proxy))
        options = None
        if self.endpoint:
            below = f"compute/{version}/" if name == "compute" else ""
            options = {"api_endpoint": f"{self.endpoint}/{name}.googleapis.com/{below}"}
        make = cast("Callable[..., object]", vars(discovery)["build"])  # its own types are partial
        return make(name, version, http=http, client_options=options, static_discovery=True, cache_discovery=False)


def kind_of(api: str, error: _HttpError) -> GoogleRequestError:
    """The kind of an HTTP error: https://cloud.google.com/apis/design/errors and the reasons in its details."""
    status, text = int(error.resp.status), short(str(error.reason))
    details = str(error.error_details)
    if status == 403 and ("SERVICE_DISABLED" in details or "accessNotConfigured" in details or "is disabled" in text):
        return ApiOff(api)
    if status in (401, 403):
        return Denied(text)
    if status == 404:
        return MissingResource(text)
    if status == 429 or status >= 500:
        return NoAnswer(f"{api} answered {status} {RETRIES + 1} times ({text})")
    return GoogleRequestError(f"{api} answered {status}: {text}")


def login(endpoint: str | None = None) -> object:
    """The caller's credentials: Application Default Credentials. Raises ``Denied`` if there are none.

    For an emulator (``endpoint``) it is a token that is valid nowhere else.
    """
    import google.auth
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport import requests

    if endpoint or os.environ.get(ENDPOINT):
        from google.oauth2 import credentials as kinds

        make = cast("Callable[..., object]", vars(kinds)["Credentials"])  # its types are partial
        return make(token="emulator")  # noqa: S106 - an emulator takes any
    try:
        default = cast(
            "Callable[..., tuple[_Credentials, object]]", vars(google.auth)["default"]
        )  # its types are partial
        credentials, _ = default(scopes=SCOPES)
        credentials.refresh(requests.Request())
    except GoogleAuthError as error:
        raise Denied(short(str(error))) from None
    return credentials
