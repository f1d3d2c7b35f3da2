// abort.c - a rank that finds its numbers wrong and calls MPI_Abort, several frames deep, while
// the others are in a collective. Arguments: the code (7; 0: a send to no rank), and the rank that calls (1).
//
// mpi: $MPICC -g -O0 -o $OUT/abort abort.c
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct field {
    int size;
    double *values;
};

static void fill(struct field *f, int rank, int step)
{
    for (int i = 0; i < f->size; i++)
        f->values[i] = (i + 1) * 0.5 + rank + step;
}

// check ends the job where a value is negative.
static void check(const struct field *f, int code)
{
    for (int i = 0; i < f->size; i++)
        if (f->values[i] < 0) {
            fprintf(stderr, "value %d is negative\n", i);
            MPI_Abort(MPI_COMM_WORLD, code); // the job ends here
        }
}

static double total(const struct field *f)
{
    double mine = 0, all = 0;
    for (int i = 0; i < f->size; i++)
        mine += f->values[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // the others wait here
    return all;
}

int main(int argc, char **argv)
{
    int rank, size, code = argc > 1 ? atoi(argv[1]) : 7, culprit = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (culprit >= size)
        culprit = size - 1;
    struct field field = {100, calloc(100, sizeof(double))};
    for (int step = 0; step < 5; step++) {
        fill(&field, rank, step);
        if (rank == culprit && step == 3)
            field.values[40] = -1;
        if (rank == culprit && step == 3 && code == 0)
            MPI_Send(&size, 1, MPI_INT, size, 0, MPI_COMM_WORLD); // MPI's error handler ends the job here
        check(&field, code);
        double sum = total(&field);
        if (rank == 0) {
            printf("step %d: %.1f\n", step, sum);
            fflush(stdout);
        }
    }
    free(field.values);
    MPI_Finalize();
    return 0;
}
