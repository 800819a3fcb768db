import multiprocessing
import os
import ssl
import stat
from collections.abc import Callable
from datetime import datetime, timedelta
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519

from certs.authority import issue_ca, issue_leaf
from certs.directory import ServingFiles, ensure_serving_certificate
from certs.errors import CertificateDirectoryError, CertificateFileError
from certs.inspection import Inspection, inspect
from certs.names import ServingNames, webhook_names
from certs.plan import Due
from tests.certs.builders import NAMES, NOW, encrypted, self_signed

RACERS = 4
FILES = ("ca.crt", "ca.key", "tls.crt", "tls.key")


def ensure(directory: Path, now: datetime = NOW, names: ServingNames = NAMES) -> ServingFiles:
    return ensure_serving_certificate(directory, names, now)


def contents(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in FILES}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def assert_sound(files: ServingFiles, now: datetime = NOW) -> None:
    found = inspect(
        files.certificate.read_bytes(), now, key=files.key.read_bytes(), ca=files.ca.read_bytes()
    )
    assert isinstance(found, Inspection)
    assert found.problems == ()
    assert NAMES.missing_from(found.names) == ()


def test_an_empty_path_becomes_a_private_directory_with_a_sound_pair(tmp_path: Path) -> None:
    directory = tmp_path / "below" / "tls"
    files = ensure(directory)

    assert_sound(files)
    assert (files.done, files.reason) == (Due.CA_AND_LEAF, "ca.crt: missing")
    assert files.kept_aside == ()
    assert mode(directory) == 0o700
    assert {path.name: mode(path) for path in directory.iterdir()} == {
        "ca.crt": 0o644,
        "ca.key": 0o600,
        "tls.crt": 0o644,
        "tls.key": 0o600,
        ".lock": 0o600,
    }


def test_openssl_takes_the_files_as_they_are(tmp_path: Path) -> None:
    files = ensure(tmp_path)

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key)
    ssl.create_default_context(cafile=files.ca)


def test_a_sound_pair_is_used_again(tmp_path: Path) -> None:
    ensure(tmp_path)
    before = contents(tmp_path)

    files = ensure(tmp_path, NOW + timedelta(days=200))

    assert (files.done, files.kept_aside) == (Due.NOTHING, ())
    assert contents(tmp_path) == before


def test_an_ageing_leaf_is_replaced_and_the_ca_stays(tmp_path: Path) -> None:
    ensure(tmp_path)
    before, later = contents(tmp_path), NOW + timedelta(days=300)

    files = ensure(tmp_path, later)

    after = contents(tmp_path)
    assert (files.done, files.kept_aside) == (Due.LEAF, ())
    assert [name for name in FILES if after[name] == before[name]] == ["ca.crt", "ca.key"]
    assert_sound(files, later)


def test_other_names_need_another_leaf(tmp_path: Path) -> None:
    ensure(tmp_path, names=webhook_names("other"))

    files = ensure(tmp_path)

    assert (files.done, files.kept_aside) == (Due.LEAF, ())
    assert_sound(files)


def test_an_ageing_ca_is_replaced_with_its_leaf(tmp_path: Path) -> None:
    ensure(tmp_path)
    before, later = contents(tmp_path), NOW + timedelta(days=3400)

    files = ensure(tmp_path, later)

    after = contents(tmp_path)
    assert files.done is Due.CA_AND_LEAF
    assert [path.name for path in files.kept_aside] == ["ca.crt.rejected-1", "ca.key.rejected-1"]
    assert [name for name in FILES if after[name] == before[name]] == []
    assert_sound(files, later)


