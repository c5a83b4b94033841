# SPDX-License-Identifier: Apache-2.0
"""Message types: from the fields that Gyre reflects to NumPy types, and between Python values and bytes."""

from __future__ import annotations

import functools
import struct
import uuid
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from ._native import ffi, lib
from .errors import check, text_of

RECORD, NONE, ID128, SPAN, UTF8, OPTIONAL, CHOICE, PACKET = 0, 11, 12, 13, 14, 15, 16, 17
_PARTS = (SPAN, UTF8, OPTIONAL)
_NUMPY = {1: "<i1", 2: "<i2", 3: "<i4", 4: "<i8", 5: "<u1", 6: "<u2", 7: "<u4", 8: "<u8", 9: "<f4", 10: "<f8"}
_STRUCT = {1: "b", 2: "h", 3: "i", 4: "q", 5: "B", 6: "H", 7: "I", 8: "Q", 9: "f", 10: "d"}
_PART_DTYPE = np.dtype([("offset", "<u4"), ("count", "<u4")])
_FAR = 0x80000000
_FRONT = struct.Struct("<II")  # gyre_used and gyre_choice of a protocol's message


class Message(tuple):  # type: ignore[type-arg]
    """A message that was received: a tuple of its fields, which are attributes too. Each type has a class of its own."""

    __slots__ = ()
    _fields: Tuple[str, ...] = ()

    def __reduce__(self) -> Any:
        return _message_of, (type(self).__name__, self._fields, tuple(self))

    def asdict(self) -> Dict[str, Any]:
        """The fields by their names."""
        return dict(zip(self._fields, self))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'{type(self).__name__}' has no field '{name}'; its fields are {', '.join(self._fields)}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in zip(self._fields, self))})"


@functools.lru_cache(maxsize=1024)
def _message_class(name: str, fields: Tuple[str, ...]) -> Any:
    """The class of a type's messages. Launches of the same handler share it, because making a class is the dearest part of reading
    a type."""
    members: Dict[str, Any] = {"__slots__": (), "_fields": fields, "__module__": __name__}
    for number, field in enumerate(fields):
        if field not in members:
            members[field] = property(itemgetter(number))
    return type(name, (Message,), members)


def _message_of(name: str, fields: Tuple[str, ...], values: Tuple[Any, ...]) -> Any:
    """For pickle and copy: a message with the class of its type."""
    return tuple.__new__(_message_class(name, fields), values)


class Field:
    """A field of a message type."""

    __slots__ = ("name", "type", "offset", "shape", "count")

    def __init__(self, name: str, kind: "MessageType", offset: int, shape: Tuple[int, ...], count: int) -> None:
        self.name, self.type, self.offset, self.shape, self.count = name, kind, offset, shape, count

    def __repr__(self) -> str:
        dimensions = "".join(f"[{n}]" for n in self.shape)
        return f"<{self.type.name} {self.name}{dimensions} at {self.offset}>"


def _fields_of(handle: Any, count: int) -> List[Field]:
    found = []
    for number in range(count):
        info = ffi.new("gyre_field_info *", {"size": ffi.sizeof("gyre_field_info")})
        check(lib.gyre_field_get(handle, number, info))
        shape = tuple(info.dimensions[i] for i in range(info.dimension_count))
        found.append(Field(text_of(info.name), _type_of_field(info), info.offset, shape, info.count))
    return found


_numbers: "Dict[int, MessageType]" = {}  # by kind


def _type_of_field(info: Any) -> "MessageType":
    """The type of a field's elements. That of plain numbers is the same in every message, so it is read once."""
    if info.kind not in _NUMPY:
        return MessageType(info.type)
    if info.kind not in _numbers:
        _numbers[info.kind] = MessageType(info.type)
    return _numbers[info.kind]


