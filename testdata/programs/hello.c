// hello.c - says which rank it is, then gives its arguments back, one a line.
#include <stdio.h>
#include <stdlib.h>

static const char *or(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

int main(int argc, char **argv)
{
    printf("hello from rank %s of %s\n", or(getenv("SDM_RANK"), "0"), or(getenv("SDM_SIZE"), "1"));
    for (int i = 1; i < argc; i++)
        puts(argv[i]);
    return 0;
}
