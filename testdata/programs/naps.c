// naps.c - an MPI program that works, though each look finds it asleep at the same place: between two short messages
// each rank sleeps for 20 ms, as one does that waits for a device. Its counter is not on the stack. The argument is the
// number of steps.
//
// mpi: $MPICC -g -O1 -o $OUT/naps naps.c
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static int step, rank, size, sent, got;

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 500;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (step = 0; step < steps; step++) {
        usleep(20000);
        MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
