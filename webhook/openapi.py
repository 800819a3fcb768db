"""How `/openapi.json` describes the two hooks.

They are served without FastAPI, so it cannot find out by itself. The form of an AdmissionReview is
Kubernetes' own and not repeated here.
"""

from collections.abc import Mapping

_REVIEW = {"application/json": {"schema": {"type": "object", "title": "AdmissionReview"}}}
_LINE = {"text/plain": {"schema": {"type": "string"}}}
_REFUSALS = {
    "400": "The body is not an admission.k8s.io/v1 AdmissionReview with a uid.",
    "405": "The method is not POST.",
    "408": "The body did not arrive in time.",
    "413": "The body is larger than 9 MiB.",
    "415": "The content type is not application/json.",
    "503": "Too many requests at once, or no valid policy.",
}


def with_hooks(schema: Mapping[str, object]) -> dict[str, object]:
    """The description `schema` with the paths of both hooks added."""
    found = schema.get("paths")
    paths: dict[str, object] = dict(found) if isinstance(found, Mapping) else {}
    paths["/mutate"] = _hook("Write into offline pods what they need; never denies.")
    paths["/validate"] = _hook("Judge pods, pod templates and Bindings.")
    return {**schema, "paths": paths}


def _hook(summary: str) -> dict[str, object]:
    refusals = {code: {"description": text, "content": _LINE} for code, text in _REFUSALS.items()}
    answer = {"description": "An AdmissionReview with the same uid.", "content": _REVIEW}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": _REVIEW},
            "responses": {"200": answer, **refusals},
        }
    }
