# SPDX-License-Identifier: Apache-2.0
"""Kernels with a handler for each of several message types."""
from base import *
from parts import TAIL_FULL, WORDS, aligned


def luhn(digits):
    total = 0
    for place, digit in enumerate(digits):
        doubled = digit % 10 * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return int(total % 10 == 0)


def desk_deposit(rng, ledger):
    account, cents = rng.randrange(5), rng.randrange(-10 ** 12, 10 ** 12)
    request = {"type": "deposit", "account": account, "cents": cents}
    if account == 4:
        return request, failed(1, "no such account")
    ledger["cents"][account] += cents
    ledger["deposits"][account] += 1
    return request, {"type": "balance", "cents": ledger["cents"][account], "deposits": ledger["deposits"][account]}


def desk_memo(rng, ledger):
    text = rng.choice(WORDS)
    accounts = [rng.randrange(4) for _ in range(rng.choice([0, 1, 3, 7, 30]))]
    request = {"type": "memo", "text": text, "accounts": accounts}
    if aligned(20, 8) + 8 * len(accounts) + len(text.encode()) > 24 + 160:
        return request, TAIL_FULL
    return request, {"type": "memo_seen", "cents": [ledger["cents"][account] for account in accounts], "text": text}


def desk_bell(rng, ledger):
    time = rng.getrandbits(40)
    ledger["bells"] += time
    return {"type": "bell", "time": time}, NO_REPLY


def desk_card(rng, ledger):
    digits, kind = [rng.randrange(10) for _ in range(16)], rng.randrange(256)
    if rng.randrange(2):
        digits[15] = next(digit for digit in range(10) if luhn(digits[:15] + [digit]))
    return {"card": {"type": kind, "digits": digits}}, {"card_check": {"type": kind, "valid": luhn(digits),
                                                                       "bells": ledger["bells"]}}


@case("desk", lanes=1)
def desk(rng):
    ledger = {"cents": [0, 100, 0, -5], "deposits": [0, 1, 0, 2], "bells": 9}
    start = json.loads(json.dumps(ledger))
    takes = [desk_deposit, desk_memo, desk_bell, desk_card]
    pairs = [rng.choice(takes)(rng, ledger) for _ in range(80)]
    return {"requests": [pair[0] for pair in pairs], "replies": [pair[1] for pair in pairs],
            "state": start, "after": {"state": ledger}}


@case("sorting", lanes=32)
def sorting(rng):
    requests, replies = [], []
    for _ in range(40):
        if rng.randrange(2):
            numbers = [rng.getrandbits(32) for _ in range(rng.choice([0, 1, 5, 32, 33, 60]))]
            requests.append({"type": "numbers", "numbers": numbers})
            replies.append({"type": "total", "sum": sum(numbers) & 0xffffffff, "largest": max(numbers, default=0)})
        else:
            letters = [rng.randrange(256) for _ in range(24)]
            requests.append({"type": "letters", "letters": letters})
            replies.append({"type": "turned", "letters": letters[::-1]})
    return {"requests": requests, "replies": replies}
