// faulty.c - an MPI program with a fault on one rank, which the argument names:
//
//     mpirun -n 4 ./faulty nan      the value of rank 1 becomes NaN in step 6
//     mpirun -n 4 ./faulty slow     rank 2 works longer than the others in each step
//     mpirun -n 4 ./faulty leak     rank 3 does not complete its receives
//
// It goes on for a quarter of an hour.
//
// mpi: $MPICC -g -O0 -o $OUT/faulty faulty.c -lm
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1000000 };

static int rank, size;
static double heat = 6;
static volatile double sink;
static struct { int used; int box[MOST]; MPI_Request list[MOST]; } pool;

static void cool(int bad)
{
    heat = bad ? sqrt(heat - 10) : heat * 0.9;
}

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i * 0.5;
}

static void post(int from)
{
    if (pool.used < MOST) {
        MPI_Irecv(&pool.box[pool.used], 1, MPI_INT, from, 5, MPI_COMM_WORLD, &pool.list[pool.used]);
        pool.used++;
    }
}

static void complete(void)
{
    MPI_Waitall(pool.used, pool.list, MPI_STATUSES_IGNORE);
    pool.used = 0;
}

static void exchange(int forgets)
{
    MPI_Request sent;

    post((rank + 1) % size);
    MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 5, MPI_COMM_WORLD, &sent);
    if (!forgets)
        complete();
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static void advance(const char *fault, int step)
{
    int one = 1, all;

    if (strcmp(fault, "nan") == 0)
        cool(rank == 1 && step == 6);
    if (strcmp(fault, "slow") == 0)
        work(rank == 2 ? 100000000 : 1000);
    if (strcmp(fault, "leak") == 0)
        exchange(rank == 3);
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    alarm(900);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("rank %d runs\n", rank);
    fflush(stdout);
    for (int step = 0; argc > 1; step++) {
        advance(argv[1], step);
        usleep(1000);
    }
    MPI_Finalize();
    return 0;
}
