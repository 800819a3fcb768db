"""What can go wrong with certificates, each error saying what, where and what to do next.

No error here is ever given key material: the messages are made of paths, names and dates, and a
failure to parse a key is told in our own words, without the parser's.
"""

from pathlib import Path


class CertificateError(Exception):
    """Base of every error of this package.

    `what` is the fault, `where` the file, directory or setting that has it, `remedy` the next step
    for the person who reads it.
    """

    def __init__(self, what: str, *, where: Path | str, remedy: str) -> None:
        self.what = what
        self.where = str(where)
        self.remedy = remedy
        super().__init__(f"{self.where}: {what}; {remedy}")


class ServingNamesError(CertificateError):
    """A name that no certificate can be issued for, such as a namespace that is no DNS label."""


class CertificateFileError(CertificateError):
    """A file that is there but cannot be read, for a reason other than what it contains."""


class CertificateDirectoryError(CertificateError):
    """A directory that cannot be made, written or locked."""


class ServingPairError(CertificateError):
    """A certificate and key that a server cannot be started with."""
