/* folds.c - structures, arrays and pointers of one shape that differ between ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "rank.h"

enum state { IDLE, BUSY };

struct point { double a; int k[3]; };

struct cell {
    int x, y;
    double w[3];
    struct point in;
    enum state state;
    struct cell *next;
    int *at;
    const char *text;
    void (*fn)(int);
};

int buffer[100];

static void idle(int n) { (void)n; }

static int work(struct cell *cell, struct cell copy, int n)
{
    int list[20] = {0};
    list[n] = 1;
    if (getenv("FOLDS_WAIT")) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    return cell->x + copy.y + list[0]; /* all stands */
}

int main(void)
{
    int rank = my_rank();
    struct cell cell = {rank, -rank, {0.5, 1.5, 2.5}, {rank * 1.25, {1, 2, 3}}, rank == 3 ? BUSY : IDLE, NULL, buffer + 4, "hello", idle};
    struct cell *own = malloc(sizeof *own + 100 * rank); /* each rank has other addresses */
    *own = cell;
    own = malloc(sizeof *own);
    *own = cell;
    if (rank % 2)
        cell.next = own;
    return work(own, cell, rank) == 99;
}
