# SPDX-License-Identifier: GPL-2.0-or-later
"""The shared library: where it is, what its functions take, who frees what."""
from __future__ import annotations

import ctypes
import os
import sys
from array import array
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int, c_int64
from ctypes import c_size_t, c_uint64, c_void_p
from operator import index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable

SONAME = "libcommplace.so.0"


class Error(Exception):
    """What the library refused, in its words, or an object that is closed."""


class _Text(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 512)]


class NumbersStruct(ctypes.Structure):
    _fields_ = [("count", c_int64), ("used", c_int64)] + [
        (name, c_double) for name in ("min", "q1", "median", "mean", "q3", "max")]


class CandidateStruct(ctypes.Structure):
    _fields_ = [("policy", c_char_p), ("seed", c_uint64)] + [
        (name, c_double) for name in (
            "max_congestion", "mean_congestion", "hop_bytes",
            "mapped_max_congestion")] + [
        ("evaluated", c_bool), ("chosen", c_bool)]


def _open() -> ctypes.CDLL:
    name = os.environ.get("COMMPLACE_LIBRARY")
    if not name:
        # PREFIX/lib/python3.11/site-packages/commplace/_library.py
        beside = os.path.abspath(os.path.join(__file__, *[os.pardir] * 4, SONAME))
        name = beside if os.path.exists(beside) else SONAME
    try:
        return ctypes.CDLL(name)
    except OSError as why:
        raise ImportError(
            "%s; COMMPLACE_LIBRARY may name the path of %s" % (why, SONAME)
        ) from None


# NAME:RESULT:ARGUMENTS with a letter each: p an object or an array, s a text,
# i int, l int64_t, u uint64_t, d double, b bool, z size_t, n int *, v nothing.
# Those that can fail end with e, the error.
_KINDS: dict[str, Any] = {
    "p": c_void_p, "s": c_char_p, "i": c_int, "l": c_int64, "u": c_uint64,
    "d": c_double, "b": c_bool, "z": c_size_t, "n": POINTER(c_int),
    "e": POINTER(_Text), "v": None,
}
_PROTOTYPES = """
version:s: network_load:p:se network_parse:p:szse network_free:v:p network_name:s:p
network_type:s:p network_nodes:i:p network_routers:i:p network_links:l:p
network_host:s:pi network_node:i:ps network_hostlist:p:psne network_classes:i:p
network_class_name:s:pi network_read_links:v:ppppp network_routing:s:pi
signature_load:p:se signature_parse:p:szse signature_make:p:silppppe
signature_write:i:pse signature_free:v:p signature_name:s:p signature_application:s:p
signature_ranks:i:p signature_phases:i:p signature_phase_name:s:pi
signature_phase_weight:d:pi signature_phase_rows:p:pi signature_phase_to:p:pi
signature_phase_bytes:p:pi signature_phase_messages:p:pi traffic_new:p:pie
traffic_free:v:p traffic_add:i:pppiise traffic_add_ranks:i:pppse traffic_evaluate:i:pe
traffic_numbers:i:pipe traffic_max_congestion:d:p traffic_mean_congestion:d:p
traffic_nonzero_average:d:p traffic_nonzero_variance:d:p traffic_max_injection:d:p
traffic_hop_bytes:d:pi traffic_bytes_on_network:d:pi traffic_bytes_in_node:d:pi
traffic_max_dilation:d:pi traffic_link_bytes:p:p traffic_injection_bytes:p:p
traffic_ejection_bytes:p:p options_new:p:e options_free:v:p options_routing:i:pse
options_objective:i:pse options_seed:i:pue options_threads:i:pie options_seconds:i:pde
options_background:i:ppe options_free_nodes:i:ppie options_cores_per_rank:i:pie
options_cpus_per_rank:i:pie options_rank_mapping:i:pse options_raw:i:pbe
placement_choose:p:ppiispe placement_free:v:p placement_nodes:p:p
placement_rank_node:p:p placement_policy:s:p placement_max_congestion:d:p
placement_mean_congestion:d:p placement_hop_bytes:d:p placement_candidate:i:pip
placement_policy_name:s:pi mapping_make:p:pppiispe mapping_free:v:p
mapping_rank_node:p:p mapping_is_default:b:p mapping_max_before:d:p
mapping_max_after:d:p mapping_hop_bytes_before:d:p mapping_hop_bytes_after:d:p
mapping_algorithm:s:i binding_make:p:ppisspe binding_free:v:p binding_cpus:p:pin
binding_cost:d:p binding_cost_packed:d:p binding_algorithm:s:i
turn_new:p:se turn_free:v:p turn_wait:d:p
"""


class _Functions:
    """commplace_NAME as the attribute NAME. What fails raises Error."""

    def __init__(self) -> None:
        library = _open()
        for prototype in _PROTOTYPES.split():
            self._declare(library, *prototype.split(":"))

    def _declare(self, library: ctypes.CDLL, name: str, result: str,
                 takes: str) -> None:
        try:
            function = library["commplace_" + name]
        except AttributeError:
            raise ImportError("%s has no commplace_%s: it is older than this "
                              "package" % (library._name, name)) from None
        function.restype = _KINDS[result]
        function.argtypes = [_KINDS[kind] for kind in takes]
        setattr(self, name, _failing(function, -1 if result == "i" else None)
                if takes.endswith("e") else function)

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any: ...


