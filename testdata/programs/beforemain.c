// beforemain.c - ends before main as its argument says: a number is the exit code, KILL and
// SEGV are signals. Without an argument it comes to main and ends there.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The loader of glibc hands the arguments of main to constructors.
__attribute__((constructor)) static void before(int argc, char **argv)
{
    if (argc < 2)
        return;
    if (strcmp(argv[1], "KILL") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(argv[1], "SEGV") == 0)
        raise(SIGSEGV);
    _exit(atoi(argv[1]));
}

int main(void)
{
    return 0;
}
