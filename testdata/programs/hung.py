"""hung.py - ranks of mpi4py that wait for one another: rank 2 for a message that nobody sends, the others for it.

mpirun -n 4 python3 hung.py
"""
import sys

from mpi4py import MPI


class Solver:
    def __init__(self, comm):
        self.comm = comm

    def run(self):
        sys.stdout.write("rank %d waits\n" % self.comm.Get_rank())
        sys.stdout.flush()
        self.exchange()

    def exchange(self):
        if self.comm.Get_rank() == 2:
            self.comm.recv(source=3, tag=7)
        self.comm.barrier()


Solver(MPI.COMM_WORLD).run()
