// mpiecho.c - an MPI program in which rank 0 gives its standard input back, and
// tells how many lines there were; all ranks end with status 9.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char line[4096];
    int rank, n = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        while (fgets(line, sizeof line, stdin)) {
            fputs(line, stdout);
            n++;
        }
        printf("end of file after %d lines\n", n);
    }
    MPI_Finalize();
    return 9;
}