class MessageType:
    """A type of messages, states or buffers, as Gyre reflects it.

    `dtype` is its NumPy type: names, formats and offsets are those of the C struct. A message with a tail has the fields
    of its fixed part there; `pack` and `unpack` know its texts and spans.
    """

    def __init__(self, pointer: Any) -> None:
        out = ffi.new("gyre_fields **")
        check(lib.gyre_fields_read(pointer, out))
        handle = ffi.gc(out[0], lib.gyre_fields_release)
        info = ffi.new("gyre_fields_info *", {"size": ffi.sizeof("gyre_fields_info")})
        check(lib.gyre_fields_info_get(handle, info))
        self.name: str = text_of(info.name)
        self.kind: int = info.kind
        self.size: int = info.bytes
        self.alignment: int = info.alignment
        self.tail: int = info.tail
        self.least: int = info.least
        self.items: Optional[MessageType] = MessageType(info.items) if info.items else None
        self.fields: List[Field] = _fields_of(handle, info.fields)
        # of a protocol's message: the types that it may be, in the order of their numbers
        choices = info.choices if self.kind == CHOICE else 0
        self.choices = [MessageType(lib.gyre_fields_choice(handle, number + 1)) for number in range(choices)]
        self.dtype: Any = self._make_dtype()
        self._names = tuple(field.name for field in self.fields)
        self._known = frozenset(self._names)
        self._class = _message_class(self.name, self._names)
        self._struct = self._make_struct()

    def __repr__(self) -> str:
        return f"<gyre type {self.name}, {self.size} bytes: {', '.join(self._names) or 'no fields'}>"

    # ---- layouts ----

    def _make_dtype(self) -> Any:
        if self.kind in _NUMPY:
            return np.dtype(_NUMPY[self.kind])
        if self.kind == ID128:
            return np.dtype(("u1", 16))
        if self.kind in _PARTS:
            return _PART_DTYPE
        parts: List[Tuple[str, Any, int]] = []
        if self.tail or self.kind in (CHOICE, PACKET):
            parts.append(("gyre_used", "<u4", 0))
        if self.kind == CHOICE:
            parts.append(("gyre_choice", "<u4", 4))
        for field in self.fields:
            parts.append((field.name, (field.type.dtype, field.shape) if field.shape else field.type.dtype, field.offset))
        begin = {CHOICE: 8, PACKET: 4}.get(self.kind, self.least)
        if parts and parts[0][0] == "gyre_used" and self.size > begin:
            # a field, because NumPy need not copy what is none
            parts.append(("gyre_tail", f"V{self.size - begin}", begin))
        names, formats, offsets = zip(*parts) if parts else ((), (), ())
        layout: Any = {"names": list(names), "formats": list(formats), "offsets": list(offsets), "itemsize": self.size}
        return np.dtype(layout)

    def _make_struct(self) -> Optional[struct.Struct]:
        """For a message of plain numbers, which the module struct converts fastest; else None."""
        if self.kind != RECORD or self.tail or not self.fields:
            return None
        text, at = "<", 0
        for field in self.fields:
            if field.type.kind not in _STRUCT or field.shape:
                return None
            text += f"{field.offset - at}x{_STRUCT[field.type.kind]}"
            at = field.offset + field.type.size
        return struct.Struct(f"{text}{self.size - at}x")

    # ---- to bytes ----

    def pack(self, message: Any = None, /, **values: Any) -> bytes:
        """The bytes of a message. Fields that are not named are zero, texts and spans empty."""
        if isinstance(message, (bytes, bytearray, memoryview, np.void)):
            if values:
                raise TypeError(f"'{self.name}': fields cannot be added to a message that is bytes already")
            return self._whole(message.tobytes() if isinstance(message, np.void) else bytes(message))
        if message is not None:
            values = {**_mapping_of(self, message), **values}
        if self._struct is not None and values.keys() <= self._known:
            try:
                return self._struct.pack(*[values.get(name, 0) for name in self._names])
            except struct.error:
                pass  # the general way has the sentence
        return self._pack_general(values)

    def _whole(self, message: bytes) -> bytes:
        if len(message) == self.size or (self.tail and self.least <= len(message) <= self.size):
            return message
        sizes = f"{self.least} to {self.size}" if self.tail else self.size
        raise ValueError(f"a message of type '{self.name}' has {sizes} bytes, found {len(message)}")

    def _pack_general(self, values: Mapping[str, Any]) -> bytes:
        if self.kind == CHOICE:
            return self._pack_choice(values)
        if self.kind == PACKET:
            raise NotImplementedError(f"'{self.name}' is a message in a wire form: pass its bytes")
        if self.size == 0 and not values:
            return b""
        room = ffi.new("char[]", max(self.size, 8))
        out = _Out(room, self.size)
        if self.tail:
            ffi.cast("uint32_t *", room)[0] = self.least
        out.record(self, 0, values)
        used = ffi.cast("uint32_t *", room)[0] if self.tail else self.size
        return bytes(ffi.buffer(room, used))

    def _pack_choice(self, values: Mapping[str, Any]) -> bytes:
        names = [choice.name for choice in self.choices]
        if len(values) != 1 or next(iter(values)) not in names:
            given = ", ".join(values) or "nothing"
            raise TypeError(f"'{self.name}' is one message of {', '.join(names)}: expected one of these, found {given}")
        name, message = next(iter(values.items()))
        number = names.index(name)
        inner = self.choices[number].pack(message)
        return _FRONT.pack(_FRONT.size + len(inner), number + 1) + inner

    def array(self, messages: Any) -> Any:
        """A NumPy array of messages that are given as mappings, one after another; for types with tails too."""
        check_messages(self, messages)
        rows = [self.pack(message) for message in messages]
        whole = b"".join(row.ljust(self.size, b"\0") for row in rows)
        return np.frombuffer(bytearray(whole), self.dtype, len(rows)) if self.size else np.zeros(len(rows), self.dtype)

    def convert(self, array: Any) -> Any:
        """An array of messages in the layout of this type. Fields are taken by their names, those that are missing are zero, and
        numbers have to fit. A type of one number also takes an array of plain numbers."""
        if array.dtype == self.dtype:
            return np.ascontiguousarray(array)
        if self.kind != RECORD or self.tail:
            if array.dtype.names != self.dtype.names:
                raise TypeError(f"'{self.name}': expected an array of {self.dtype}, or mappings, found {array.dtype}")
            return np.ascontiguousarray(array, self.dtype)
        out = np.zeros(array.shape, self.dtype)
        if array.dtype.names is None and len(self.fields) == 1 and not self.fields[0].shape:
            only = self.fields[0]
            _convert(only.type, out[only.name], array, f"{self.name}.{only.name}")
        else:
            _convert(self, out, array, self.name)
        return out

    # ---- from bytes ----

    def unpack(self, message: Any, lane: Any = None) -> Any:
        """The message in these bytes: numbers, arrays, texts and spans by attributes. Copies everything."""
        if self._struct is not None and len(message) >= self.size:
            return tuple.__new__(self._class, self._struct.unpack_from(message))
        data = bytes(message)
        if self.kind == RECORD and len(data) < (self.least if self.tail else self.size):
            least = self.least if self.tail else self.size
            raise ValueError(f"a message of type '{self.name}' has {least} bytes at least, found {len(data)}")
        return _In(data.ljust(self.size, b"\0"), len(data), lane).value(self, 0)


