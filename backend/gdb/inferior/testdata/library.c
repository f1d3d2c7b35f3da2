// A library that is loaded and unloaded. At -z lazy its code begins with a procedure linkage table, whose
// first jump contains the byte 0xcc; without calls it has no such table.

#include <stdlib.h>

int pad[1200]; // both libraries take as many pages

int work(int n)
{
    pad[0] = n;
    for (volatile int i = 0; i < 100000; i++)
        n += i & 1;
#ifdef WITHOUT
    return n;
#else
    return n + atoi("7") + rand(); // the first calls go by that jump
#endif
}
