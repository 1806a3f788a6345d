"""Errors in the format of Google's APIs."""

from __future__ import annotations

from localcloud.providers.protocol.values import JsonObject, JsonValue

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
}
"""HTTP status to canonical code (https://cloud.google.com/apis/design/errors#handling_errors)."""

REASON = {
    400: "badRequest",
    401: "authError",
    403: "forbidden",
    404: "notFound",
    409: "alreadyExists",
    412: "conditionNotMet",
    429: "rateLimitExceeded",
    500: "internalError",
    501: "notImplemented",
    503: "backendError",
}


class ApiError(Exception):
    """A rejected request. ``reason`` is the machine-readable reason of Google's older error format."""

    def __init__(self, code: int, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.reason = code, message, reason or REASON.get(code, "badRequest")

    @property
    def body(self) -> JsonObject:
        """The answer's body, with both the older list of errors and the newer canonical status."""
        entry: JsonObject = {"message": self.message, "domain": "global", "reason": self.reason}
        error: JsonObject = {
            "code": self.code,
            "message": self.message,
            "errors": [entry],
            "status": STATUS.get(self.code, "UNKNOWN"),
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
