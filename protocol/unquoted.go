// Search for characters outside of quotes.

package protocol

import "iter"

// Unquoted yields the bytes of a text outside of 'quotes' and "quotes", with their
// indexes. As in C, a backslash within quotes escapes the next byte. An unclosed
// quote extends to the end.
func Unquoted(text string) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		within := byte(0)
		for i := 0; i < len(text); i++ {
			switch b := text[i]; {
			case within != 0 && b == '\\':
				i++
			case within != 0:
				if b == within {
					within = 0
				}
			case b == '"' || b == '\'':
				within = b
			case !yield(i, b):
				return
			}
		}
	}
}
