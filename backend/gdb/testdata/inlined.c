/* inlined.c - a function that is inlined into another one that is inlined: both begin at the same instruction. */
static volatile int counted;

static inline __attribute__((always_inline)) void inner(void)
{
    counted = 7;
}

static inline __attribute__((always_inline)) void outer(void)
{
    inner();
    counted = 8;
}

int main(void)
{
    counted = 6;
    outer();
    return counted - 8;
}
