from datetime import timedelta

import pytest

from certs.inspection import KeyState, Unreadable
from certs.names import ServingNames, webhook_names
from certs.plan import CA_FILES, LEAF_FILES, Due, FoundPair, Missing, plan
from tests.certs.builders import NAMES, NOW, sound_ca, sound_leaf

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
GARBAGE = Unreadable("not a PEM certificate")
MISSING = Missing.MISSING


@pytest.mark.parametrize(
    ("ca", "leaf"),
    [
        pytest.param(sound_ca(), sound_leaf(), id="both sound"),
        pytest.param(sound_ca(key=KeyState.ABSENT), sound_leaf(), id="the CA's key kept elsewhere"),
        pytest.param(sound_ca(not_after=NOW + 395 * DAY), sound_leaf(), id="CA: 395 days left"),
        pytest.param(sound_ca(), sound_leaf(not_after=NOW + 90 * DAY), id="leaf: 90 days left"),
        pytest.param(sound_ca(not_before=NOW), sound_leaf(not_before=NOW), id="valid from now on"),
        pytest.param(
            sound_ca(),
            sound_leaf(names=ServingNames((*NAMES.dns, "more"), NAMES.addresses)),
            id="more names than wanted",
        ),
    ],
)
def test_nothing_is_due(ca: FoundPair, leaf: FoundPair) -> None:
    found = plan(ca, leaf, NAMES, NOW)

    assert (found.due, found.keep_aside) == (Due.NOTHING, ())


@pytest.mark.parametrize(
    ("leaf", "words", "aside"),
    [
        pytest.param(MISSING, "missing", LEAF_FILES, id="missing"),
        pytest.param(GARBAGE, "not a PEM certificate", LEAF_FILES, id="garbage"),
        pytest.param(
            sound_leaf(key=KeyState.ABSENT), "the key is missing", LEAF_FILES, id="no key"
        ),
        pytest.param(
            sound_leaf(key=KeyState.UNREADABLE), "not a PEM private key", LEAF_FILES, id="bad key"
        ),
        pytest.param(
            sound_leaf(key=KeyState.MISMATCH), "does not belong", LEAF_FILES, id="another key"
        ),
        pytest.param(
            sound_leaf(signed_by_ca=False), "not signed by the CA", LEAF_FILES, id="another CA"
        ),
        pytest.param(
            sound_leaf(server_auth=False), "extendedKeyUsage", LEAF_FILES, id="for clients only"
        ),
        pytest.param(
            sound_leaf(names=webhook_names("other")),
            "lacks the names mgpu-hybrid-webhook.mgpu-system.svc",
            (),
            id="names of another namespace",
        ),
        pytest.param(
            sound_leaf(not_after=NOW + 90 * DAY - SECOND), "within 90 days", (), id="renewal window"
        ),
        pytest.param(sound_leaf(not_after=NOW - SECOND), "expired at 2030-01", (), id="expired"),
        pytest.param(
            sound_leaf(not_before=NOW + SECOND), "not valid before 2030-01", (), id="not yet valid"
        ),
    ],
)
def test_a_leaf_is_due(leaf: FoundPair, words: str, aside: tuple[str, ...]) -> None:
    found = plan(sound_ca(), leaf, NAMES, NOW)

    assert (found.due, found.keep_aside) == (Due.LEAF, aside)
    assert found.reason.startswith("tls.crt: ")
    assert words in found.reason


@pytest.mark.parametrize(
    ("ca", "words"),
    [
        pytest.param(MISSING, "ca.crt: missing", id="missing"),
        pytest.param(GARBAGE, "ca.crt: not a PEM certificate", id="garbage"),
        pytest.param(
            sound_ca(is_ca=False), "ca.crt: it is not a certificate authority", id="no CA"
        ),
        pytest.param(
            sound_ca(key=KeyState.UNREADABLE), "ca.key: the key is not a PEM", id="bad key"
        ),
        pytest.param(
            sound_ca(key=KeyState.MISMATCH), "ca.key: the key does not belong", id="another key"
        ),
        pytest.param(
            sound_ca(not_after=NOW + 395 * DAY - SECOND), "within 395 days", id="renewal window"
        ),
        pytest.param(sound_ca(not_after=NOW - SECOND), "expired at 2030-01", id="expired"),
        pytest.param(
            sound_ca(not_before=NOW + SECOND), "not valid before 2030-01", id="not yet valid"
        ),
    ],
)
def test_a_ca_is_due_and_its_leaf_with_it(ca: FoundPair, words: str) -> None:
    found = plan(ca, sound_leaf(), NAMES, NOW)

    assert (found.due, found.keep_aside) == (Due.CA_AND_LEAF, CA_FILES)
    assert found.reason.startswith(("ca.crt: ", "ca.key: "))
    assert words in found.reason


def test_a_leaf_that_is_due_takes_a_new_ca_where_the_old_one_cannot_sign() -> None:
    leaf = sound_leaf(not_after=NOW - SECOND)

    found = plan(sound_ca(key=KeyState.ABSENT), leaf, NAMES, NOW)

    assert (found.due, found.keep_aside) == (Due.CA_AND_LEAF, CA_FILES)
    assert "expired" in found.reason
    assert "ca.key is missing" in found.reason


def test_a_foreign_leaf_is_kept_aside_too_when_the_ca_is_replaced() -> None:
    found = plan(MISSING, sound_leaf(signed_by_ca=False), NAMES, NOW)

    assert found.keep_aside == CA_FILES + LEAF_FILES
