"""`python -m tests.webhook.run_server SETTINGS`: the server as its own process, settings as JSON."""

import json
import sys
from pathlib import Path

from webhook.server import serve
from webhook.settings import ServeSettings


def main() -> int:
    given = json.loads(sys.argv[1])
    endings = ("path", "dir", "kubeconfig")
    paths = {name: Path(value) for name, value in given.items() if name.endswith(endings)}
    return serve(ServeSettings(**{**given, **paths}))


if __name__ == "__main__":
    sys.exit(main())
