// mpihung.c - an MPI program that hangs: the last rank waits for a message, the others in a barrier.
// It is killed after a quarter of an hour.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static void exchange(int rank, int size)
{
    int n;

    if (rank == size - 1)
        MPI_Recv(&n, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;

    alarm(900);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d waits\n", rank);
    fflush(stdout);
    exchange(rank, size);
    MPI_Finalize();
    return 0;
}