def damage(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Replace a file's content by what `change` makes of it."""

    def apply(directory: Path) -> None:
        (directory / name).write_bytes(change((directory / name).read_bytes()))

    return apply


def another_pair(directory: Path) -> None:
    """Somebody's own certificate and key, under the names of ours."""
    stranger = issue_leaf(issue_ca(NOW), NAMES, NOW)
    (directory / "tls.crt").write_bytes(stranger.certificate)
    (directory / "tls.key").write_bytes(stranger.key)


CA_KEPT, TLS_KEPT = ["ca.crt", "ca.key"], ["tls.crt", "tls.key"]


@pytest.mark.parametrize(
    ("spoil", "done", "kept"),
    [
        pytest.param(damage("tls.crt", lambda _: b"junk"), Due.LEAF, TLS_KEPT, id="leaf garbage"),
        pytest.param(damage("tls.crt", lambda _: b""), Due.LEAF, TLS_KEPT, id="leaf empty"),
        pytest.param(
            damage("tls.crt", lambda old: old[:-50]), Due.LEAF, TLS_KEPT, id="leaf half written"
        ),
        pytest.param(
            damage("tls.key", lambda old: old[:-50]), Due.LEAF, TLS_KEPT, id="key half written"
        ),
        pytest.param(damage("tls.key", encrypted), Due.LEAF, TLS_KEPT, id="key with a passphrase"),
        pytest.param(another_pair, Due.LEAF, TLS_KEPT, id="somebody's own pair"),
        pytest.param(
            lambda path: (path / "tls.crt").unlink(), Due.LEAF, ["tls.key"], id="leaf missing"
        ),
        pytest.param(
            lambda path: (path / "tls.key").unlink(), Due.LEAF, ["tls.crt"], id="key missing"
        ),
        pytest.param(
            damage("ca.crt", lambda _: b"\x00"),
            Due.CA_AND_LEAF,
            CA_KEPT + TLS_KEPT,
            id="CA garbage",
        ),
        pytest.param(
            damage("ca.key", lambda _: b"\x00"), Due.CA_AND_LEAF, CA_KEPT, id="CA key garbage"
        ),
        pytest.param(
            lambda path: (path / "ca.crt").unlink(),
            Due.CA_AND_LEAF,
            ["ca.key", *TLS_KEPT],
            id="CA missing",
        ),
    ],
)
def test_what_is_spoilt_is_kept_aside_and_replaced(
    tmp_path: Path, spoil: Callable[[Path], None], done: Due, kept: list[str]
) -> None:
    ensure(tmp_path)
    spoil(tmp_path)
    spoilt = {name: (tmp_path / name).read_bytes() for name in kept}

    files = ensure(tmp_path)

    assert files.done is done
    assert files.kept_aside == tuple(tmp_path / f"{name}.rejected-1" for name in kept)
    for path, name in zip(files.kept_aside, kept, strict=True):
        assert path.read_bytes() == spoilt[name]
        assert mode(path) == 0o600
    assert_sound(files)
    assert ensure(tmp_path).done is Due.NOTHING


def test_each_rejection_has_a_number_of_its_own(tmp_path: Path) -> None:
    for content in (b"first", b"second"):
        ensure(tmp_path)
        (tmp_path / "tls.crt").write_bytes(content)
    ensure(tmp_path)

    assert (tmp_path / "tls.crt.rejected-1").read_bytes() == b"first"
    assert (tmp_path / "tls.crt.rejected-2").read_bytes() == b"second"


def test_a_ca_key_kept_elsewhere_is_not_missed_until_it_is_needed(tmp_path: Path) -> None:
    ensure(tmp_path)
    (tmp_path / "ca.key").unlink()

    assert ensure(tmp_path).done is Due.NOTHING
    later = ensure(tmp_path, NOW + timedelta(days=300))
    assert (later.done, later.kept_aside) == (
        Due.CA_AND_LEAF,
        (tmp_path / "ca.crt.rejected-1",),
    )


def test_a_key_that_others_may_read_is_closed_to_them(tmp_path: Path) -> None:
    files = ensure(tmp_path)
    files.key.chmod(0o644)

    assert ensure(tmp_path).done is Due.NOTHING
    assert mode(files.key) == 0o600


def test_a_linked_key_keeps_the_mode_that_its_owner_gave_it(tmp_path: Path) -> None:
    files = ensure(tmp_path / "tls")
    elsewhere = files.key.rename(tmp_path / "elsewhere.key")
    elsewhere.chmod(0o640)
    files.key.symlink_to(elsewhere)

    assert ensure(tmp_path / "tls").done is Due.NOTHING
    assert mode(elsewhere) == 0o640


def test_the_leftovers_of_a_process_that_died_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".writing-abc").write_bytes(b"half a key")

    ensure(tmp_path)

    assert not (tmp_path / ".writing-abc").exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param([], ["ca.key"], id="after the CA's key"),
        pytest.param([], ["ca.key", "ca.crt"], id="after the CA"),
        pytest.param([], ["ca.key", "ca.crt", "tls.key"], id="after the leaf's key"),
        pytest.param(FILES, ["ca.key"], id="renewal, after the CA's key"),
        pytest.param(FILES, ["ca.key", "ca.crt"], id="renewal, after the CA"),
        pytest.param(FILES, ["tls.key"], id="renewal, after the leaf's key"),
    ],
)
def test_a_death_between_two_files_is_mended(
    tmp_path: Path, old: list[str], new: list[str]
) -> None:
    for source, names in (("old", old), ("new", new)):
        ensure(tmp_path / source)
        for name in names:
            (tmp_path / name).write_bytes((tmp_path / source / name).read_bytes())

    files = ensure(tmp_path)

    assert files.done is not Due.NOTHING
    assert_sound(files)


