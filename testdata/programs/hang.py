"""hang.py - ranks of mpi4py that hang, in the way that the argument names.

mpirun -n 5 python3 hang.py CASE

Rank 2 is the one that behaves otherwise, where one does.
"""
import os, sys, threading, time

from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.Get_rank()
size = world.Get_size()


def reduce():
    world.Allreduce([bytearray(4), MPI.INT], [bytearray(4), MPI.INT])


def asleep():
    if rank == 2:
        time.sleep(1000)
    reduce()


def functions():
    if rank == 2:
        world.barrier()
    reduce()


def objects():
    """Rank 2 waits for an object that the next rank does not send."""
    if rank == 2:
        world.recv(source=3, tag=7)
    world.barrier()


def ring():
    world.Recv([bytearray(4), MPI.INT], source=(rank + 1) % size, tag=3)


def lock():
    """A thread of rank 2 holds the lock that its first thread waits for."""
    if rank == 2:
        mine = threading.Lock()
        held = threading.Event()

        def holder():
            with mine:
                held.set()
                time.sleep(1000)

        threading.Thread(target=holder, daemon=True).start()
        held.wait()
        mine.acquire()
    reduce()


def thread():
    """A thread of rank 2 is in the collective, and its first thread waits for the end of that thread."""
    if rank == 2:
        other = threading.Thread(target=world.barrier)
        other.start()
        other.join()
    reduce()


print("pid", os.getpid(), flush=True)
globals()[sys.argv[1]]()
