"""Errors in the format of Google's APIs."""

from __future__ import annotations

from localcloud.providers.protocol.values import JsonObject, JsonValue

CODES = {
    400: ("INVALID_ARGUMENT", "badRequest"),
    401: ("UNAUTHENTICATED", "authError"),
    403: ("PERMISSION_DENIED", "forbidden"),
    404: ("NOT_FOUND", "notFound"),
    409: ("ALREADY_EXISTS", "alreadyExists"),
    412: ("FAILED_PRECONDITION", "conditionNotMet"),
    429: ("RESOURCE_EXHAUSTED", "rateLimitExceeded"),
    500: ("INTERNAL", "internalError"),
    501: ("UNIMPLEMENTED", "notImplemented"),
    503: ("UNAVAILABLE", "backendError"),
}
"""HTTP status to canonical code (https://cloud.google.com/apis/design/errors#handling_errors) and older reason."""


class ApiError(Exception):
    """A rejected request. ``reason`` is the machine-readable reason of Google's older error format."""

    def __init__(self, code: int, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.status, usual = CODES.get(code, ("UNKNOWN", "badRequest"))
        self.code, self.message, self.reason = code, message, reason or usual

    @property
    def body(self) -> JsonObject:
        """The answer's body, with both the older list of errors and the newer canonical status."""
        entry: JsonObject = {"message": self.message, "domain": "global", "reason": self.reason}
        error: JsonObject = {
            "code": self.code,
            "message": self.message,
            "errors": [entry],
            "status": self.status,
        }
        if self.reason == "accessNotConfigured":
            details: list[JsonValue] = [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "SERVICE_DISABLED",
                    "domain": "googleapis.com",
                }
            ]
            error["details"] = details
        return {"error": error}


def not_found(what: str) -> ApiError:
    """Compute Engine's error for a resource that does not exist."""
    return ApiError(404, f"The resource '{what}' was not found")


def exists(what: str) -> ApiError:
    """Compute Engine's error for a name that is in use."""
    return ApiError(409, f"The resource '{what}' already exists")


def in_use(sort: str, ident: str, user: str) -> ApiError:
    """Compute Engine's error for deleting what others use."""
    message = f"The {sort} resource '{ident}' is already being used by '{user}'"
    return ApiError(400, message, "resourceInUseByAnotherResource")
