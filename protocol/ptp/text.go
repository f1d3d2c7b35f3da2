// Text in the charset of the protocol.

package ptp

import "unicode/utf8"

// Text reads an argument. What is UTF-8 stays as it is, for so come names of
// files back that are beyond ISO 8859-1; anything else is ISO 8859-1.
func Text(arg string) string {
	if utf8.ValidString(arg) {
		return arg
	}
	runes := make([]rune, len(arg))
	for i := range len(arg) {
		runes[i] = rune(arg[i])
	}
	return string(runes)
}

// Latin1 writes text as an argument. What is no UTF-8, or beyond ISO 8859-1,
// stays as it is.
func Latin1(text string) string {
	bytes := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return text
		}
		bytes = append(bytes, byte(r))
	}
	return string(bytes)
}
