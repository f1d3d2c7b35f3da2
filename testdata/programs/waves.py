"""waves.py - a wave on a ring of ranks: Python with mpi4py, and the work in C (pystencil.c).

mpirun -n 4 python3 waves.py [ROUNDS]; stencil.so is found beside this file or in PYTHONPATH.
"""
import sys

from mpi4py import MPI

import stencil


def exchange(comm, wave):
    """The neighbours get the ends of this rank's part, and give theirs."""
    rank, size = comm.Get_rank(), comm.Get_size()
    left = comm.sendrecv(wave[-1], dest=(rank + 1) % size, source=(rank - 1) % size)
    right = comm.sendrecv(wave[0], dest=(rank - 1) % size, source=(rank + 1) % size)
    return left, right


def run(comm, rounds):
    rank = comm.Get_rank()
    wave = [float(rank * 20 + i) % 7 for i in range(20)]
    energy = 0.0
    for _ in range(rounds):
        left, right = exchange(comm, wave)
        wave[0] = (wave[0] + left) / 2
        wave[-1] = (wave[-1] + right) / 2
        energy = stencil.advance(wave, 0.25, 3, rank)
    return comm.allreduce(energy)


def main():
    comm = MPI.COMM_WORLD
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    total = run(comm, rounds)
    sys.stdout.write(f"rank {comm.Get_rank()}: total {total:.6f}\n")


main()