def _failing(function: Any, failed: int | None) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        error = _Text()
        result = function(*arguments, error)
        if result == failed:
            raise Error(error.text.decode("utf-8", "replace"))
        return result
    return call


class Handle:
    """An object of the library, freed once: when nothing refers to it any more,
    neither what wraps it, nor a view of its arrays, nor a call that has begun.
    `needs`: what has to live as long."""

    __slots__ = ("_as_parameter_", "_free", "_needs")

    def __init__(self, pointer: int, free: Callable[[int], None],
                 needs: object = None) -> None:
        self._as_parameter_: int | None = pointer
        self._free = free
        self._needs = needs

    def __del__(self) -> None:
        pointer, self._as_parameter_ = self._as_parameter_, None
        if pointer:
            self._free(pointer)


class Object:
    """What wraps a handle. It may be closed early, by `close` or at the end of
    `with`; arrays that were taken from it stay valid."""

    __slots__ = ("_held", "__weakref__")
    _held: Handle | None

    @property
    def _handle(self) -> Handle:
        held = self._held
        if held is None:
            raise Error("the %s is closed" % type(self).__name__.lower())
        return held

    def close(self) -> None:
        """Let go of it; once more is allowed."""
        self._held = None

    @property
    def closed(self) -> bool:
        return self._held is None

    def __enter__(self) -> Any:
        self._handle
        return self

    def __exit__(self, *why: object) -> None:
        self.close()


def need(value: Any, kind: type[Object], what: str) -> Handle:
    """The handle of an object, which has to be of that kind."""
    if not isinstance(value, kind):
        raise TypeError("%s: a %s is needed, not %s"
                        % (what, kind.__name__, type(value).__name__))
    return value._handle


def integer(value: Any, what: str, bits: int = 31) -> int:
    """ctypes would cut off what does not fit."""
    number = index(value)
    if not -(1 << 31) <= number < 1 << bits:
        raise Error("%s: %d is out of range" % (what, number))
    return number


def text(value: Any, what: str) -> bytes:
    if not isinstance(value, str):
        raise TypeError("%s: a text is needed, not %s"
                        % (what, type(value).__name__))
    if "\0" in value:
        raise Error("%s: the text has a NUL" % what)
    return value.encode("utf-8", "surrogateescape")


def document(value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError("a text is needed, not %s" % type(value).__name__)
    return value.encode("utf-8", "surrogateescape")


def path(value: Any) -> bytes:
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise Error("the path has a NUL")
    return encoded


def said(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "surrogateescape")


def names(function: Callable[..., bytes | None], *of: Any) -> list[str]:
    """What a function lists by number until NULL."""
    found: list[str] = []
    while True:
        name = function(*of, len(found))
        if name is None:
            return found
        found.append(said(name))


_CTYPE: dict[str, Any] = {"i": c_int, "d": c_double, "q": c_int64}


def numbers(values: Iterable[Any], kind: str, what: str) -> tuple[Any, int, Any]:
    """Address, length and keeper of an array of int ("i") or double ("d")."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(values, numpy.ndarray):
        if values.ndim != 1 or (kind == "i" and values.dtype.kind not in "iu"):
            raise TypeError("%s: a row of %s is needed" % (
                what, "integers" if kind == "i" else "numbers"))
        if kind == "i" and values.size and (
                values.max() >= 1 << 31 or values.min() < -(1 << 31)):
            raise Error("%s: a number is out of range" % what)
        kept = numpy.ascontiguousarray(
            values, dtype=numpy.intc if kind == "i" else numpy.float64)
        return kept.ctypes.data, len(kept), kept
    if isinstance(values, array) and values.typecode == kind:
        row = values
    else:
        try:
            row = array(kind, values)
        except OverflowError:
            raise Error("%s: a number is out of range" % what) from None
        except TypeError as why:
            raise TypeError("%s: %s" % (what, why)) from None
    return row.buffer_info()[0], len(row), row


def optional(module: str) -> Any:
    """A module where it is there, else None."""
    try:
        return __import__(module)
    except ImportError:
        return None


def view(pointer: int | None, count: int, kind: str, owner: Any) -> Any:
    """The library's own array, read only and not copied: of numpy where that is
    there, else a memoryview, which has the manners of a list. It keeps the owner
    alive."""
    numpy = optional("numpy")
    if not pointer or not count:
        return numpy.empty(0, kind) if numpy else memoryview(array(kind))
    memory = (_CTYPE[kind] * count).from_address(pointer)
    memory._owner = owner
    if numpy is None:
        return memoryview(memory).cast("B").cast(kind).toreadonly()
    row = numpy.frombuffer(memory, dtype=kind)
    row.flags.writeable = False
    return row


def locate(value: Any) -> int:
    """The address of an array or structure of ctypes."""
    return ctypes.addressof(value)


functions = _Functions()
_libc_free = ctypes.CDLL(None).free
_libc_free.argtypes = [c_void_p]
_libc_free.restype = None


def take_ints(pointer: int, count: int) -> list[int]:
    """A list of what the library gives to its caller to free."""
    try:
        return (c_int * count).from_address(pointer)[:] if count else []
    finally:
        _libc_free(pointer)
