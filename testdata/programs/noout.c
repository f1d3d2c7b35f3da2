// noout.c - output that is not made of lines: part of a line that stays without
// a newline, and bytes that are neither UTF-8 nor text, NUL among them.
#include <stdio.h>

int main(void)
{
    static const unsigned char bytes[] = { 'b', 0x00, 0x01, 0xff, 0xfe, 0xc3, 0x28, '\r', '\n' };
    fwrite(bytes, 1, sizeof bytes, stdout);
    fputs("no newline", stdout);
    fflush(stdout);
    fputs("nor here", stderr);
    return 0;
}
