// hang.c - an MPI program that hangs, or seems to, in the way that its argument names:
//
//     mpirun -n 5 ./hang sleeps
//
// Rank 2 is the one that behaves otherwise, where one does. `./hang` lists the cases.
//
// mpi: $MPICC -g -O1 -pthread -o $OUT/hang hang.c
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, size;
static volatile double sink;

static void relax(void)
{
    for (;;)
        for (int i = 0; i < 1000000; i++)
            sink += i * 0.5;
}

static void reduce(MPI_Comm comm)
{
    int one = 1, all;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
}

static void receive(int from, int tag)
{
    int x;
    MPI_Recv(&x, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void absent(void) { if (rank == 2) relax(); reduce(MPI_COMM_WORLD); }
static void sleeps(void) { if (rank == 2) sleep(1000); reduce(MPI_COMM_WORLD); }
static void stopped(void) { if (rank == 2) raise(SIGSTOP); reduce(MPI_COMM_WORLD); }

static void fifo(void)
{
    if (rank == 2) {
        char name[100];
        snprintf(name, sizeof name, "/tmp/hang-fifo-%d", (int)getpid());
        mkfifo(name, 0600);
        if (open(name, O_RDONLY) < 0)
            perror(name);
    }
    reduce(MPI_COMM_WORLD);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *holder(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    for (;;)
        pause();
    return 0;
}

static void update(void) { pthread_mutex_lock(&mutex); }

static void mutexes(void)
{
    if (rank == 2) {
        pthread_t t;
        pthread_create(&t, 0, holder, 0);
        usleep(200000);
        update();
    }
    reduce(MPI_COMM_WORLD);
}

static pthread_mutex_t other_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *second(void *unused)
{
    pthread_mutex_lock(&other_mutex);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&mutex);
    return unused;
}

static void cycle(void) // two threads that each hold the mutex of the other one
{
    if (rank == 2) {
        pthread_t t;
        pthread_barrier_init(&both, 0, 2);
        pthread_create(&t, 0, second, 0);
        pthread_mutex_lock(&mutex);
        pthread_barrier_wait(&both);
        pthread_mutex_lock(&other_mutex);
    }
    reduce(MPI_COMM_WORLD);
}

static void locked(void) // rank 1 does not unlock a file before it has met the others
{
    char name[100];
    snprintf(name, sizeof name, "/tmp/hang-lock-%d", (int)getppid());
    int fd = open(name, O_RDWR | O_CREAT, 0600);
    if (rank == 1 && flock(fd, LOCK_EX) < 0)
        perror(name);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(name);
    if (rank == 2)
        flock(fd, LOCK_EX);
    reduce(MPI_COMM_WORLD);
}

static void on_signal(int unused) { (void)unused; sleep(1000); }

static void handler(void)
{
    signal(SIGUSR1, on_signal);
    if (rank == 2)
        raise(SIGUSR1);
    reduce(MPI_COMM_WORLD);
}

static void functions(void)
{
    if (rank == 2)
        MPI_Barrier(MPI_COMM_WORLD);
    reduce(MPI_COMM_WORLD);
}

static void loops(void) // one step less
{
    for (int i = 0; i < 10 - (rank == 2); i++)
        reduce(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI_Alltoall and MPI_Exscan are those of a tool, as a library that measures MPI defines them. */
static int tool_sleeps, tool_reduces;

int MPI_Alltoall(const void *from, int n, MPI_Datatype type, void *to, int m, MPI_Datatype to_type, MPI_Comm comm)
{
    if (tool_sleeps)
        sleep(1000);
    return PMPI_Alltoall(from, n, type, to, m, to_type, comm);
}

int MPI_Exscan(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int all;
    if (tool_reduces)
        PMPI_Allreduce(&tool_reduces, &all, 1, MPI_INT, MPI_MAX, comm);
    int status = PMPI_Exscan(from, to, n, type, op, comm);
    tool_reduces = 0;
    return status;
}

static void tool(void)
{
    int from[5] = {0}, to[5];
    tool_sleeps = rank == 2;
    MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD);
}

static void toolreduces(void)
{
    int from[3] = {0}, to[3];
    tool_reduces = rank == 2;
    if (rank == 2)
        MPI_Exscan(from, to, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

/* All but the root leave MPI_Gather before rank 2 comes, and wait for the root. */
static void gather(void)
{
    int all[5];
    if (rank == 2)
        sleep(1000);
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0)
        receive(0, 5);
}

/* Ranks 1 and 4 are not asked for their part in the new communicator. */
static void creategroup(void)
{
    int some[] = {0, 2, 3};
    MPI_Group all, group;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 3, some, &group);
    if (rank == 2)
        sleep(1000);
    if (rank % 3 == 1)
        receive(3, 6);
    else
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm);
}

/* MPI_Finalize is called through a pointer, and in Open MPI it ends in a jump: no frame and no call names it. */
static void finalize(void)
{
    if (rank == 2) {
        atexit((void (*)(void))MPI_Finalize);
        exit(0);
    }
    reduce(MPI_COMM_WORLD);
}
static void ring(void) { receive((rank + 1) % size, 3); }

static void pair(void)
{
    if (rank == 0)
        receive(3, 8);
    if (rank == 3)
        receive(0, 9);
    if (rank == 4)
        relax();
    MPI_Barrier(MPI_COMM_WORLD);
}

enum { big = 1 << 20 };
static char buffer[big], other[big];

static void rendezvous(void) // sends that are too long to be eager
{
    if (rank < 2)
        MPI_Send(buffer, big, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void subcomm(void)
{
    MPI_Comm odd;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &odd);
    MPI_Comm_set_name(odd, rank % 2 ? "odd" : "even");
    if (rank == 3)
        MPI_Barrier(odd);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void duplicate(void)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    MPI_Barrier(rank == 2 ? copy : MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void waitall(void)
{
    MPI_Request q[2];
    int x[2];
    MPI_Irecv(&x[0], 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(&x[1], 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD, &q[1]);
    if (rank == 2)
        sleep(1000);
    for (int side = 0; side < 2; side++)
        MPI_Send(&rank, 1, MPI_INT, (rank + (side ? 1 : size - 1)) % size, 4, MPI_COMM_WORLD);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void server(void) // waits for requests of anyone, and the others have none
{
    if (rank == 0)
        receive(MPI_ANY_SOURCE, 5);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void tag(void) // rank 2 has sent another tag
{
    if (rank == 2)
        MPI_Send(&rank, 1, MPI_INT, 3, 7, MPI_COMM_WORLD);
    if (rank == 3)
        receive(2, 99);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void shift(void) // a ring of Sendrecv with one absent
{
    if (rank == 2)
        sleep(1000);
    MPI_Sendrecv(buffer, big, MPI_CHAR, (rank + 1) % size, 6, other, big, MPI_CHAR, (rank + size - 1) % size, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void isend(void)
{
    MPI_Request q;
    if (rank == 1) {
        MPI_Issend(buffer, big, MPI_CHAR, 2, 6, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void) // rank 2 means another root
{
    MPI_Bcast(buffer, big, MPI_CHAR, rank == 2 ? 2 : 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fence(void)
{
    MPI_Win w;
    MPI_Win_create(buffer, big, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    MPI_Win_set_name(w, "halo");
    if (rank == 2)
        sleep(1000);
    MPI_Win_fence(0, w);
    MPI_Win_fence(0, w);
}

static void file(void)
{
    MPI_File f;
    if (rank == 2)
        sleep(1000);
    MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
}

static void crossed(void) // the columns of a grid wait for a row, and that for them
{
    MPI_Comm pairs, ends;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pairs); // 0-1, 2-3, 4
    MPI_Comm_split(MPI_COMM_WORLD, rank == 1 || rank == 2, rank, &ends); // 1-2, the others
    MPI_Comm_set_name(pairs, "pairs");
    MPI_Comm_set_name(ends, "ends");
    if (rank == 1)
        MPI_Barrier(ends);
    if (rank == 3)
        MPI_Send(buffer, big, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    if (rank < 4)
        MPI_Barrier(pairs);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void longring(void) // sends that are too long to be eager, all in the same direction
{
    MPI_Send(buffer, big, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD);
    MPI_Recv(buffer, big, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void request(void) // rank 2 has not made its request
{
    MPI_Request q;
    int one = 1, all;
    if (rank == 2)
        sleep(1000);
    MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void mixed(void) // a collective and a message
{
    MPI_Request q[2];
    int x, one = 1, all;
    if (rank == 2)
        sleep(1000);
    MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q[0]);
    MPI_Irecv(&x, 1, MPI_INT, (rank + 1) % size, 4, MPI_COMM_WORLD, &q[1]);
    MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void othercomm(void) // rank 2 has sent in another communicator
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    if (rank == 2)
        MPI_Send(&rank, 1, MPI_INT, 3, 9, MPI_COMM_WORLD);
    if (rank == 3)
        MPI_Recv(&rank, 1, MPI_INT, 2, 9, copy, MPI_STATUS_IGNORE);
    MPI_Barrier(copy);
}

static void zero(void) // a message of rank 0 with tag 0: zero in MPICH's own numbers, too
{
    MPI_Request q;
    if (rank == 1) {
        MPI_Irecv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void zeros(void) // the same with any tag
{
    MPI_Request q;
    if (rank == 1) {
        MPI_Irecv(buffer, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void zerosend(void) // a send of rank 0 with tag 0
{
    MPI_Request q;
    if (rank == 0) {
        MPI_Issend(buffer, big, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &q);
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void anytag(void) // rank 3 takes any message of rank 1; rank 2 has sent one
{
    if (rank == 2)
        MPI_Send(&rank, 1, MPI_INT, 3, 5, MPI_COMM_WORLD);
    if (rank == 3)
        MPI_Recv(&rank, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void elsewhere(void) // rank 3 waits for rank 2 on a communicator of both; rank 0 has sent on another one
{
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 2 || rank == 3, 0, &pair);
    MPI_Comm_set_name(pair, "pair");
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 3, 9, MPI_COMM_WORLD);
    if (rank == 3)
        MPI_Recv(&rank, 1, MPI_INT, 0, 9, pair, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void writeall(void)
{
    MPI_File f;
    char name[100];
    snprintf(name, sizeof name, "/tmp/hang-file-%d", (int)getppid());
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
    if (rank == 2)
        sleep(1000);
    MPI_File_write_all(f, buffer, 8, MPI_CHAR, MPI_STATUS_IGNORE);
}

static void lock(void) // rank 2 keeps the lock of its window
{
    MPI_Win w;
    MPI_Win_create(buffer, big, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w);
        MPI_Barrier(MPI_COMM_WORLD);
        sleep(1000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w);
    MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, w);
    MPI_Win_unlock(2, w);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void probe(void) // for a message that no rank sends
{
    MPI_Status s;
    if (rank == 4)
        MPI_Probe(0, 12, MPI_COMM_WORLD, &s);
    MPI_Barrier(MPI_COMM_WORLD);
}

// Jobs that do not hang.

static void polls(void) // rank 2 makes the others wait, and looks for messages in a loop
{
    for (;;) {
        if (rank == 2) {
            int n = 0, found, x;
            for (int i = 0; n < size - 1; i++) {
                MPI_Status s;
                MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &found, &s);
                if (found) {
                    MPI_Recv(&x, 1, MPI_INT, s.MPI_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    n++;
                }
            }
        } else {
            for (int i = 0; i < 3000000 * (rank + 1); i++)
                sink += i * 0.5;
            MPI_Send(&rank, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
        }
        reduce(MPI_COMM_WORLD);
    }
}

static void tests(void) // overlap of a collective and work, with MPI_Test between
{
    for (;;) {
        MPI_Request q;
        int done = 0, one = 1, all;
        MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &q);
        for (int i = 0; i < 20 * (rank + 1) && !done; i++) {
            for (int k = 0; k < 300000; k++)
                sink += k * 0.5;
            MPI_Test(&q, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&q, MPI_STATUS_IGNORE);
    }
}

static void setup(void) // one rank reads what the others will get
{
    if (rank == 2)
        for (int i = 0; i < 1000; i++)
            usleep(100000);
    MPI_Bcast(buffer, 64, MPI_CHAR, 2, MPI_COMM_WORLD);
}

static void early(void) // messages that are received later than others that are sent after them
{
    for (int step = 0;; step++) {
        int x;
        if (rank == 0) {
            for (int to = 1; to < size; to++)
                MPI_Send(&step, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
            for (int i = 0; i < 20000000; i++)
                sink += i * 0.5;
            for (int to = 1; to < size; to++)
                MPI_Send(&step, 1, MPI_INT, to, 99, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&x, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Recv(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        reduce(MPI_COMM_WORLD);
    }
}

static void busy(void) { for (;;) reduce(MPI_COMM_WORLD); }

static void work(int n)
{
    for (int i = 0; i < n; i++)
        sink += i * 0.5;
}

static void imbalance(void)
{
    for (;;) {
        work(rank == 2 ? 30000000 : 1000);
        reduce(MPI_COMM_WORLD);
    }
}

static void pipeline(void)
{
    for (int step = 0;; step++) {
        if (rank > 0)
            receive(rank - 1, 1);
        work(3000000);
        if (rank < size - 1)
            MPI_Send(&step, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
        if (step % 8 == 7)
            reduce(MPI_COMM_WORLD);
    }
}

static void pingpong(void)
{
    for (;;) {
        if (rank < 2) {
            if (rank == 0)
                MPI_Send(&rank, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            receive(1 - rank, 1);
            if (rank == 1)
                MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
        work(100000);
    }
}

static void master(void)
{
    for (;;) {
        if (rank == 0) {
            int x;
            MPI_Status s;
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
            MPI_Send(&x, 1, MPI_INT, s.MPI_SOURCE, 2, MPI_COMM_WORLD);
        } else {
            work(3000000 * rank);
            MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            receive(0, 2);
        }
    }
}

static void writer(void)
{
    if (rank == 2) {
        int fd = open("/tmp", O_RDWR | O_TMPFILE, 0600);
        for (;;) {
            if (pwrite(fd, buffer, big, 0) < 0)
                perror("pwrite");
            fdatasync(fd);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void roots(void) // one Bcast after the other, from all roots
{
    for (int step = 0;; step++) {
        MPI_Bcast(buffer, 64, MPI_CHAR, step % size, MPI_COMM_WORLD);
        work(300000 * (rank + 1));
    }
}

static void passive(void) // rank 2 polls its window, in which the others count
{
    MPI_Win w;
    int *counter, one = 1, old;
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &w);
    *counter = 0;
    for (int step = 1;; step++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank != 2)
            work(3000000 * (rank + 1));
        int seen = 0;
        do {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, w);
            if (rank == 2)
                seen = *counter;
            else
                MPI_Fetch_and_op(&one, &old, MPI_INT, 2, 0, MPI_SUM, w);
            MPI_Win_unlock(2, w);
        } while (rank == 2 && seen < step * (size - 1));
    }
}

static void *worker(void *unused)
{
    work(50000000);
    return unused;
}

static void threads(void) // the main threads wait for others that compute
{
    for (;;) {
        pthread_t all[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&all[i], NULL, worker, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(all[i], NULL);
        if (rank == 2)
            worker(NULL);
        reduce(MPI_COMM_WORLD);
    }
}

static void shell(void) // rank 2 waits for a command
{
    for (;;) {
        if (rank == 2 && system("sleep 0.5") != 0)
            exit(1);
        reduce(MPI_COMM_WORLD);
    }
}

static void pipes(void) // rank 2 reads what other processes write
{
    for (;;) {
        if (rank == 2) {
            FILE *f = popen("(sleep 0.3; echo a; sleep 0.2; echo b) | cat", "r");
            while (fgets(buffer, sizeof buffer, f))
                ;
            pclose(f);
        }
        reduce(MPI_COMM_WORLD);
    }
}

static void splits(void) // communicators are made again and again, and rank 2 comes late
{
    for (int step = 0;; step++) {
        MPI_Comm half;
        work(rank == 2 ? 20000000 : 1000);
        MPI_Comm_split(MPI_COMM_WORLD, (rank + step) % 2, -rank, &half);
        work(rank == 3 ? 10000000 : 1000);
        reduce(half);
        MPI_Comm_free(&half);
    }
}

static void groups(void) // pipelines within communicators that overlap
{
    MPI_Comm half, pairs;
    int n, r, x = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pairs);
    for (;;) {
        MPI_Comm all[] = {half, pairs};
        for (int i = 0; i < 2; i++) {
            MPI_Comm_size(all[i], &n);
            MPI_Comm_rank(all[i], &r);
            if (r > 0)
                MPI_Recv(&x, 1, MPI_INT, r - 1, 4, all[i], MPI_STATUS_IGNORE);
            work(4000000 * (rank + 1));
            if (r < n - 1)
                MPI_Send(&x, 1, MPI_INT, r + 1, 4, all[i]);
        }
        MPI_Barrier(half);
    }
}

static void checkpoint(void) // the ranks write one after the other, and then all together
{
    static char block[1 << 20];
    char name[64], shared[64];
    snprintf(name, sizeof name, "/tmp/hang-part-%d", (int)getpid());
    snprintf(shared, sizeof shared, "/tmp/hang-all-%d", (int)getpid());
    MPI_Bcast(shared, sizeof shared, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (;;) {
        int token = 0, fd;
        if (rank > 0)
            MPI_Recv(&token, 1, MPI_INT, rank - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        for (int i = 0; i < 8; i++)
            if (write(fd, block, sizeof block) < 0)
                exit(1);
        fsync(fd);
        close(fd);
        unlink(name);
        if (rank < size - 1)
            MPI_Send(&token, 1, MPI_INT, rank + 1, 2, MPI_COMM_WORLD);
        MPI_File f;
        MPI_File_open(MPI_COMM_WORLD, shared, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
        MPI_File_write_at_all(f, (MPI_Offset)rank * sizeof block, block, sizeof block, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_close(&f);
    }
}

static const struct { const char *name; void (*run)(void); } cases[] = {
    {"absent", absent}, {"sleeps", sleeps}, {"stopped", stopped}, {"fifo", fifo}, {"mutex", mutexes}, {"handler", handler},
    {"cycle", cycle}, {"locked", locked}, {"tool", tool}, {"toolreduces", toolreduces},
    {"gather", gather}, {"creategroup", creategroup},
    {"functions", functions}, {"loops", loops}, {"finalize", finalize}, {"ring", ring}, {"pair", pair},
    {"rendezvous", rendezvous}, {"subcomm", subcomm}, {"duplicate", duplicate}, {"waitall", waitall}, {"server", server},
    {"tag", tag}, {"shift", shift}, {"isend", isend}, {"bcast", bcast}, {"fence", fence}, {"file", file},
    {"busy", busy}, {"imbalance", imbalance}, {"pipeline", pipeline}, {"pingpong", pingpong}, {"master", master},
    {"writer", writer}, {"roots", roots},
    {"crossed", crossed}, {"longring", longring}, {"request", request}, {"mixed", mixed}, {"othercomm", othercomm},
    {"zero", zero}, {"zeros", zeros}, {"zerosend", zerosend}, {"anytag", anytag}, {"elsewhere", elsewhere},
    {"writeall", writeall}, {"lock", lock}, {"probe", probe}, {"polls", polls}, {"tests", tests}, {"setup", setup}, {"early", early},
    {"passive", passive}, {"threads", threads}, {"shell", shell}, {"pipes", pipes}, {"splits", splits}, {"groups", groups}, {"checkpoint", checkpoint},
};

int main(int argc, char **argv)
{
    int n = sizeof cases / sizeof cases[0];

    if (argc < 2) {
        for (int i = 0; i < n; i++)
            puts(cases[i].name);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d pid %d\n", rank, (int)getpid());
    fflush(stdout);
    for (int i = 0; i < n; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    MPI_Finalize();
}
