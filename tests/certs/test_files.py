import os
import stat
from pathlib import Path

import pytest

from certs.errors import CertificateDirectoryError, CertificateFileError
from certs.files import MAX_FILE_BYTES, read_file, write_file


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * MAX_FILE_BYTES)

    assert read_file(path) == b"x" * MAX_FILE_BYTES


@pytest.mark.parametrize("name", ["absent", "absent/below", "dangling"])
def test_no_file_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")

    assert read_file(tmp_path / name) is None


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to("file")

    assert read_file(tmp_path / "link") == b"x"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(CertificateFileError, match="not a regular file"):
        read_file(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("directory", "not a regular file", id="directory"),
        pytest.param("large", "larger than 1048576 bytes", id="one byte too large"),
        pytest.param("loop", "cannot be read", id="link to itself"),
        pytest.param("large/below", "cannot be read", id="below a file"),
    ],
)
def test_what_is_no_file_for_us(tmp_path: Path, path: str, words: str) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "large").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(CertificateFileError, match=words) as caught:
        read_file(tmp_path / path)
    assert str(tmp_path / path) in str(caught.value)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_is_written_with_its_mode_whatever_the_umask(tmp_path: Path, mode: int) -> None:
    before = os.umask(0o077)
    try:
        write_file(tmp_path / "file", b"content", mode=mode)
    finally:
        os.umask(before)

    assert (tmp_path / "file").read_bytes() == b"content"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == mode
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_reader_keeps_the_whole_old_file(tmp_path: Path) -> None:
    write_file(tmp_path / "file", b"old", mode=0o600)

    with (tmp_path / "file").open("rb") as reader:
        write_file(tmp_path / "file", b"new", mode=0o600)
        assert reader.read() == b"old"
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()

    with pytest.raises(CertificateDirectoryError, match="taken cannot be written"):
        write_file(tmp_path / "taken", b"content", mode=0o600)
    assert list(tmp_path.iterdir()) == [tmp_path / "taken"]


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CertificateDirectoryError, match="cannot be written"):
        write_file(tmp_path / "absent" / "file", b"content", mode=0o600)
