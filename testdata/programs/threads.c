// threads.c - starts N threads (first argument, default 2, at most 1000) that
// enter the function meet at the same time, and joins them.
//
// A barrier lets all of them go at once, so that a breakpoint in meet is hit by
// several threads together. Nothing in it waits for a clock. With a second argument
// the threads do not end before a debugger sets hold to 0.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 1000 };

static pthread_barrier_t all_here;
int results[MOST];
volatile int hold = 1;

int meet(int id)
{
    int square = id * id;
    return square;
}

static void *run(void *arg)
{
    int id = *(int *)arg;
    pthread_barrier_wait(&all_here);
    results[id] = meet(id);
    while (hold)
        usleep(1000);
    return NULL;
}

int main(int argc, char **argv)
{
    static pthread_t threads[MOST];
    static int ids[MOST];
    int n = argc > 1 ? atoi(argv[1]) : 2;
    long sum = 0;
    hold = hold && argc > 2;

    if (n < 1 || n > MOST)
        return 2;
    pthread_barrier_init(&all_here, NULL, n);
    for (int i = 0; i < n; i++) {
        ids[i] = i;
        if (pthread_create(&threads[i], NULL, run, &ids[i]) != 0)
            return 3;
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < n; i++)
        sum += results[i];
    printf("%d threads, sum %ld\n", n, sum);
    return 0;
}
