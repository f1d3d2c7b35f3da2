// exitcode.c - ends as its argument says: a number is the exit code, SEGV, ABRT,
// TERM, KILL, INT or FPE the signal that it dies of.
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int signal_number(const char *name)
{
    static const struct { const char *name; int number; } table[] = {
        { "SEGV", SIGSEGV }, { "ABRT", SIGABRT }, { "TERM", SIGTERM },
        { "KILL", SIGKILL }, { "INT", SIGINT }, { "FPE", SIGFPE },
    };
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(name, table[i].name) == 0)
            return table[i].number;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 0;
    if (isdigit((unsigned char)argv[1][0]))
        return atoi(argv[1]);
    raise(signal_number(argv[1]));
    return 99;
}
