"""What a write that failed means for the node that was written, and for the others."""

from http import HTTPStatus

from webhook.cluster.errors import (
    ApiStatusError,
    ClusterError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    TooManyRequestsError,
)
from webhook.controller.metrics import WriteResult


def result_of(error: ClusterError) -> WriteResult:
    """What is counted for a write that failed."""
    match error:
        case NotFoundError():
            return "gone"
        case ConflictError():
            return "conflict"
        case ForbiddenError():
            return "refused"
        case _:
            return "failed"


def may_concern_one_node(error: ClusterError) -> bool:
    """Whether the server's no may concern this node alone, as when somebody's admission refuses it."""
    if isinstance(error, TooManyRequestsError) or not isinstance(error, ApiStatusError):
        return False
    return (
        HTTPStatus.BAD_REQUEST <= error.status < HTTPStatus.INTERNAL_SERVER_ERROR
        and error.status != HTTPStatus.UNAUTHORIZED
    )
