"""The plain HTTP port: liveness, readiness and metrics, for kubelets and Prometheus."""

from collections.abc import Callable

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from webhook.not_found import name_paths
from webhook.readiness import Readiness


def health_app(readiness: Readiness, render_metrics: Callable[[], bytes]) -> FastAPI:
    """The application for the health port; `render_metrics` gives Prometheus' text format."""
    app = FastAPI(title="mgpu-hybrid health", docs_url=None, redoc_url=None)

    @app.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> PlainTextResponse:
        """The process lives and its event loop turns."""
        return PlainTextResponse("ok\n")

    @app.get("/readyz", response_class=PlainTextResponse, responses={503: {"description": "no"}})
    async def readyz() -> PlainTextResponse:
        """Whether admission requests should come here; the body says what is missing or stale."""
        missing = readiness.missing
        lines = missing or ("ok", *readiness.stale)
        text = "".join(f"{line}\n" for line in lines)
        return PlainTextResponse(text, status_code=503 if missing else 200)

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Every metric, summed over the worker processes."""
        return Response(render_metrics(), media_type=CONTENT_TYPE_LATEST)

    name_paths(app, ("/healthz", "/readyz", "/metrics"))
    return app
