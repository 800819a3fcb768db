"""`validate -o json`: one object, whose keys scripts rely on."""

import orjson

from cli.judging import Result
from cli.report import Report


def render_json(report: Report) -> str:
    """The report as JSON."""
    document = {
        "results": [_result(result) for result in report.results],
        "summary": {
            "checked": len(report.results),
            "denied": report.denied,
            "warned": report.warned,
            "skipped": len(report.skipped),
            "notJudged": report.not_judged,
        },
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _result(result: Result) -> dict[str, object]:
    return {
        # A file's name may hold bytes that are no text.
        "source": result.source.encode(errors="backslashreplace").decode(),
        "apiVersion": result.api_version,
        "kind": result.kind,
        "namespace": result.namespace,
        "name": result.name,
        "class": result.pod_class.value,
        "allowed": result.allowed,
        "findings": [
            {
                "rule": finding.rule,
                "action": finding.action.value,
                "path": finding.path,
                "message": finding.message,
                "remedy": finding.remedy,
            }
            for finding in result.findings
        ],
        "warnings": list(result.warnings),
    }
