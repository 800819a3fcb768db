import stat
from pathlib import Path

import pytest

from certs.errors import CertificateDirectoryError
from certs.lock import LOCK_FILE, locked


def test_a_second_holder_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(CertificateDirectoryError, match="another process"),
        locked(tmp_path, attempts=1),
    ):
        pass
    with locked(tmp_path, attempts=1):
        assert stat.S_IMODE((tmp_path / LOCK_FILE).stat().st_mode) == 0o600


def test_a_failure_inside_lets_go(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path):
        raise KeyError
    with locked(tmp_path, attempts=1):
        pass


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CertificateDirectoryError, match="cannot be opened"), locked(tmp_path / "x"):
        pass
