# SPDX-License-Identifier: BSD-2-Clause
"""What a check is: a function that returns a line of praise or raises Mismatch."""


class Mismatch(Exception):
    pass


def run(title, check, attempts=1):
    """One line of result. More attempts are for measured times only, on a machine that is shared;
    what is counted must be right at once."""
    for attempt in range(1, attempts + 1):
        try:
            print(f"ok    {title}: {check()}", flush=True)
            return True
        except Mismatch as mismatch:
            last = attempt == attempts
            print(f"{'WRONG' if last else 'again'} {title}: {mismatch}", flush=True)
    return False
