"""Robust numbers from noisy ones."""
import random

RESAMPLES = 4000


def percentile(values, share):
    """The value below which `share` of them lie, between the two nearest ones."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def median(values):
    return percentile(values, 0.5)


def interval(pairs, estimate):
    """(estimate, low, high): 95 % interval by bootstrap over the pairs; fixed seed."""
    source = random.Random(1)
    draws = [
        estimate([source.choice(pairs) for _ in pairs]) for _ in range(RESAMPLES if pairs else 0)
    ]
    return estimate(pairs), percentile(draws, 0.025), percentile(draws, 0.975)


def median_interval(values):
    return interval(values, median)


def ratio_interval(pairs):
    """Median of the first divided by median of the second, of pairs measured side by side."""

    def ratio(sample):
        below = median([b for _, b in sample])
        return median([a for a, _ in sample]) / below if below else float("nan")

    return interval(pairs, ratio)
