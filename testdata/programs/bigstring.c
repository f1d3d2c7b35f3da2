// bigstring.c - holds a string of 200,000 characters, which makes one very long
// answer of a debugger, and texts that are hard to quote.
#include <string.h>

enum { SIZE = 200000 };

char big[SIZE + 1];
char hard[] = "quote \" backslash \\ newline \n tab \t octal \001" "7 umlaut \303\244 broken \377 end";

int look(const char *text)
{
    return (int)strlen(text); // stop here: big is filled
}

int main(void)
{
    for (int i = 0; i < SIZE; i++)
        big[i] = 'a' + i % 26;
    return look(big) == SIZE && look(hard) > 0 ? 0 : 1;
}
