// Messages and patterns of the console.

package gdbtext

import "strings"

// LibraryPattern returns a regular expression for gdb that matches a name. Characters with a meaning in
// regular expressions become ".", since versions of gdb differ in their syntax.
func LibraryPattern(name string) string {
	return "^" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*+?[]{}()|^$\`, r) {
			return '.'
		}
		return r
	}, name) + "$"
}

// IsAboutThreadLibrary reports whether a text is what gdb prints when a program creates its first thread.
// A gdb with several programs prints it within the output about another one.
func IsAboutThreadLibrary(text string) bool {
	return strings.HasPrefix(text, "[Thread debugging using libthread_db ") || strings.HasPrefix(text, "Using host libthread_db library ")
}
