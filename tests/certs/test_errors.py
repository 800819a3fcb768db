from pathlib import Path

from certs.errors import CertificateDirectoryError, CertificateError


def test_an_error_says_where_what_and_what_to_do() -> None:
    error = CertificateDirectoryError("is full", where=Path("/x"), remedy="make room")

    assert isinstance(error, CertificateError)
    assert str(error) == "/x: is full; make room"
    assert (error.what, error.where, error.remedy) == ("is full", "/x", "make room")
