// Looking for characters that mean something.

package protocol

import "iter"

// Unquoted gives the bytes of a text outside of 'quotes' and "quotes", and where they
// are. As in C, a backslash within quotes takes the next byte with it; a quote
// that is not closed reaches to the end.
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
