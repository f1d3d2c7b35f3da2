// Writing commands to gdb.

package mi

import "strconv"

// AppendCommand appends TOKEN-COMMAND ARGS and a newline; a negative token is left out. Arguments
// are quoted if necessary, so that blanks, quotes, backslashes, newlines and UTF-8 arrive exactly.
//
// The command is written as it is, except that line breaks and NULs become blanks: one call is one
// command. It may have several words. That is necessary for text that gdb does not unquote:
// commands that pass their arguments to its command line (-gdb-set, -gdb-show, -exec-arguments,
// -file-…, -inferior-tty-set), and command lines without a dash.
//
// An argument that is equal to an option of every command (--all, --thread, --frame,
// --thread-group, --language) is taken for that option where such options are allowed; an
// expression of that form needs a blank in front.
func AppendCommand(b []byte, token int64, command string, args ...string) []byte {
	if token >= 0 {
		b = strconv.AppendInt(b, token, 10)
	}
	for i := 0; i < len(command); i++ {
		c := command[i]
		if c == '\n' || c == '\r' || c == 0 {
			c = ' '
		}
		b = append(b, c)
	}
	for _, a := range args {
		b = append(b, ' ')
		if needsQuotes(a) {
			b = appendQuoted(b, a)
		} else {
			b = append(b, a...)
		}
	}
	return append(b, '\n')
}

// needsQuotes reports whether gdb would not read s as one word without quotes.
func needsQuotes(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c == '"' || c == '\\' || c == '\'' || c == 0x7f {
			return true
		}
	}
	return s == ""
}

// appendQuoted appends s as an MI C-string (GDB manual, GDB/MI Input Syntax). gdb's strings end at a
// NUL, so it and all that follows are left out. Control characters are octal, always with three
// digits, so that a digit after them is not read as part of them.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s) && s[i] != 0; i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
