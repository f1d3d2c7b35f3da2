"""frames.py - threads that wait in Python functions of every kind; each writes where it stands.

python3 frames.py FILE; FILE.json gets the frames of each thread, outermost first, as [function, file, line],
FILE.dump what CPython's own faulthandler says at the same instant. Then the process stops itself (SIGSTOP).
"""
import asyncio
import ctypes
import faulthandler
import functools
import importlib.util
import json
import os
import signal
import sys
import threading
import time

RECORD = globals().get("RECORD") or sys.argv[1]  # a program that embeds Python sets it
stacks = {}
waiting = threading.Semaphore(0)
gate = threading.Lock()
gate.acquire()


def frames(frame):
    """The frames from the outermost on."""
    found = []
    while frame is not None:
        code = frame.f_code
        found.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return found[::-1]


def note():
    """Records the frames of the caller."""
    stacks[threading.current_thread().name] = frames(sys._getframe(1))
    waiting.release()


def stand(*_):
    note(); gate.acquire()  # one line: both are at the same place


class Solver:
    """Methods, and functions in functions."""

    def __init__(self, deep=0):
        if deep:
            self.run()

    def run(self):
        def inner():
            stand()
        inner()

    def __del__(self):
        if threading.current_thread().name == "finalizer":
            stand()

    @property
    def size(self):
        return stand()

    @staticmethod
    def static():
        stand()

    def __enter__(self):
        stand()

    def __exit__(self, *_):
        pass

    def __getattr__(self, name):
        return (lambda: stand())()


def method():
    Solver().run()


def constructor():
    for _ in range(300):  # until the interpreter calls the class in its own way
        make(0)
    make(1)


def make(deep):
    return Solver(deep)


def finalizer():
    x = Solver()
    del x


def described():
    Solver().size


def attribute():
    Solver().anything


def managed():
    with Solver():
        pass


def generator():
    def leaf():
        yield 1
        stand()

    def middle():
        yield from leaf()
    for _ in middle():
        pass


def comprehension():
    return [stand() for _ in (1,)]


def coroutine():
    async def leaf():
        await asyncio.sleep(0)
        stand()

    async def middle():
        await leaf()
    asyncio.run(middle())


def recursion():
    sys.setrecursionlimit(12000)

    def down(n):
        if n:
            return down(n - 1)
        return stand()
    down(4000)


def in_c():
    """C between two Python functions: the sorting of the C library, and of Python."""
    pointer = ctypes.POINTER(ctypes.c_int)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)

    def compare(a, b):
        sorted([2, 1], key=functools.partial(stand, 1))
        return 0
    ctypes.CDLL(None).qsort((ctypes.c_int * 3)(3, 2, 1), 3, 4, kind(compare))


def imported():
    path = RECORD + "_module.py"
    with open(path, "w") as f:
        f.write("import builtins\n\n\nclass C:\n    builtins.stand()\n")
    import builtins
    builtins.stand = stand
    spec = importlib.util.spec_from_file_location("frames_module", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def text():
    exec(compile("def f():\n\n  stand()\nf()", "<text>", "exec"), {"stand": stand})


def traced():
    def trace(frame, event, arg):
        return trace
    sys.settrace(trace)

    def f():
        x = 1
        stand()
        return x
    f()


def lines():
    x = dict(
        a=1,
        b=max(
            (stand(),
             2), key=id),
    )
    return x


SUB = """
import sys, time
def say(f):
    found = []
    while f is not None:
        found.append([getattr(f.f_code, "co_qualname", f.f_code.co_name), f.f_code.co_filename, f.f_lineno])
        f = f.f_back
    with open(RECORD, "w") as out:
        out.write(repr(found[::-1]))
def inner():
    say(sys._getframe()); time.sleep(1000)
inner()
"""


def interpreter():
    """Another interpreter in this thread; its frames are in FILE.sub."""
    try:
        import _interpreters as module
        other = module.create("legacy")
    except ImportError:
        import _xxsubinterpreters as module
        other = module.create()
    note(); module.run_string(other, "RECORD = %r\n%s" % (RECORD + ".sub", SUB))


def finish(*_):
    """A signal handler, where the main thread stays."""
    path = RECORD + ".sub"
    while not os.path.exists(path) or not os.path.getsize(path):
        time.sleep(0.01)
    time.sleep(0.2)  # the threads are in the calls where they stay
    dump = open(RECORD + ".dump", "w")
    stop(dump)


def stop(dump):
    note(); save(); faulthandler.dump_traceback(dump); os.kill(os.getpid(), signal.SIGSTOP)


def save():
    with open(RECORD + ".sub") as f:
        stacks["interpreter"] += eval(f.read())
    with open(RECORD + ".json", "w") as f:
        json.dump({"version": sys.version.split()[0], "stacks": stacks}, f)


def main():
    threading.stack_size(64 << 20)
    kinds = [method, constructor, finalizer, described, attribute, managed, Solver.static, generator, comprehension, coroutine,
             recursion, in_c, imported, text, traced, lines, interpreter]
    for k in kinds:
        threading.Thread(target=k, name=k.__name__, daemon=True).start()
        waiting.acquire()
    signal.signal(signal.SIGUSR1, finish)
    signal.raise_signal(signal.SIGUSR1)


main()
