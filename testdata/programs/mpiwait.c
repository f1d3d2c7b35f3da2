// mpiwait.c - an MPI program that waits until a file exists, then counts its ranks:
//
//     mpirun -n 4 ./mpiwait /tmp/go
//
// Something to attach to: `touch /tmp/go` lets it end well.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int waiting(const char *file)
{
    return access(file, F_OK) != 0;
}

int main(int argc, char **argv)
{
    int rank, size, one = 1, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d waits\n", rank);
    fflush(stdout);
    while (argc > 1) {
        if (waiting(argv[1])) usleep(5000); else break; // one line: all ranks are found in it, whatever they call
    }
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d of %d ranks counted\n", all, size);
    MPI_Finalize();
    return all == size ? 0 : 1;
}
