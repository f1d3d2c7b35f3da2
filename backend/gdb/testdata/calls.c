// calls.c - functions for a debugger to call, on threads that are never done.
#include <pthread.h>
#include <unistd.h>

volatile long turns;
volatile int stop;

int add(int a, int b) { return a + b; }

int forever(int n)
{
    while (!stop)
        turns += n;
    return 0;
}

static void *spin(void *unused)
{
    (void)unused;
    while (!stop) {
        turns++;
        usleep(100);
    }
    return NULL;
}

int outer(int n)
{
    return add(n, 1); // calls add
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, spin, NULL);
    outer(1); // the thread runs
    spin(NULL);
    pthread_join(thread, NULL);
    return 0;
}
