// children.c - a rank that starts other processes, by each way that there is: fork, fork and
// exec, vfork, posix_spawn, system and popen. The arguments choose some: `children fork system`.
// With TICKING in the environment a second thread calls tick meanwhile, and each way is gone ten times.
// With UNTIL=FILE it says nothing and starts others again and again until the file is there; it ends with status 9 when one of
// them has not told what it should.
//
// build: gcc -g -O0 -pthread -o $OUT/children children.c
// mpi: $MPICC -g -O0 -pthread -DWITH_MPI -o $OUT/mpichildren children.c
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "job.h"

extern char **environ;

static int status_of(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -1;
    return WEXITSTATUS(status);
}

// in_child is what a child of fork does; its status tells the rank.
static int in_child(int rank)
{
    int work = 0;
    for (int i = 0; i < 1000; i++)
        work += i % (rank + 2);
    return work ? 20 + rank : 1;
}

static int by_fork(int rank)
{
    pid_t child = fork();
    if (child == 0)
        _exit(in_child(rank)); // the child
    return status_of(child);
}

static int by_exec(int rank)
{
    char code[32];
    snprintf(code, sizeof code, "exit %d", 30 + rank);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", code, (char *)NULL);
        _exit(1);
    }
    return status_of(child);
}

static int by_vfork(int rank)
{
    char code[32];
    snprintf(code, sizeof code, "exit %d", 40 + rank);
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", code, (char *)NULL);
        _exit(1);
    }
    return status_of(child);
}

static int by_spawn(int rank)
{
    char code[32], *args[] = {"sh", "-c", code, NULL};
    pid_t child = -1;
    snprintf(code, sizeof code, "exit %d", 50 + rank);
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ) != 0)
        return -1;
    return status_of(child);
}

static int by_system(int rank)
{
    char code[32];
    snprintf(code, sizeof code, "exit %d", 60 + rank);
    return WEXITSTATUS(system(code));
}

static int by_popen(int rank)
{
    char line[64] = "";
    snprintf(line, sizeof line, "echo %d", 70 + rank);
    FILE *from = popen(line, "r");
    if (!from || !fgets(line, sizeof line, from))
        return -1;
    pclose(from);
    return atoi(line);
}

static const struct way {
    const char *name;
    int (*start)(int rank);
} ways[] = {
    {"fork", by_fork}, {"exec", by_exec}, {"vfork", by_vfork},
    {"spawn", by_spawn}, {"system", by_system}, {"popen", by_popen},
};

static int chosen(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

static volatile int over;

static void tick(long n)
{
    if (n % 100 == 0)
        usleep(100);
}

static void *ticking(void *unused)
{
    for (long n = 1; !over; n++)
        tick(n);
    return unused;
}

// all_ways goes all ways until a file is there.
static long all_ways(int rank, const char *until, int argc, char **argv)
{
    long total = 0;
    do {
        for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            if (!chosen(ways[i].name, argc, argv))
                continue;
            int told = ways[i].start(rank), right = 20 + 10 * (int)i + rank;
            if (told != right) {
                printf("rank %d: %s %d, not %d\n", rank, ways[i].name, told, right);
                exit(9);
            }
            total++;
        }
    } while (access(until, F_OK) != 0);
    return total;
}

int main(int argc, char **argv)
{
    int rank = job_rank(&argc, &argv);
    int beside = getenv("TICKING") != NULL;
    pthread_t thread;
    long total = 0;
    if (beside)
        pthread_create(&thread, NULL, ticking, NULL);
    if (getenv("UNTIL")) {
        total = job_sum(all_ways(rank, getenv("UNTIL"), argc, argv));
        printf("rank %d: started %ld\n", rank, total);
        job_end();
        return 0;
    }
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const struct way *way = &ways[i];
        if (!chosen(way->name, argc, argv))
            continue;
        int told = way->start(rank);
        for (int again = 1; beside && again < 10; again++)
            if (way->start(rank) != told)
                told = -1;
        total += told; // told by a child
        printf("rank %d: %s %d\n", rank, way->name, told);
        fflush(stdout);
    }
    over = 1;
    if (beside)
        pthread_join(thread, NULL);
    total = job_sum(total);
    printf("rank %d: total %ld\n", rank, total); // all are back
    job_end();
    return 0;
}
