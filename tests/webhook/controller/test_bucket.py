"""The token bucket."""

from webhook.controller.bucket import BURST_WRITES, WRITES_PER_SECOND, TokenBucket


def taken(bucket: TokenBucket, now_seconds: float) -> int:
    """How many tokens there are at once."""
    return next(count for count in range(1000) if bucket.take(now_seconds))


def test_a_full_bucket_gives_its_burst_and_no_more() -> None:
    assert taken(TokenBucket(7.0), 7.0) == BURST_WRITES


def test_it_says_how_long_until_the_next() -> None:
    bucket = TokenBucket(0.0, per_second=4.0, burst=1)
    assert bucket.take(0.0) == 0.0
    assert bucket.take(0.0) == 0.25
    assert bucket.take(0.125) == 0.125
    assert bucket.take(0.25) == 0.0


def test_it_fills_by_time_and_never_above_the_burst() -> None:
    bucket = TokenBucket(0.0)
    taken(bucket, 0.0)
    assert taken(bucket, 1.0) == WRITES_PER_SECOND
    assert taken(bucket, 1000.0) == BURST_WRITES


def test_a_clock_that_runs_backwards_gives_nothing() -> None:
    bucket = TokenBucket(100.0)
    taken(bucket, 100.0)
    assert taken(bucket, 50.0) == 0
    assert taken(bucket, 101.0) == WRITES_PER_SECOND
