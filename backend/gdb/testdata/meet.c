// meet.c DIR N: N ranks that wait for one another, as those of a collective do. Two threads count as long as they run.
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

volatile long counted[2];
volatile int go = 1;
static const char *dir;
static int all;

static void *count(void *of)
{
    while (go)
        ++*(volatile long *)of;
    return NULL;
}

static int come(int round)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] == 'a' + round;
    closedir(d);
    return n;
}

static void meet(int round)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%c%d", dir, 'a' + round, (int)getpid());
    fclose(fopen(path, "w"));
    while (come(round) < all)
        usleep(1000);
}

static int work(int i)
{
    int twice = 2 * i;
    return twice;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    int sum = 0;
    dir = argv[1];
    all = atoi(argv[2]);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, count, (void *)&counted[i]);
    for (int i = 0; i < 10; i++) {
        sum += work(i);
    }
    meet(0);
    sum++;
    meet(1);
    sum++;
    go = 0;
    return argc > 9 ? sum : 0;
}
