"""How Numba compiles the loops of this project, and where compiled kernels are kept.

A *kernel* is called from Python; what it calls are *inner kernels*. Numba would compile every one of them to machine
code on its own, and optimise it again inside each caller. An inner kernel here is translated once and optimised and
turned into machine code with the kernel that calls it, which takes half of the time.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import threading
import time
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numba import types
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher

from instances.compilation import COMPILATION

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Function = TypeVar("Function", bound=Callable[..., Any])


MOST_SECONDS_OF_WAITING = 120.0
"""How long a process waits for another one that compiles, before it compiles for itself."""


def kernel(function: Function) -> Function:
    """Compile a function when it is first called from Python, once per installation; it runs without Python's lock."""
    return _compiled(function, _Dispatcher)


def _compiled(function: Function, dispatcher: type[_Dispatcher]) -> Function:
    options = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True, "_nrt": _counts_references(function)}
    compiled: Any = dispatcher(function, targetoptions=options, pipeline_class=_KernelCompiler)
    compiled._cache = _cache_of(function)  # noqa: SLF001  # as `cache=True` does, with a cache of our own
    return compiled  # type: ignore[no-any-return]


def brief_kernel(*, seconds: float = 1.0, entries: int = 5000) -> Callable[[Function], Function]:
    """Do as `kernel`; on small arrays, run it as plain Python as long as that takes less time than to compile it.

    Parameters
    ----------
    seconds
        How long all calls may take together as plain Python.
    entries
        Entries of all arrays of a call that may run as plain Python.
    """

    def compiled(function: Function) -> Function:
        made: Any = _compiled(function, _BriefDispatcher)
        made.plain_seconds, made.plain_entries = seconds, entries
        return made  # type: ignore[no-any-return]

    return compiled


def inner_kernel(function: Function) -> Function:
    """Compile a function as a part of the kernels that call it; called from Python, it runs as it stands there."""
    return _inner(function, forceinline=False)


def inlined_kernel(function: Function) -> Function:
    """Do as `inner_kernel`, and put the function into every place that calls it: for what innermost loops call."""
    return _inner(function, forceinline=True)


def _inner(function: Function, *, forceinline: bool) -> Function:
    options = {
        "nopython": True,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
        "forceinline": forceinline,
        "_nrt": _counts_references(function),
    }
    inner: Any = _InnerDispatcher(function, targetoptions=options, pipeline_class=_InnerCompiler)
    return inner  # type: ignore[no-any-return]


_MAKERS = frozenset({"arange", "array", "copy", "empty", "empty_like", "full", "ones", "zeros", "zeros_like"})
"""What makes an array in most kernels."""


def _counts_references(function: Any) -> bool:
    """Say whether a kernel makes arrays, hands arrays back, or gets them from one that it calls.

    Numba counts the references to every array at every step, which is a fifth of the code that it compiles. A kernel
    that only works on arrays that it was given does not need that. It is wrong to leave counting out where arrays are
    handed over; where they are made in another way, compilation fails and is repeated with counting.
    """
    called = (getattr(function.__globals__.get(name), "py_func", None) for name in function.__code__.co_names)
    returns = [str(one.__annotations__.get("return", "")) for one in (function, *called) if one is not None]
    numbers = all(re.fullmatch(r"(tuple\[)?(None|int|float|bool|np\.u?int\d+|, |\])+", result) for result in returns)
    return not numbers or not _MAKERS.isdisjoint(function.__code__.co_names)


class _Dispatcher(CPUDispatcher):
    """Compiles a kernel; if that fails without counting references, with counting."""

    _compiler: Any

    def compile(self, sig: Any) -> Any:
        """Return the machine code for a signature."""
        try:
            return super().compile(sig)
        except (NumbaError, NotImplementedError):
            if self.targetoptions["_nrt"]:
                raise
            self.targetoptions["_nrt"] = True
            self._compiler._failed_cache.clear()  # noqa: SLF001
            return super().compile(sig)


