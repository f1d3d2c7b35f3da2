// Line tables of code objects.

package python

// lineAt returns the line of an instruction of a code object: at is in bytes from the first
// instruction, first the line of the definition. 0: the instruction is of no line.
func lineAt(minor int, table []byte, first int, at int64) int {
	switch {
	case at < 0:
		return first
	case minor <= 9:
		return lineOfIncrements(table, first, at)
	case minor == 10:
		return lineOfRanges(table, first, at)
	}
	return lineOfLocations(table, first, at)
}

// lineOfIncrements reads the table of 3.8 and 3.9 (Objects/lnotab_notes.txt): pairs of an increment of the
// address and a signed increment of the line.
func lineOfIncrements(table []byte, line int, at int64) int {
	var addr int64
	for ; len(table) >= 2; table = table[2:] {
		if addr += int64(table[0]); addr > at {
			break
		}
		line += int(int8(table[1]))
	}
	return line
}

// noLine is the increment of a range without a line in 3.10.
const noLine = -128

// lineOfRanges reads the table of 3.10 (PEP 626): pairs of the length of a range and the signed
// difference of its line from the one before.
func lineOfRanges(table []byte, line int, at int64) int {
	var end int64
	for ; len(table) >= 2; table = table[2:] {
		end += int64(table[0])
		change := int(int8(table[1]))
		if change != noLine {
			line += change
		}
		if at < end {
			if change == noLine {
				return 0
			}
			return line
		}
	}
	return 0
}

// Kinds of entries of the table of locations. Those below shortKinds have no change of the line.
const (
	shortKinds = 10 // it and the next two kinds increase the line by 0, 1 and 2
	lineOnly   = 13
	longKind   = 14
	noLocation = 15
)

// lineOfLocations reads the table of 3.11 and later (InternalDocs/code_objects.md, Format of the
// locations table). The first byte of an entry has, from the highest bit on, a bit that is set, the
// kind (4 bits), and the length of the range in units of 2 bytes minus 1 (3 bits).
func lineOfLocations(table []byte, line int, at int64) int {
	var end int64
	c := locations(table)
	for len(c) > 0 {
		head := c.byte()
		kind := head >> 3 & 15
		end += 2 * (int64(head&7) + 1)
		switch {
		case kind < shortKinds:
			c.byte()
		case kind < lineOnly:
			line += int(kind - shortKinds)
			c.byte()
			c.byte()
		case kind == lineOnly:
			line += c.signed()
		case kind == longKind:
			line += c.signed()
			for range 3 {
				c.number()
			}
		}
		if at < end {
			if kind == noLocation {
				return 0
			}
			return line
		}
	}
	return 0
}

// locations is the rest of a table of locations.
type locations []byte

// byte returns the next byte; 0 after the end.
func (c *locations) byte() byte {
	if len(*c) == 0 {
		return 0
	}
	b := (*c)[0]
	*c = (*c)[1:]
	return b
}

// number returns a number in groups of 6 bits, the lowest first. Bits beyond 32 are dropped.
func (c *locations) number() (v uint32) {
	for shift := uint(0); ; shift += 6 {
		b := c.byte()
		v |= uint32(b&63) << min(shift, 32)
		if b&64 == 0 {
			return v
		}
	}
}

// signed returns a number whose lowest bit is its sign.
func (c *locations) signed() int {
	v := c.number()
	if v&1 != 0 {
		return -int(v >> 1)
	}
	return int(v >> 1)
}
