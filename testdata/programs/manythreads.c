// manythreads.c - a program whose threads all wait until standard input ends:
//
//     ./manythreads 1000
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *rest(void *none)
{
    for (;;)
        sleep(1000);
    return none;
}

int main(int argc, char **argv)
{
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (int i = 1; argc > 1 && i < atoi(argv[1]); i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, rest, NULL) != 0)
            return 1;
    }
    puts("ready");
    fflush(stdout);
    return getchar() != EOF;
}
