// Lengths of tokens.

package shape

import "strings"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isNameStart(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
}
func isName(c byte) bool { return isNameStart(c) || isDigit(c) }

// ends reports whether a value may end before rest.
func ends(rest string) bool {
	return rest == "" || strings.IndexByte(",})\n", rest[0]) >= 0 || strings.HasPrefix(rest, "...") ||
		strings.HasPrefix(rest, " )") || strings.HasPrefix(rest, " <repeats ")
}

// quoteLength returns the length of a quoted text, with its quotes; 0 if it is not
// terminated.
func quoteLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			if s[0] == '\'' && i+1 < len(s) && s[i+1] == '\'' && i > 1 { // Fortran doubles quotes
				i++
				continue
			}
			return i + 1
		}
	}
	return 0
}

// textLength returns the length of a text, which gdb may print in pieces:
//
//	"abc", '\000' <repeats 12 times>, "d"...
//
// Two pieces without a count between them are two texts.
func textLength(s string) int {
	n, counted := pieceLength(s)
	for n > 0 && strings.HasPrefix(s[n:], ", ") {
		more, times := pieceLength(s[n+len(", "):])
		if more == 0 || !counted && !times {
			break
		}
		n, counted = n+len(", ")+more, times
	}
	if n > 0 && strings.HasPrefix(s[n:], "...") {
		n += len("...")
	}
	return n
}

// pieceLength returns the length of a piece of a text, and whether it is a counted
// character.
func pieceLength(s string) (n int, counted bool) {
	prefix := len(s) - len(strings.TrimLeft(s, "LuU8"))
	if prefix == len(s) || s[prefix] != '"' && s[prefix] != '\'' {
		return 0, false
	}
	quoted := quoteLength(s[prefix:])
	if quoted == 0 {
		return 0, false
	}
	n = prefix + quoted
	if s[prefix] == '"' {
		return n, false
	}
	times := repeated.FindString(s[n:])
	if times == "" || times[0] == ',' {
		return n, false
	}
	return n + len(times), true
}

// bracketLength returns the length of a text in brackets, with the brackets; 0 if
// they do not match.
func bracketLength(s string) int {
	var open []byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			n := quoteLength(s[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		case '(', '[', '{', '<':
			if len(open) == maxDepth || c == '<' && strings.HasSuffix(s[:i], "operator") {
				break
			}
			open = append(open, c)
		case ')', ']', '}', '>':
			if c == '>' && i > 0 && s[i-1] == '-' {
				break // ->
			}
			if len(open) == 0 || open[len(open)-1] != map[byte]byte{')': '(', ']': '[', '}': '{', '>': '<'}[c] {
				return 0
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// numberLength returns the length of a number: 12, -1.5e-07, 0x1f.
func numberLength(s string) int {
	n := 0
	if s[0] == '-' || s[0] == '+' {
		n++
	}
	if strings.HasPrefix(s[n:], "0x") {
		for n += 2; n < len(s) && (isDigit(s[n]) || 'a' <= s[n] && s[n] <= 'f'); n++ {
		}
		return n
	}
	for n < len(s) && (isDigit(s[n]) || s[n] == '.' && !strings.HasPrefix(s[n:], "..")) {
		n++
	}
	if n+1 < len(s) && s[n] == 'e' && (s[n+1] == '-' || s[n+1] == '+' || isDigit(s[n+1])) {
		for n += 2; n < len(s) && isDigit(s[n]); n++ {
		}
	}
	return n
}

// characterLength returns the length of the character after its code: " 'a'", "
// L'a'".
func characterLength(s string) int {
	n := 1
	if n < len(s) && (s[n] == 'L' || s[n] == 'u' || s[n] == 'U') {
		n++
	}
	if n < len(s) && s[n] == '\'' {
		if quoted := quoteLength(s[n:]); quoted > 0 {
			return n + quoted
		}
	}
	return 0
}

// pointedLength returns the length of what gdb prints after an address: "
// <buf+16>", ` "text"`, or both.
func pointedLength(s string) int {
	n := 0
	if strings.HasPrefix(s, " <") && !strings.HasPrefix(s, " <repeats ") {
		n = 1 + bracketLength(s[1:])
		if n == 1 {
			return 0
		}
	}
	if rest := strings.TrimLeft(s[n:], " "); len(rest) == len(s)-n-1 {
		if text := textLength(rest); text > 0 {
			return n + 1 + text
		}
	}
	return n
}

// wordLength returns the length of a name with its scopes: RED, ns::Color::RED,
// .TRUE., nan(0x1).
func wordLength(s string) int {
	n := 0
	for n < len(s) {
		switch c := s[n]; {
		case isName(c), (c == '.' || c == '-') && n == 0, c == '~', c == '.' && n > 1 && s[0] == '.':
			n++
		case strings.HasPrefix(s[n:], "::"):
			n += 2
		case c == '<' && n > 0:
			angle := bracketLength(s[n:])
			if angle == 0 {
				return n
			}
			n += angle
		case c == '(' && (s[:n] == "nan" || s[:n] == "-nan"):
			return n + bracketLength(s[n:])
		default:
			return n
		}
	}
	return n
}
