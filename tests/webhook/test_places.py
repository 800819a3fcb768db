"""Who has to go when a port is full: the one that rests longest, never one at work."""

from webhook.places import Places


def full(*connections: str) -> Places[str]:
    places: Places[str] = Places(len(connections))
    assert [places.enter(each) for each in connections] == [None] * len(connections)
    return places


def test_the_one_that_rests_longest_goes() -> None:
    places = full("a", "b")
    assert [places.enter(each) for each in ("c", "d")] == ["a", "b"]


def test_a_sign_of_life_counts() -> None:
    places = full("a", "b")
    places.rest("a")
    assert places.enter("c") == "b"


def test_one_at_work_stays_and_rests_from_its_end() -> None:
    places = full("a", "b")
    places.work("a")
    assert places.enter("c") == "b"
    places.rest("a")
    assert places.enter("d") == "c"


def test_when_all_are_at_work_the_newcomer_goes_itself() -> None:
    places = full("a", "b")
    places.work("a")
    places.work("b")
    assert places.enter("c") == "c"
    places.leave("a")
    assert places.enter("d") is None


def test_one_that_had_to_go_has_no_place_any_more() -> None:
    places = full("a")
    assert places.enter("b") == "a"
    places.work("a")
    places.rest("a")
    places.leave("a")
    assert places.enter("c") == "b"
