// laps.c - calls the function lap for ever, from main -> track; rests so many
// microseconds (second argument, default 0) after each call. As many further threads
// as the first argument says (default 0, at most 1000) stand in rest all the time; it
// says when they are there.
//
// A breakpoint in lap is hit again and again, as fast as the debugger goes on.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "rank.h"

enum { MOST = 1000 };

int rank;
volatile int stop;
volatile unsigned long turns;

static void rest(void)
{
    pause();
}

static void *helper(void *arg)
{
    for (;;)
        rest();
    return arg;
}

void lap(unsigned long turn)
{
    turns = turn + 1;
}

static void track(unsigned pause_us)
{
    while (!stop) {
        lap(turns);
        if (pause_us)
            usleep(pause_us);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;

    rank = my_rank();
    if (n < 0 || n > MOST)
        return 2;
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, helper, NULL) != 0)
            return 3;
    }
    printf("rank %d runs, %d threads\n", rank, 1 + n);
    fflush(stdout);
    track(argc > 2 ? atoi(argv[2]) : 0);
    return 0;
}