def _mapping_of(kind: MessageType, message: Any) -> Dict[str, Any]:
    if isinstance(message, Message):
        return message.asdict()
    if isinstance(message, Mapping):
        return dict(message)
    raise TypeError(
        f"'{kind.name}': expected the fields by name, a mapping, a received message or bytes, found {type(message).__name__}"
    )


def check_messages(kind: MessageType, messages: Any) -> None:
    """TypeError unless these are messages one after another, and not one message."""
    one = isinstance(messages, (str, bytes, bytearray, memoryview, np.void, Mapping, Message))
    if one or not isinstance(messages, Iterable):
        raise TypeError(f"'{kind.name}': expected an array or an iterable of messages, found {type(messages).__name__}")


def _convert(kind: MessageType, out: Any, given: Any, where: str) -> None:
    """Stores an array of another layout. What lies deeper has to have the same shape."""
    if given.shape != out.shape:
        raise ValueError(f"'{where}': expected an array of the shape {out.shape}, found {given.shape}")
    if kind.kind in _NUMPY:
        out[...] = _checked_array(kind, given, where)
    elif kind.kind != RECORD:
        if given.dtype != out.dtype:
            raise TypeError(f"'{where}': expected an array of {out.dtype}, found {given.dtype}")
        out[...] = given
    else:
        names = given.dtype.names or ()
        unknown = [name for name in names if name not in kind._known]
        if unknown or not names:
            found = f"the field '{unknown[0]}'" if unknown else f"an array of {given.dtype}"
            raise TypeError(f"'{where}': expected an array with the fields {', '.join(kind._names)}, found {found}")
        for field in kind.fields:
            if field.name in names:
                _convert(field.type, out[field.name], given[field.name], f"{where}.{field.name}")


def _listed(value: Any, where: str) -> List[Any]:
    if isinstance(value, (str, bytes, Mapping, Message)) or not isinstance(value, Iterable):
        raise TypeError(f"'{where}': expected a list, found {type(value).__name__}")
    return list(value)


def _bytes_of(value: Any, where: str, what: str) -> bytes:
    """Bytes, or the memory of an array; not the many zeros that bytes() makes of a number."""
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"'{where}': expected {what}, found {type(value).__name__}") from None


def _bytes_of_id(value: Any, where: str) -> bytes:
    given = uuid.UUID(value) if isinstance(value, str) else value
    data = given.bytes if isinstance(given, uuid.UUID) else _bytes_of(given, where, "a uuid.UUID, a str or 16 bytes")
    if len(data) != 16:
        raise ValueError(f"'{where}': expected 16 bytes, found {len(data)}")
    return data