class _BriefDispatcher(_Dispatcher):
    """Runs small calls as plain Python where the machine code would first have to be made.

    No clock counts these calls, just as none counts compilation, so there are none where run times are measured.
    """

    _cache: Any
    plain_seconds: float
    plain_entries: int

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run machine code, or the function as it stands there."""
        if self.plain_seconds > 0 and (
            COMPILATION.is_timed or _entries((*arguments, *named.values())) > self.plain_entries or self._is_made()
        ):
            self.plain_seconds = 0.0
        if self.plain_seconds <= 0:
            return super().__call__(*arguments, **named)
        begin = time.perf_counter()
        try:
            with COMPILATION.running(), np.errstate(over="ignore"):
                return self.py_func(*arguments, **named)
        finally:
            self.plain_seconds -= time.perf_counter() - begin

    def _is_made(self) -> bool:
        return bool(self.overloads) or (isinstance(self._cache, _KernelCache) and self._cache.has_code)


def _entries(arguments: Any) -> int:
    """Return how many numbers the arrays among arguments hold, also those in tuples."""
    total = 0
    for argument in arguments:
        if isinstance(argument, tuple):
            total += _entries(argument)
        elif isinstance(argument, np.ndarray):
            total += argument.size
    return total


class _InnerDispatcher(_Dispatcher):
    """Compiles for callers in kernels, and is plain Python for callers in Python."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what Numba calls, for types without the values of literals, each of which it would compile anew."""
        named = {name: types.unliteral(type_) for name, type_ in kws.items()}
        return super().get_call_template(tuple(types.unliteral(type_) for type_ in args), named)


_search = types.Function.get_call_type


