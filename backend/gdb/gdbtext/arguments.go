// The arguments of a frame in the output of "backtrace".

package gdbtext

import "strings"

// SplitArguments splits "n=n@entry=5, text=0x1 \"a, b=\", m=..." into names and values. The list of
// "set print frame-arguments presence" is "...", a name without a value.
func SplitArguments(list string) (names, values []string) {
	for list != "" {
		n := nameLength(list)
		if n == 0 {
			return append(names, list), append(values, "")
		}
		name := list[:n]
		list = list[n+1:]
		end := valueLength(list)
		value := list[:end]
		list = strings.TrimPrefix(list[end:], ", ")
		names = append(names, name)
		if same, ok := strings.CutPrefix(value, name+"@entry="); ok {
			value = same
			names, values = append(names, name+"@entry"), append(values, Listed(value))
		}
		values = append(values, Listed(value))
	}
	return names, values
}

// nameLength returns the length of the argument name at the beginning of a text, which "=" follows; 0:
// there is none.
func nameLength(text string) int {
	for i := range len(text) {
		switch {
		case text[i] == '=':
			return i
		case IsNameByte(text[i], false) || text[i] >= 0x80 || text[i] == '.' || text[i] == '@' || text[i] == '$':
		default:
			return 0
		}
	}
	return 0
}

// valueLength returns the length of a value: up to ", NAME=" outside of strings and brackets, or up to
// the end.
func valueLength(text string) int {
	if strings.HasPrefix(text, "<error ") { // a message of gdb, which may hold apostrophes
		if i := strings.Index(text, ">, "); i >= 0 {
			return i + 1
		}
		return len(text)
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		case '"', '\'':
			i += quotedLength(text[i:]) - 1
		case ',':
			if depth <= 0 && strings.HasPrefix(text[i:], ", ") && nameLength(text[i+2:]) > 0 {
				return i
			}
		}
	}
	return len(text)
}

// quotedLength returns the length of a quoted string; 1 if it is not terminated.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 1
}
