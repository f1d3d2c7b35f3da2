// vector.c - comes to an instruction for vectors, which gdb cannot record.
int passed;

void vector(void)
{
#ifdef __x86_64__
    __asm__ volatile("vzeroupper");
#endif
}

int behind(void)
{
    passed++;
    return passed;
}

int main(void)
{
    passed = 0;
    vector();
    return behind() - 1;
}
