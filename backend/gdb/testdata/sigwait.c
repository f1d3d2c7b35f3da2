// sigwait.c - blocks SIGINT in one thread and waits for it in another: a process that sends
// it one ends the program.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

volatile long turns;

static void *wait_for_it(void *set)
{
    int sig;
    sigwait(set, &sig);
    _exit(7); // it has got one
}

int main(void)
{
    static sigset_t set;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, wait_for_it, &set);
    for (;;) { // both threads run
        turns++;
        usleep(100);
    }
}
