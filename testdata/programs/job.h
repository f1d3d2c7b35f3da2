// job.h - the job that a program is one rank of: by MPI where it is compiled with -DWITH_MPI,
// else by what the environment says, each rank for itself.
#include <stdlib.h>

#ifdef WITH_MPI
#include <mpi.h>

static int job_rank(int *argc, char ***argv)
{
    int rank, given;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static long job_sum(long mine)
{
    long all;
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void job_end(void)
{
    MPI_Finalize();
}

#else
#include "rank.h"

static int job_rank(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return my_rank();
}

static long job_sum(long mine) { return mine; }
static void job_end(void) {}

#endif
