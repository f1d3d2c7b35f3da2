// Loads, calls and unloads the libraries that it is given, in turn and without end.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int sum = 0;
    for (long n = 0;; n++) {
        void *library = dlopen(argv[1 + n % (argc - 1)], RTLD_LAZY);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        int (*work)(int) = (int (*)(int))dlsym(library, "work");
        sum += work(sum);
        dlclose(library);
        if (n == 10) {
            puts("at work");
            fflush(stdout);
        }
    }
}
