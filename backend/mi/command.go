// Commands to gdb.

package mi

import "strconv"

// Quote gives a string as an MI C-string (GDB manual, GDB/MI Input Syntax), in
// which every byte but NUL arrives as it is. gdb's strings end at a NUL, so it
// and what follows are left out.
func Quote(s string) string { return string(appendQuoted(nil, s)) }

// AppendCommand writes TOKEN-COMMAND ARGS and a newline; a negative token is
// left out. Arguments are quoted where they need it, so blanks, quotes,
// backslashes, newlines and UTF-8 arrive exactly.
//
// The command goes out as it is, but for line breaks and NULs, which become blanks: one
// call is one command. It may hold more than a word. That is the way for what
// gdb does not unquote: commands that hand their arguments to its command line
// (-gdb-set, -gdb-show, -exec-arguments, -file-…, -inferior-tty-set), and
// command lines without a dash.
//
// An argument that is equal to an option of every command (--all, --thread, --frame,
// --thread-group, --language) is taken for it where such options may stand; an expression of
// that look is given with a blank in front.
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

// needsQuotes tells what gdb would not take as one word as it stands.
func needsQuotes(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c == '"' || c == '\\' || c == '\'' || c == 0x7f {
			return true
		}
	}
	return s == ""
}

// appendQuoted escapes what ends a string or a line. Control characters go in
// octal, three digits always, so that a digit behind them stays what it is.
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
