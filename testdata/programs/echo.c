// echo.c - gives each line of standard input back on standard output as it
// comes, and tells on end of file how many there were.
#include <stdio.h>

int main(void)
{
    char line[4096];
    int n = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        fputs(line, stdout);
        n++;
    }
    printf("end of file after %d lines\n", n);
    return 0;
}
