/* around.h - what work.c takes for granted. */
#include <stdio.h>
int my_rank(void);
