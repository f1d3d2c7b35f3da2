// Package canonical is the one JSON form of what crosses the tree: equal values are
// equal bytes.
package canonical

import "encoding/json"

// JSON gives the form of a value: fields in the order of the
// struct, no blanks, no HTML escapes. It panics on values that JSON cannot
// hold, which is a mistake in our own code.
func JSON(v any) []byte {
	var b buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("canonical: a value cannot be encoded: " + err.Error())
	}
	return b[:len(b)-1] // Encode ends with a newline
}

// buffer is the smallest io.Writer: bytes.Buffer would keep spare state
// alive for every body that is kept.
type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
