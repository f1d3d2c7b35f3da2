// spinners.c - one rank crashes while the others spin in a collective: what a person finds who
// attaches to a job that "hangs". Arguments: how (segv, fpe, abort, none) and which rank (2; the last
// one, where there are fewer).
//
// mpi: $MPICC -g -O0 -o $OUT/spinners spinners.c
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    int id;
    double mass;
    struct cell *neighbour;
};

static struct cell *ring_of(int n, int rank)
{
    struct cell *cells = calloc(n, sizeof *cells);
    for (int i = 0; i < n; i++)
        cells[i] = (struct cell){rank * 100 + i, 1.0 + i, &cells[(i + 1) % n]};
    return cells;
}

static double mass_of(const struct cell *first, int n)
{
    double mass = 0;
    for (int i = 0; i < n; i++) {
        mass += first->mass; // crashes here
        first = first->neighbour;
    }
    return mass;
}

static int divide(int a, int b)
{
    return a / b;
}

// harm does to a rank what the argument says.
static int harm(const char *how, struct cell *cells, int n)
{
    if (strcmp(how, "segv") == 0)
        cells[n / 2].neighbour = NULL;
    if (strcmp(how, "fpe") == 0)
        return divide(n, cells[0].id - cells[0].id);
    if (strcmp(how, "abort") == 0)
        abort();
    return 0;
}

int main(int argc, char **argv)
{
    int rank, size, victim = argc > 2 ? atoi(argv[2]) : 2;
    const char *how = argc > 1 ? argv[1] : "segv";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (victim >= size)
        victim = size - 1;
    const int n = 10;
    struct cell *cells = ring_of(n, rank);
    double all = 0;
    for (int step = 0; step < 4; step++) {
        if (rank == victim && step == 2)
            harm(how, cells, n);
        double mine = mass_of(cells, n) + rank;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // the others spin here
        if (rank == 0) {
            printf("step %d: %.1f\n", step, all);
            fflush(stdout);
        }
    }
    free(cells);
    MPI_Finalize();
    return 0;
}
