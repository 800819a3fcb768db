"""The answer for paths that a port does not have: one line that says which it has.

A wrong path in a webhook registration or a probe is seen in somebody else's log, where a redirect or a bare
"Not Found" tells nobody what to write instead.
"""

from collections.abc import Sequence
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse

MAX_PATH_CHARACTERS = 80


def name_paths(app: FastAPI, paths: Sequence[str]) -> None:
    """Let `app` answer 404 for other paths, and name `paths`, which are at least two."""
    known = f"{', '.join(paths[:-1])} and {paths[-1]}"

    async def not_found(request: Request, _error: Exception) -> PlainTextResponse:
        path = ascii(request.scope["path"][:MAX_PATH_CHARACTERS])
        line = f"there is no path {path} here, the paths are {known}\n"
        return PlainTextResponse(line, status_code=HTTPStatus.NOT_FOUND)

    app.add_exception_handler(HTTPStatus.NOT_FOUND, not_found)
    app.router.redirect_slashes = False
