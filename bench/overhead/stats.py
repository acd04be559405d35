"""Robust numbers from noisy ones."""
import random

RESAMPLES = 4000
FEWEST = 3  # values, for an interval


def percentile(values, share):
    """The value below which `share` of them lie, between the two nearest ones."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median(values):
    return percentile(values, 0.5)


def interval(estimate, *samples):
    """(estimate, low, high): 95 % interval by bootstrap over each of the samples; fixed seed. Without
    bounds (NaN) where one has too few values."""
    if min(map(len, samples)) < FEWEST:
        return estimate(*samples), float("nan"), float("nan")
    source = random.Random(1)
    draws = [
        estimate(*([source.choice(values) for _ in values] for values in samples))
        for _ in range(RESAMPLES)
    ]
    return estimate(*samples), percentile(draws, 0.025), percentile(draws, 0.975)


def median_interval(values):
    return interval(median, values)


def ratio_interval(above, below):
    """Median of the first divided by median of the second. There may be more of the one than of the
    other: a pair that was unsteady is not repeated for both."""

    def ratio(a, b):
        divisor = median(b)
        return median(a) / divisor if divisor else float("nan")

    return interval(ratio, above, below)