class _Out:
    """Writes values into the bytes of a message; Gyre itself places what lies in the tail."""

    def __init__(self, room: Any, size: int) -> None:
        self.room, self.size = room, size
        self.bytes = np.frombuffer(ffi.buffer(room, size), np.uint8) if size else np.zeros(0, np.uint8)

    def record(self, kind: MessageType, at: int, values: Any) -> None:
        values = _mapping_of(kind, values)
        unknown = [name for name in values if name not in kind._known]
        if unknown:
            raise TypeError(f"'{kind.name}' has no field '{unknown[0]}'; its fields are {', '.join(kind._names) or 'none'}")
        for field in kind.fields:
            if field.name in values:
                self.field(kind, field, at + field.offset, values[field.name])

    def field(self, kind: MessageType, field: Field, at: int, value: Any) -> None:
        where = f"{kind.name}.{field.name}"
        if not field.shape:
            self.value(field.type, at, value, where)
        elif field.type.kind in _NUMPY:
            self.numbers(field, at, value, where)
        else:
            self.elements(field.type, at, value, field.shape, where)

    def elements(self, kind: MessageType, at: int, value: Any, shape: Tuple[int, ...], where: str) -> None:
        if not shape:
            return self.value(kind, at, value, where)
        value = _listed(value, where)
        if len(value) != shape[0]:
            raise ValueError(f"'{where}': expected {shape[0]} elements, found {len(value)}")
        step = kind.size
        for count in shape[1:]:
            step *= count
        for number, element in enumerate(value):
            self.elements(kind, at + number * step, element, shape[1:], f"{where}[{number}]")
        return None

    def numbers(self, field: Field, at: int, value: Any, where: str) -> None:
        if field.type.size == 1 and isinstance(value, (str, bytes, bytearray)):
            return self.characters(field, at, value, where)
        given = _checked_array(field.type, value, where)
        if given.shape not in ((), field.shape):
            raise ValueError(f"'{where}': expected numbers of the shape {field.shape}, found {given.shape}")
        place = self.bytes[at : at + field.count * field.type.size].view(field.type.dtype)
        place.reshape(field.shape)[...] = given
        return None

    def characters(self, field: Field, at: int, value: Any, where: str) -> None:
        """Text in an array of bytes; zeros follow."""
        text = value.encode() if isinstance(value, str) else bytes(value)
        if len(text) > field.count:
            raise ValueError(f"'{where}': expected at most {field.count} bytes, found {len(text)}")
        self.bytes[at : at + len(text)] = np.frombuffer(text, np.uint8)

    def value(self, kind: MessageType, at: int, value: Any, where: str) -> None:
        if kind.kind in _NUMPY:
            given = _checked_array(kind, value, where)
            if given.size != 1:
                raise TypeError(f"'{where}' is {kind.name}: expected one number, found {value!r:.60}")
            self.bytes[at : at + kind.size].view(kind.dtype)[0] = given.reshape(())
        elif kind.kind == ID128:
            self.bytes[at : at + 16] = np.frombuffer(_bytes_of_id(value, where), np.uint8)
        elif kind.kind in _PARTS:
            self.part(kind, at, value, where)
        else:
            self.record(kind, at, value)

    def put(self, at: int, items: Any, item_size: int, count: int) -> int:
        part = ffi.cast("gyre_part *", self.room + at)
        check(lib.gyre_message_put(self.room, self.size, part, items, item_size, count))
        return int(part.offset)

    def part(self, kind: MessageType, at: int, value: Any, where: str) -> None:
        items = kind.items
        assert items is not None
        if kind.kind == UTF8:
            text = value.encode() if isinstance(value, str) else _bytes_of(value, where, "a str or bytes")
            self.put(at, ffi.from_buffer(text) if text else ffi.NULL, 1, len(text))
        elif kind.kind == OPTIONAL:
            if value is not None:
                self.list(items, at, [value], where)
        elif items.kind in _NUMPY:
            given = np.ascontiguousarray(_checked_array(items, value, where), items.dtype).reshape(-1)
            self.put(at, ffi.from_buffer(given) if given.size else ffi.NULL, items.size, given.size)
        else:
            self.list(items, at, _listed(value, where), where)

    def list(self, items: MessageType, at: int, values: List[Any], where: str) -> None:
        first = self.put(at, ffi.NULL, items.size, len(values))
        for number, value in enumerate(values):
            self.value(items, first + number * items.size, value, f"{where}[{number}]")


def _are(kind: Any, given: Any) -> bool:
    return all(isinstance(item, kind) for item in given.flat)


