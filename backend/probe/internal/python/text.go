// Strings and bytes.

package python

// The state of a string, from the lowest bit: 2 bits that are not used here, 3 bits with the size of
// a character in bytes, a bit that is set if the characters follow the header (compact), and one that is set if
// all are ASCII. This is so in all versions with a global lock (Include/cpython/unicodeobject.h).
const (
	kindShift  = 2
	compactBit = 1 << 5
	asciiBit   = 1 << 6
)

// textOf returns a string. p is its beginning if that could be read. Very long ones are cut. more is true
// if mem was read.
func (l *layout) textOf(mem Memory, p *Piece) (text string, more, ok bool) {
	if !p.Read && !mem.Read(p.Addr, p.Bytes[:l.text.compact]) {
		return "", false, false
	}
	state := le.Uint32(p.Bytes[l.text.state:])
	kind := uint64(state >> kindShift & 7)
	if state&compactBit == 0 || kind != 1 && kind != 2 && kind != 4 {
		return "", false, false
	}
	from := l.text.compact
	if state&asciiBit != 0 {
		from = l.text.ascii
	}
	b, more, ok := p.part(mem, from, kind*min(le.Uint64(p.Bytes[l.text.length:]), maxText))
	return decodeText(b, int(kind)), more, ok
}

// decodeText decodes code points of kind bytes each: 1, 2 or 4.
func decodeText(b []byte, kind int) string {
	runes := make([]rune, 0, len(b)/kind)
	for ; len(b) >= kind; b = b[kind:] {
		switch kind {
		case 1:
			runes = append(runes, rune(b[0]))
		case 2:
			runes = append(runes, rune(le.Uint16(b)))
		default:
			runes = append(runes, rune(le.Uint32(b)))
		}
	}
	return string(runes)
}

// bytesOf returns the content of a bytes object. p is its beginning if that could be read. more is true if mem
// was read.
func (l *layout) bytesOf(mem Memory, p *Piece) (b []byte, more, ok bool) {
	if !p.Read && !mem.Read(p.Addr, p.Bytes[:l.bytes.data]) {
		return nil, false, false
	}
	n := le.Uint64(p.Bytes[l.bytes.size:])
	if n > maxLines {
		return nil, false, false
	}
	return p.part(mem, l.bytes.data, n)
}

// part returns bytes of an object: of the piece, or, if they are not all there, from memory.
func (p *Piece) part(mem Memory, from, n uint64) (b []byte, more, ok bool) {
	if p.Read && from+n <= uint64(len(p.Bytes)) {
		return p.Bytes[from : from+n], false, true
	}
	b = make([]byte, n)
	return b, true, mem.Read(p.Addr+from, b)
}
