// spin.c - runs until someone stops it; handles no signals. `print stop = 1` in a
// debugger, then continue, lets it end with code 0.
#include <unistd.h>
#include "rank.h"

volatile int stop;
volatile unsigned long turns;

int main(void)
{
    int rank = my_rank();
    while (!stop) {
        turns++;
        usleep(1000 + rank); // leaves the processor to the others
    }
    return 0;
}