def _checked_array(kind: MessageType, value: Any, where: str) -> Any:
    """The value as an array of numbers that the type can hold."""
    try:
        given = np.asarray(value)
    except ValueError:  # lists of several lengths
        raise ValueError(f"'{where}' is {kind.name}: expected as many numbers in each row, found {value!r:.60}") from None
    if given.dtype == kind.dtype or (given.size == 0 and given.dtype != object):
        return given
    if given.dtype.kind not in "biufO" or (given.dtype == object and not _are(Real, given)):
        raise TypeError(f"'{where}' is {kind.name}: expected a number, found {value!r:.60}")
    if kind.dtype.kind == "f":
        try:
            return given.astype(kind.dtype)
        except OverflowError:
            raise ValueError(f"'{where}' is {kind.name}: expected a number that it can hold, found {value!r:.60}") from None
    limits = np.iinfo(kind.dtype)
    is_whole = np.all(given == np.floor(given)) if given.dtype.kind == "f" else given.dtype != object or _are(Integral, given)
    if not is_whole:
        raise TypeError(f"'{where}' is {kind.name}: expected a whole number, found {value!r:.60}")
    # as a float, the largest number of 64 bits is the first that does not fit
    below = float(given.max()) < float(limits.max) + 1 if given.dtype.kind == "f" else given.max() <= limits.max
    if not (limits.min <= given.min() and below):
        raise ValueError(f"'{where}' is {kind.name}: expected {limits.min} to {limits.max}, found {value!r:.60}")
    return given.astype(kind.dtype)


class _In:
    """Reads values out of the bytes of a message. Nothing in them is believed: every part has to lie in the message."""

    def __init__(self, data: bytes, length: int, lane: Any) -> None:
        self.data, self.length, self.lane = data, length, lane

    def value(self, kind: MessageType, at: int) -> Any:
        if kind.kind in _NUMPY:
            return np.frombuffer(self.data, kind.dtype, 1, at)[0].item()
        if kind.kind == ID128:
            return uuid.UUID(bytes=self.data[at : at + 16])
        if kind.kind in _PARTS:
            return self.part(kind, at)
        if kind.kind == CHOICE:
            return self.choice(kind)
        if kind.kind == PACKET:
            return self.data[: self.length]
        return tuple.__new__(kind._class, [self.field(field, at + field.offset) for field in kind.fields])

    def choice(self, kind: MessageType) -> Any:
        """The message of a protocol: of one of its types, which the name of the value's class tells."""
        used, number = _FRONT.unpack_from(self.data)
        if not (1 <= number <= len(kind.choices) and _FRONT.size <= used <= self.length):
            raise ValueError(f"a message of type '{kind.name}' says that it is number {number} of {used} bytes")
        return kind.choices[number - 1].unpack(self.data[_FRONT.size : used], self.lane)

    def field(self, field: Field, at: int) -> Any:
        if not field.shape:
            return self.value(field.type, at)
        if field.type.kind in _NUMPY:
            return np.frombuffer(self.data, field.type.dtype, field.count, at).reshape(field.shape).copy()
        values = [self.value(field.type, at + i * field.type.size) for i in range(field.count)]
        for count in reversed(field.shape[1:]):
            values = [values[i : i + count] for i in range(0, len(values), count)]
        return values

    def part(self, kind: MessageType, at: int) -> Any:
        items = kind.items
        assert items is not None
        offset, count = struct.unpack_from("<II", self.data, at)
        source: _In = self
        if count and offset & _FAR:
            source, offset = _In(self.fetch(items, at, count), count * items.size, self.lane), 0
        elif count and (offset > self.length or count > (self.length - offset) // max(items.size, 1)):
            raise ValueError(f"a part of type '{kind.name}' lies outside of its message of {self.length} bytes")
        if kind.kind == UTF8:
            return source.data[offset : offset + count].decode("utf-8", "replace")
        if kind.kind == OPTIONAL:
            return source.value(items, offset) if count else None
        if items.kind in _NUMPY:
            return np.frombuffer(source.data, items.dtype, count, offset).copy()
        return [source.value(items, offset + i * items.size) for i in range(count)]

    def fetch(self, items: MessageType, at: int, count: int) -> bytes:
        if self.lane is None:
            raise ValueError("items of this message lie in a buffer of a device; only the queue that it came from can read them")
        room = ffi.new("char[]", max(count * items.size, 1))
        part = ffi.cast("gyre_part *", ffi.from_buffer(self.data) + at)[0]
        data = ffi.from_buffer(self.data)
        check(lib.gyrepy_fetch(self.lane.c, data, len(self.data), part, items.size, room, count))
        return bytes(ffi.buffer(room, count * items.size))
