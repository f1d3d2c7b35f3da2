// Splitting of output into lines.

package server

import (
	"bytes"
	"unicode/utf8"
)

// maxLine bounds a piece of output, in bytes. A longer line is passed on in pieces, so that a
// program that never writes a newline needs no more memory than others.
const maxLine = 64 << 10

// cutter splits a stream of output into lines. It is pure. Its lines contain all bytes of the
// stream, in order.
type cutter struct {
	partial []byte // the partial line
}

// feed takes the next bytes and emits every line that they complete, with its newline. The lines
// may share memory with b.
func (c *cutter) feed(b []byte, emit func(line []byte)) {
	for len(b) > 0 {
		room := maxLine - len(c.partial)
		end := bytes.IndexByte(b[:min(len(b), room)], '\n') + 1
		switch {
		case end == 0 && len(b) < room:
			c.partial = append(c.partial, b...)
			return
		case end == 0:
			end = wholeRunes(b[:room])
		}
		line := b[:end]
		if len(c.partial) > 0 {
			line = append(c.partial, line...)
			c.partial = nil
		}
		emit(line)
		b = b[end:]
	}
}

// flush emits the partial line.
func (c *cutter) flush(emit func(line []byte)) {
	if len(c.partial) > 0 {
		emit(c.partial)
		c.partial = nil
	}
}

// wholeRunes returns the length of the longest prefix of b that does not split a character: half a
// character is not valid text. Bytes that are not UTF-8 are cut at the end of b.
func wholeRunes(b []byte) int {
	for back := 1; back < utf8.UTFMax && back < len(b); back++ {
		if start := len(b) - back; utf8.RuneStart(b[start]) {
			if !utf8.FullRune(b[start:]) {
				return start
			}
			break
		}
	}
	return len(b)
}
