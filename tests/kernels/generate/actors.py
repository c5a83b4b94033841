# SPDX-License-Identifier: Apache-2.0
"""Actors: messages one after the other, state that lives from message to message."""
from base import *


@case("counter")
def counter(rng):
    value, requests, replies = 1000, [], []
    for messages in range(1, 31):
        add = rng.randrange(-1 << 40, 1 << 40)
        value += add
        requests.append({"add": add})
        replies.append({"value": value, "messages": messages})
    return {"requests": requests, "replies": replies, "state": {"value": 1000, "messages": 0},
            "after": {"state": {"value": value, "messages": 30}}}


class Book:
    """An order book that keeps every order in arrival order and sorts when asked."""

    def __init__(self):
        self.orders = ([], [])
        self.volume = 0
        self.refused = 0

    def ranked(self, side):
        return sorted(self.orders[side], key=lambda order: -order["price"] if side == 0 else order["price"])

    def best(self, side):
        ranked = self.ranked(side)
        return ranked[0]["price"] if ranked else 0

    def place(self, side, order):
        fills = []
        order = dict(order)
        while order["quantity"] and self.orders[1 - side] and len(fills) < 8:
            best = self.ranked(1 - side)[0]
            crosses = best["price"] <= order["price"] if side == 0 else best["price"] >= order["price"]
            if not crosses:
                break
            traded = min(best["quantity"], order["quantity"])
            fills.append({"id": best["id"], "price": best["price"], "quantity": traded})
            order["quantity"] -= traded
            best["quantity"] -= traded
            self.volume += traded
            if not best["quantity"]:
                self.orders[1 - side].remove(best)
        if order["quantity"] and len(self.orders[side]) == 16:
            self.refused += 1
            return failed(1, "the book is full")
        if order["quantity"]:
            self.orders[side].append(order)
        return self.answer(fills, order["quantity"])

    def cancel(self, side, number):
        found = [order for order in self.orders[side] if order["id"] == number]
        if not found:
            self.refused += 1
            return failed(2, "no such order")
        self.orders[side].remove(self.first_ranked(side, number))
        return self.answer([], 0)

    def first_ranked(self, side, number):
        return next(order for order in self.ranked(side) if order["id"] == number)

    def answer(self, fills, rested):
        empty = {"id": 0, "price": 0, "quantity": 0}
        return {"fill_count": len(fills), "rested": rested, "best_bid": self.best(0), "best_ask": self.best(1),
                "volume": self.volume, "fills": fills + [empty] * (8 - len(fills))}


@case("order_book")
def order_book(rng):
    book, requests, replies = Book(), [], []
    for number in range(1, 201):
        action = rng.choice([0, 0, 0, 0, 1, 2])
        side = rng.randrange(2)
        price = rng.randrange(95, 104) + side * 2
        order = {"id": number if action == 0 else rng.randrange(1, number + 1), "price": price,
                 "quantity": rng.randrange(1, 30)}
        requests.append({"action": action, "side": side, "order": order})
        replies.append(book.place(side, order) if action == 0 else
                       book.cancel(side, order["id"]) if action == 1 else book.answer([], 0))
    for action, side in ((3, 0), (0, 2)):
        requests.append({"action": action, "side": side, "order": {"id": 1, "price": 1, "quantity": 1}})
        replies.append(failed(3, "no such side or action"))
    requests.append({"action": 0, "side": 0, "order": {"id": 1, "price": 1, "quantity": 0}})
    replies.append(assertion("order_book", "placed.quantity > 0"))
    return {"requests": requests, "replies": replies}


@case("key_value")
def key_value(rng):
    store, requests, replies, seed, room = {}, [], [], rng.getrandbits(64), 24
    keys = [rng.getrandbits(64) for _ in range(30)]
    for _ in range(150):
        action, key, value = rng.randrange(2), rng.choice(keys), rng.getrandbits(64)
        requests.append({"action": action, "key": key, "value": value})
        if action == 1 and key not in store and len(store) == room:
            replies.append(failed(1, "the store is full"))
            continue
        reply = {"found": int(key in store), "value": store.get(key, 0)}
        if action == 1:
            store[key] = value
        replies.append(dict(reply, used=len(store)))
    entries = [{"key": 0, "value": 0, "taken": 0}] * room
    return {"requests": requests, "replies": replies, "buffers": {"entries": entries, "seed": [seed]},
            "after": {"state": {"used": len(store)}}}
