"""`serve`: from settings to a running server, and its exit code."""

import logging
import resource

from webhook.listening import ListenError, bind_sockets
from webhook.logs import log_to_stderr
from webhook.settings import ServeSettings
from webhook.supervisor import log_listening, supervise
from webhook.worker import run_worker

logger = logging.getLogger(__name__)

EXIT_STOPPED = 0
EXIT_UNUSABLE = 2


def serve(settings: ServeSettings) -> int:
    """Serve both ports until SIGTERM or SIGINT; call it in the main thread.

    Returns 0 after a stop in good order and 2 when the settings cannot be used, with the reason logged.
    Logs JSON lines to stderr.
    """
    log_to_stderr()
    raise_open_file_limit()
    mistake = _mistake(settings)
    if mistake:
        logger.error(mistake)
        return EXIT_UNUSABLE
    try:
        sockets = bind_sockets(settings)
    except ListenError as error:
        logger.error(str(error))  # noqa: TRY400 - a reason, not a traceback
        return EXIT_UNUSABLE
    try:
        if settings.workers == 1:
            run_worker(settings, sockets, lambda: log_listening(sockets))
        else:
            supervise(settings, sockets)
    except OSError as error:
        logger.error("cannot listen: %s", error)  # noqa: TRY400 - a reason, not a traceback
        return EXIT_UNUSABLE
    finally:
        sockets.close()
    return EXIT_STOPPED


def raise_open_file_limit() -> None:
    """Allow as many open files as the process may have: connections on one port must not starve the other.

    The soft limit is low for programs that use select(), which this one does not.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _mistake(settings: ServeSettings) -> str:
    if (settings.tls_dir is None) == (settings.self_signed_dir is None):
        return "give either a TLS directory or a directory for a self-signed certificate"
    if (settings.nodes_path is not None) + (
        settings.kubeconfig is not None
    ) + settings.in_cluster > 1:
        return "give only one of a nodes file, a kubeconfig and the cluster that the server runs in"
    if settings.nodes_stale_after_seconds <= 0:
        return f"nodes cannot be stale after {settings.nodes_stale_after_seconds:g} seconds"
    if settings.workers < 1:
        return f"workers must be at least 1, it is {settings.workers}"
    return ""