def test_a_directory_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    ensure(tmp_path)
    (tmp_path / "tls.crt").unlink()
    (tmp_path / "tls.crt").mkdir()

    with pytest.raises(CertificateFileError, match=r"tls\.crt: is not a regular file"):
        ensure(tmp_path)


def test_a_ca_that_cannot_sign_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    ca = self_signed(constraints, key=ed25519.Ed25519PrivateKey.generate(), days=1000)
    spoilt = {"ca.crt": ca.certificate, "ca.key": ca.key, "tls.crt": b"junk", "tls.key": b"junk"}
    for name, content in spoilt.items():
        (tmp_path / name).write_bytes(content)

    with pytest.raises(CertificateFileError, match="a key of this kind"):
        ensure(tmp_path)
    assert contents(tmp_path) == spoilt


@pytest.mark.parametrize("path", ["file", "file/below"])
def test_a_path_that_cannot_be_a_directory_is_an_error(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(CertificateDirectoryError, match="cannot be made"):
        ensure(tmp_path / path)


def test_no_key_shows_in_an_error_or_a_result(tmp_path: Path) -> None:
    ensure(tmp_path)
    key = (tmp_path / "tls.key").read_bytes()
    (tmp_path / "tls.key").write_bytes(key[:-50])

    told = repr(ensure(tmp_path))

    assert not any(line in told for line in key.decode().splitlines()[1:-1])


def race(directory: Path, barrier: Barrier) -> None:
    """Start at the same moment as the others and check what came of it."""
    barrier.wait(60)
    files = ensure(directory)
    assert_sound(files)
    certificate = files.certificate.read_bytes()
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key)
    (directory / f"seen-{os.getpid()}-{files.done.name}").write_bytes(certificate)


@pytest.mark.parametrize("spoil", [False, True], ids=["empty", "garbage"])
def test_processes_that_start_at_once_end_with_one_pair(tmp_path: Path, *, spoil: bool) -> None:
    if spoil:
        for name in FILES:
            (tmp_path / name).write_bytes(b"garbage")
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(RACERS)
    racers = [spawn.Process(target=race, args=(tmp_path, barrier)) for _ in range(RACERS)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(120)

    assert [racer.exitcode for racer in racers] == [0] * RACERS
    seen = list(tmp_path.glob("seen-*"))
    assert {path.read_bytes() for path in seen} == {(tmp_path / "tls.crt").read_bytes()}
    done = sorted(path.name.rpartition("-")[2] for path in seen)
    assert done == ["CA_AND_LEAF"] + ["NOTHING"] * (RACERS - 1)
    assert len(list(tmp_path.glob("*.rejected-*"))) == (len(FILES) if spoil else 0)
