"""What can go wrong between this process and the API server.

Two families, because they are handled differently: nobody answered well (`ClusterUnavailableError`: try
again), and the server said no (`ApiStatusError`: its reason tells whether trying again helps). No message
holds a credential: requests are named by method and path, and headers are never quoted.
"""

from collections.abc import Mapping
from http import HTTPStatus

MAX_MESSAGE_CHARACTERS = 500


class ClusterError(Exception):
    """A request to the API server, or its preparation, failed."""


class ClusterSettingsError(ClusterError):
    """The kubeconfig or the in-cluster files cannot be used."""


class ClusterUnavailableError(ClusterError):
    """No complete answer came: network, TLS, timeout, or a connection that was cut."""


class UnreadableAnswerError(ClusterError):
    """An answer that is not the JSON which the API promises; something else may be answering."""


class ApiStatusError(ClusterError):
    """The API server answered with a Status: `status` is its code, `reason` and `message` its words.

    `retry_after_seconds` is what the server asks for before the next try, None when it asks nothing.
    """

    advice = "look at the API server's log"

    def __init__(
        self,
        request: str,
        status: int,
        reason: str,
        message: str,
        retry_after_seconds: float | None = None,
    ) -> None:
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after_seconds = retry_after_seconds
        super().__init__(f"{request}: {status} {reason}: {message}; {self.advice}")


class UnauthorizedError(ApiStatusError):
    """401: the server does not know who asks."""

    advice = "check that the token or client certificate is still valid for this cluster"


class ForbiddenError(ApiStatusError):
    """403: the server knows who asks and does not allow it, or an admission webhook refused."""

    advice = "grant this verb on this resource to the user that the message names"


class NotFoundError(ApiStatusError):
    """404: no such object, or no such API."""

    advice = "create the object, or check that this cluster serves the API"


class ConflictError(ApiStatusError):
    """409: the object exists already (`AlreadyExists`) or has changed meanwhile (`Conflict`)."""

    advice = "read the object again and repeat the change"


class GoneError(ApiStatusError):
    """410: the resource version or the continue token is too old."""

    advice = "list again from the beginning"


class TooManyRequestsError(ApiStatusError):
    """429: the server sheds load."""

    advice = "wait as long as it asks, then try again"


_BY_STATUS: Mapping[int, type[ApiStatusError]] = {
    HTTPStatus.UNAUTHORIZED: UnauthorizedError,
    HTTPStatus.FORBIDDEN: ForbiddenError,
    HTTPStatus.NOT_FOUND: NotFoundError,
    HTTPStatus.CONFLICT: ConflictError,
    HTTPStatus.GONE: GoneError,
    HTTPStatus.TOO_MANY_REQUESTS: TooManyRequestsError,
}


def status_error(
    request: str, status: int, answer: object, retry_after_seconds: float | None = None
) -> ApiStatusError:
    """The error for a `Status` object, or for whatever else came with an error code.

    `request` is method and path, for the message. A `Status` in an ERROR event has its code inside.
    """
    words = answer if isinstance(answer, dict) else {}
    code = words.get("code")
    if isinstance(code, int) and not isinstance(code, bool):
        status = code
    kind = _BY_STATUS.get(status, ApiStatusError)
    reason = words.get("reason")
    message = words.get("message")
    return kind(
        request,
        status,
        reason if isinstance(reason, str) and reason else _phrase(status),
        message[:MAX_MESSAGE_CHARACTERS] if isinstance(message, str) and message else "no message",
        retry_after_seconds,
    )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "unknown status"
