// A program that crashes in a library which it has called.
#include <string.h>
#include <stdlib.h>
#include <stdio.h>
static void work(char *p, int n) {
    if (n > 2) {
        memset(p, 1, n * 100);
        abort();
    }
    work(p, n + 1);
}
int main(int argc, char **argv) {
    char b[1000];
    work(argc > 1 ? (char*)8 : b, 0);
    return b[0];
}
