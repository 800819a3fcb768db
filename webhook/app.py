"""The application of the webhook port, composed in one place.

The two hooks are dispatched by path before FastAPI: its middleware would cost each request more than
the decision does. FastAPI serves the rest, and describes the hooks in `/openapi.json`.
"""

from collections.abc import Mapping
from typing import cast

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from webhook.body import Intake
from webhook.endpoints import HookEndpoint
from webhook.hooks import MUTATE, VALIDATE, Hook
from webhook.metrics import Metrics
from webhook.not_found import name_paths
from webhook.openapi import with_hooks
from webhook.pod_lookup import LivePods, PodLookup
from webhook.responder import Responder
from webhook.state import State


class DocumentedApp(FastAPI):
    """A FastAPI application whose description holds the hooks that are served beside it."""

    def openapi(self) -> dict[str, object]:
        """The description, made at the first call."""
        if self.openapi_schema is None:
            self.openapi_schema = with_hooks(super().openapi())
        return cast("dict[str, object]", self.openapi_schema)


class WebhookApp:
    """The ASGI application of the webhook port: the hooks by path, else `rest`."""

    def __init__(self, hooks: Mapping[str, ASGIApp], rest: ASGIApp) -> None:
        self._hooks = hooks
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        app = self._hooks.get(scope["path"], self._rest)
        await app(scope, receive, send)


def webhook_app(
    state: State,
    metrics: Metrics,
    intake: Intake | None = None,
    pods: LivePods | None = None,
) -> WebhookApp:
    """The application that answers with what `state` holds and counts in `metrics`.

    `pods` are those of the cluster, None where there is none to ask.
    """
    intake = intake or Intake()
    lookup = PodLookup(pods)

    def endpoint(hook: Hook) -> HookEndpoint:
        return HookEndpoint(Responder(hook, state, metrics, lookup), intake, metrics)

    rest = DocumentedApp(title="mgpu-hybrid webhook", docs_url=None, redoc_url=None)
    hooks = {f"/{hook.name}": endpoint(hook) for hook in (MUTATE, VALIDATE)}
    name_paths(rest, (*hooks, "/openapi.json"))
    return WebhookApp(hooks, rest)
