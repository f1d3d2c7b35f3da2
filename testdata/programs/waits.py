"""Waits in the way that its argument names: ./waits.py held"""
import ctypes
import queue
import signal
import sys
import threading
import time

libc = ctypes.PyDLL(None)  # its functions are called with the interpreter's lock


def hold():
    time.sleep(0.2)
    libc.sleep(1000)


def step():
    n = 0
    while True:
        n += 1


def held():
    threading.Thread(target=hold, daemon=True).start()
    step()


def joins():
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    threading.enumerate()[-1].join()


def gets():
    queue.Queue().get()


def locks():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def condition():
    """A library that Python has called waits, not the interpreter."""
    c = ctypes.CDLL(None)
    lock, variable = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    c.pthread_mutex_lock(lock)
    c.pthread_cond_wait(variable, lock)


signal.alarm(180)
print("pid", threading.get_native_id(), flush=True)
globals()[sys.argv[1]]()