def _remembered(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Search for the definition of a function for given types as Numba does, but once for each of them.

    Numba goes through dozens of definitions of `+` wherever it meets one, twice, which is a third of its work.
    """
    if kws:
        return _search(self, context, args, kws)
    known = self.__dict__.setdefault("_known_to_optgap", {})
    key = (context, tuple(args))
    if key not in known:
        known[key] = _search(self, context, args, kws)
    return known[key]


setattr(types.Function, "get_call_type", _remembered)


class _InnerLibrary(JITCodeLibrary):
    """Code that is only linked into kernels, with all that it calls itself, and is optimised there."""

    @property
    def codegen(self) -> Any:
        """What would store the environment of a function beside its machine code, of which there is none."""
        return SimpleNamespace(set_env=lambda name, environment: None)

    def finalize(self) -> None:
        """Leave linking and optimisation to the kernels."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def link_to(self, library: _KernelLibrary) -> None:
        """Add this code to that of a kernel."""
        library._final_module.link_in(super()._get_module_for_linking(), preserve=True)  # noqa: SLF001

    def _get_module_for_linking(self) -> Any:
        raise TypeError("inner kernels are called by kernels, not by other functions that Numba compiles")

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout  # noqa: SLF001


class _KernelLibrary(JITCodeLibrary):
    """Machine code of a kernel, which links once what any of its inner kernels calls."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._inner: dict[_InnerLibrary, None] = {}  # after one that calls it: what nothing calls yet is left out

    def add_linking_library(self, library: Any) -> None:
        """Link a library and, if it is that of an inner kernel, what it calls."""
        if not isinstance(library, _InnerLibrary):
            super().add_linking_library(library)
        elif library not in self._inner:
            self._inner[library] = None
            for called in library._linking_libraries:  # noqa: SLF001
                self.add_linking_library(called)

    def finalize(self) -> None:
        """Link, optimise and make machine code."""
        for library in self._inner:
            library.link_to(self)
        super().finalize()


class _KernelCompiler(Compiler):
    """Numba's compiler, with such a library."""

    library_type: type[JITCodeLibrary] = _KernelLibrary

    def __init__(self, typing_context: Any, target_context: Any, library: Any, *rest: Any) -> None:
        own = library or self.library_type(target_context.codegen(), self.library_type.__name__)
        own.enable_object_caching()
        super().__init__(typing_context, target_context, own, *rest)


class _InnerCompiler(_KernelCompiler):
    """The same with a library that leaves the work to the kernels."""

    library_type = _InnerLibrary


class _Listener(event.Listener):
    """Reports compilations, and keeps the garbage collector from going through the compiler's many objects."""

    _collects = False

    def on_start(self, event: Any) -> None:
        """Note that a compilation begins."""
        if not COMPILATION.is_running:
            self._collects = gc.isenabled()
            gc.disable()
        COMPILATION.begin()

    def on_end(self, event: Any) -> None:
        """Note that it has ended."""
        COMPILATION.end()
        COMPILATION.note_function()
        if not COMPILATION.is_running and self._collects:
            gc.enable()


event.register("numba:compile", _Listener())


class _OneCompiler(event.Listener):
    """Lets one process at a time compile into a folder, so that the others find there what they need.

    Two processes that begin at once would otherwise compile the same kernels side by side. A process that waits in
    vain, because the other one was stopped, compiles for itself.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._counting = threading.Lock()  # a thread that waits for Numba's own lock is counted too
        self._file: int | None = None

    def take(self, folder: str) -> bool:
        """Wait until no other process compiles into a folder; say whether it had to wait."""
        if fcntl is None or self._file is not None:
            return False
        try:
            os.makedirs(folder, exist_ok=True)
            self._file = os.open(os.path.join(folder, "optgap.lock"), os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return False
        begin = time.monotonic()
        waited = False
        while time.monotonic() - begin < MOST_SECONDS_OF_WAITING:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                waited = True
                time.sleep(0.05)
        return waited

    def on_start(self, event: Any) -> None:
        """Note that Numba looks for a kernel, or for one that it calls."""
        with self._counting:
            self._depth += 1

    def on_end(self, event: Any) -> None:
        """Let others compile when the outermost search is over, whatever came of it."""
        with self._counting:
            self._depth -= 1
            if self._depth == 0 and self._file is not None:
                os.close(self._file)
                self._file = None


_ONE_COMPILER = _OneCompiler()
event.register("numba:compiler_lock", _ONE_COMPILER)


class _KernelCache(FunctionCache):
    """Numba's cache of one kernel on disk, which is left out where it cannot be read or written."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._function = function

    @cached_property
    def _file(self) -> _CacheFile:
        return _CacheFile(self._cache_path, self._impl.filename_base, _stamp(self._function))

    @cached_property
    def has_code(self) -> bool:
        """Whether there was machine code on disk that nothing has made obsolete, at the first look."""
        try:
            return bool(self._file._load_index())  # noqa: SLF001
        except Exception:  # of a file that is damaged, or names classes that are gone
            return False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compiled kernel, None where there is none that fits, or only what an older version has left."""
        self._cache_file = self._file
        with COMPILATION.running():
            found = self._loaded(sig, target_context)
            if found is None and _ONE_COMPILER.take(self._cache_path):
                found = self._loaded(sig, target_context)
        return found

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # of a file that is damaged, or names classes that are gone
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled kernel."""
        try:
            with COMPILATION.running():
                super().save_overload(sig, data)
        except Exception as error:  # an OSError, or what reading a damaged index raises
            COMPILATION.note_not_kept(str(error))


class _CacheFile(IndexDataCacheFile):
    """Files of one kernel: compiled code under names of its own, so that two processes cannot take one for another."""

    def save(self, key: Any, data: Any) -> None:
        """Write the code first and then the index, which never names what is not there."""
        number = int(hashlib.sha256(repr((key, self._source_stamp)).encode()).hexdigest()[:12], 16)
        self._save_data(self._data_name(number), data)
        try:
            overloads = self._load_index()
        except Exception:  # of an index that is damaged, or names classes that are gone
            overloads = {}
        self._save_index({**overloads, key: self._data_name(number)})


def _cache_of(function: Any) -> Any:
    """Return the cache of a kernel; one that keeps nothing where no folder can be written."""
    try:
        cache = _KernelCache(function)
    except RuntimeError as error:
        return _NoCache(str(error))
    return cache if os.path.isabs(cache.cache_path) else _NoCache("this user has no home directory")


class _NoCache(NullCache):
    """Keeps nothing, and says so once."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Say that the kernel is not kept."""
        COMPILATION.note_not_kept(self._reason)


def _stamp(function: Any) -> tuple[Any, ...]:
    """Return what a compiled kernel depends on: the files of all that it calls, and the constants that it names."""
    files: dict[str, tuple[float, int]] = {}
    constants: dict[str, str] = {}
    waiting, seen = [function], {function}
    while waiting:
        current = waiting.pop()
        status = os.stat(current.__code__.co_filename)
        files[current.__module__] = (status.st_mtime, status.st_size)
        for name in current.__code__.co_names:
            value = current.__globals__.get(name)
            called = getattr(value, "py_func", None)
            if called is not None and called not in seen:
                seen.add(called)
                waiting.append(called)
            elif isinstance(value, int | float | str):
                constants[f"{current.__module__}.{name}"] = repr(value)
    return (*sorted(files.items()), *sorted(constants.items()))


@inlined_kernel
def overwrite(target: NDArray[Any], source: NDArray[Any]) -> None:
    """Write `source` to the first entries of `target`, which do not overlap; Numba would first look whether they do."""
    for index in range(len(source)):
        target[index] = source[index]


@inner_kernel
def sort_by(key: NDArray[Any], size: int, order: NDArray[np.int64], scratch: NDArray[np.int64]) -> None:
    """Write the indices of the first `size` keys to `order`, by increasing key; equal keys keep their order.

    A merge sort, because NumPy's sorts take Numba two seconds to compile. `order` and `scratch` have room for `size`
    entries.
    """
    for index in range(size):
        order[index] = index
    width = 1
    while width < size:  # invariant: runs of `width` entries of `order` are sorted
        for left in range(0, size, 2 * width):
            middle, right = min(left + width, size), min(left + 2 * width, size)
            first, second = left, middle
            for place in range(left, right):
                if first < middle and (second >= right or key[order[first]] <= key[order[second]]):
                    scratch[place] = order[first]
                    first += 1
                else:
                    scratch[place] = order[second]
                    second += 1
        for place in range(size):
            order[place] = scratch[place]
        width *= 2
