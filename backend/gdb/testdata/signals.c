// signals.c - gets SIGUSR1 three times and counts what reaches it.
#include <signal.h>

static volatile int caught;

static void count(int sig)
{
    caught += sig == SIGUSR1;
}

static int done(void)
{
    return caught;
}

int main(void)
{
    signal(SIGUSR1, count);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    return done() > 3;
}
