// Character set of the protocol.

package ptp

import "unicode/utf8"

// Text decodes an argument. Valid UTF-8 is kept, because names of files beyond ISO
// 8859-1 come back as UTF-8; anything else is ISO 8859-1.
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

// Latin1 encodes text as an argument. Text that is not UTF-8, or beyond ISO 8859-1,
// is kept unchanged.
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
