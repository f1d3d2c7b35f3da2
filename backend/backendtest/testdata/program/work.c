// work.c, as simulated ranks run it: main -> compute -> helper.
int rank, size;
const char *name = "worker";

int helper(int x)
{
    int twice = 2 * x;
    return twice;
}

int compute(int n)
{
    int sum = 0;
    sum = helper(n) + 1;
    return sum;
}

int main(void)
{
    rank = my_rank();
    int x = compute(rank);
    puts("hello");
    return 0;
}
