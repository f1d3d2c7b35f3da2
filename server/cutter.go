package server

import (
	"bytes"
	"unicode/utf8"
)

// maxLine bounds a piece of output, in bytes: a longer line is handed on in
// pieces, so that a program that never writes a newline costs no more memory
// than others.
const maxLine = 64 << 10

// cutter cuts a stream of output into lines. It is pure: what it hands out are
// bytes as they came, in order, none missing.
type cutter struct {
	partial []byte // the line that has no newline yet
}

// feed takes the next bytes and hands out every line that they complete, with
// its newline. The lines may share memory with b.
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

// flush hands out the line that has no newline yet.
func (c *cutter) flush(emit func(line []byte)) {
	if len(c.partial) > 0 {
		emit(c.partial)
		c.partial = nil
	}
}

// wholeRunes gives how much of b can be cut off without splitting a character:
// halves of one would not be text any more. Bytes that are no UTF-8 anyway are
// cut where they are.
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
