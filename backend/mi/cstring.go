// Strings of GDB/MI: C strings with gdb's escapes.

package mi

import (
	"bytes"
	"strings"
)

// cstring reads a string in quotes. Without escapes the result is a substring of the line.
func (l *lexer) cstring() (string, bool) {
	rest := l.s[l.i+1:]
	end := strings.IndexByte(rest, '"')
	if end < 0 {
		return "", false
	}
	esc := strings.IndexByte(rest[:end], '\\')
	if esc < 0 {
		l.i += end + 2
		return rest[:end], true
	}
	return l.escaped(l.i+1, l.i+1+esc)
}

// escaped decodes a string that starts at start and has its first backslash at i. It finds the
// closing quote first, so that it allocates once.
func (l *lexer) escaped(start, i int) (string, bool) {
	end := i
	for end < len(l.s) && l.s[end] != '"' {
		if l.s[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(l.s) {
		return "", false
	}
	l.i = end + 1
	text := l.s[start:end]
	b := make([]byte, 0, len(text))
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			return string(withoutStyle(append(b, text...))), true
		}
		b = append(b, text[:i]...)
		c, n := unescape(text[i:])
		b = append(b, c)
		text = text[i+n:]
	}
}

// withoutStyle removes escape sequences for colours and styles, in place: ESC [ numbers m
// (ECMA-48, SGR). Since version 18 gdb writes them into its texts, for terminals that show them.
// Escape characters in strings of the program come as \\033, and stay.
func withoutStyle(b []byte) []byte {
	kept := b[:0]
	for {
		i := bytes.Index(b, []byte("\x1b["))
		if i < 0 {
			return append(kept, b...)
		}
		end := i + 2
		for end < len(b) && (b[end] == ';' || '0' <= b[end] && b[end] <= '9') {
			end++
		}
		if end < len(b) && b[end] == 'm' {
			kept = append(kept, b[:i]...)
			b = b[end+1:]
			continue
		}
		kept = append(kept, b[:end]...)
		b = b[end:]
	}
}

// unescape decodes the escape at the start of s: the byte, and the length of the escape. s has at
// least one character after its backslash. An octal number has one to three digits, a hexadecimal
// one one or two, whatever follows. A character without a meaning stands for itself (C11 6.4.4.4).
// gdb itself writes mostly octal (gdb/utils.c, printchar).
func unescape(s string) (c byte, n int) {
	switch s[1] {
	case '0', '1', '2', '3', '4', '5', '6', '7':
		for n = 1; n < len(s) && n < 4 && '0' <= s[n] && s[n] <= '7'; n++ {
			c = c<<3 | (s[n] - '0')
		}
		return c, n
	case 'x':
		for n = 2; n < len(s) && n < 4 && hexDigit(s[n]) < 16; n++ {
			c = c<<4 | hexDigit(s[n])
		}
		if n == 2 {
			return 'x', 2
		}
		return c, n
	}
	if i := strings.IndexByte(escapeLetters, s[1]); i >= 0 {
		return escapeBytes[i], 2
	}
	return s[1], 2
}

// hexDigit returns the value of a hexadecimal digit, 16 for other bytes.
func hexDigit(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}

// escapeBytes[i] is the byte that a backslash and escapeLetters[i] stand for.
const (
	escapeLetters = "abefnrtv"
	escapeBytes   = "\a\b\x1b\f\n\r\t\v"
)

// appendCString appends a string in quotes as gdb does in MI, where its strings have seven bits:
// control characters and all bytes from DEL on are octal.
func appendCString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		case strings.IndexByte("\a\b\x1b\f\n\r\t", c) >= 0:
			b = append(b, '\\', escapeLetters[strings.IndexByte(escapeBytes, c)])
		default:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		}
	}
	return append(b, '"')
}
