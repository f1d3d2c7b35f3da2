// Package canonical provides the canonical JSON encoding of values that cross the
// tree: equal values have equal bytes.
package canonical

import "encoding/json"

// JSON returns the canonical encoding of a value: fields in the order of the
// struct, no blanks, no HTML escapes. It panics on values that JSON cannot
// represent, which is a programming error.
func JSON(v any) []byte {
	var b buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("canonical: a value cannot be encoded: " + err.Error())
	}
	return b[:len(b)-1] // Encode ends with a newline
}

// buffer is a minimal io.Writer: a bytes.Buffer would keep extra memory alive for
// every body that is kept.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
