// flood.c - writes N lines to standard output and M to standard error (first and
// second argument, default 1000 and 0), numbered from 1. A reader that loses or
// reorders a line of one stream can tell.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    long out = argc > 1 ? atol(argv[1]) : 1000;
    long err = argc > 2 ? atol(argv[2]) : 0;

    for (long i = 1; i <= out || i <= err; i++) {
        if (i <= out)
            printf("out %ld\n", i);
        if (i <= err)
            fprintf(stderr, "err %ld\n", i);
    }
    return 0;
}
