// manyimages.c - a program with as many libraries as a program of machine learning has. Each of
// THREADS threads waits below calls through the first 8 libraries, until standard input ends:
//
//     ./manyimages THREADS LIBRARY...
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { deepest = 8 };
typedef void through(void (*next)(int), int depth);
static through *ways[deepest];
static pthread_t first;

static void down(int depth)
{
    if (depth < deepest && ways[depth])
        ways[depth](down, depth + 1);
    else if (pthread_equal(pthread_self(), first))
        getchar();
    else
        for (;;)
            sleep(1000);
}

static void *work(void *none)
{
    down(0);
    return none;
}

int main(int argc, char **argv)
{
    first = pthread_self();
    for (int i = 2; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        if (i - 2 < deepest)
            ways[i - 2] = (through *)dlsym(library, "through");
    }
    for (int i = 1; i < atoi(argv[1]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) != 0)
            return 1;
    }
    puts("ready");
    fflush(stdout);
    down(0);
    return 0;
}
