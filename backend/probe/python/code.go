// Names and lines of frames.

package python

import "bytes"

// code is a code object.
type code struct {
	head       []byte // its fields, of which some stay as long as it lives
	name, file string
	table      []byte // of lines
	first      int    // line of the definition
	size       int64  // of the instructions in bytes; 0: not known, before 3.11
	shim       bool   // the interpreter's own, of no source
	gone       bool   // it is no code object, or its names cannot be read

	at   int64 // the last instruction that was looked up
	line int   // of it
}

// Name gives the frames of a snapshot their names and lines, and removes those that the interpreter
// has for itself. The process may run meanwhile: frames whose code objects have gone stay without a
// name, and Torn says so.
func (in *Interpreter) Name(mem Memory, s *Snapshot) {
	codes := in.codesOf(mem, s)
	for i := range s.Threads {
		for k := range s.Threads[i].Calls {
			c := &s.Threads[i].Calls[k]
			kept := c.Frames[:0]
			for _, f := range c.Frames {
				x := codes[f.code]
				if x.shim {
					continue
				}
				if x.gone || x.size != 0 && f.at >= x.size {
					if s.Torn == "" {
						s.Torn = "the code of a Python frame has gone"
					}
				} else {
					f.Function, f.File, f.Line = x.name, x.file, x.lineOf(in.layout.minor, &f)
				}
				kept = append(kept, f)
			}
			c.Frames = kept
		}
	}
}

// lineOf returns the line of a frame. Recursive functions ask for the same one often.
func (c *code) lineOf(minor int, f *Frame) int {
	if f.line > 0 {
		return f.line
	}
	if c.line < 0 || c.at != f.at {
		c.at, c.line = f.at, max(lineAt(minor, c.table, c.first, f.at), 0)
	}
	return c.line
}

// codesOf returns the code objects of all frames. What is known of one from before holds only if its
// fields are the same: objects come and go, and their addresses return.
func (in *Interpreter) codesOf(mem Memory, s *Snapshot) map[uint64]*code {
	found := map[uint64]*code{}
	var heads []Piece
	for _, t := range s.Threads {
		for _, c := range t.Calls {
			for _, f := range c.Frames {
				if found[f.code] == nil {
					found[f.code] = &code{line: -1}
					heads = append(heads, Piece{Addr: f.code, Bytes: make([]byte, in.layout.code.size)})
				}
			}
		}
	}
	mem.ReadMany(heads)
	var fresh []*code
	for _, h := range heads {
		c := found[h.Addr]
		c.head = h.Bytes
		if c.gone = !h.Read || in.codeType != 0 && le.Uint64(h.Bytes[typeField:]) != in.codeType; c.gone {
			continue
		}
		if old := in.codes[h.Addr]; old != nil && in.layout.sameCode(old.head, h.Bytes) {
			found[h.Addr] = old
			continue
		}
		fresh = append(fresh, c)
	}
	in.read(mem, fresh)
	for addr, c := range found {
		if !c.gone {
			if len(in.codes) == mostCodes {
				clear(in.codes)
			}
			in.codes[addr] = c
		}
	}
	return found
}

// sameCode reports whether two heads are of one code object: counts of references differ.
func (l *layout) sameCode(a, b []byte) bool {
	same := func(at, n uint64) bool { return bytes.Equal(a[at:at+n], b[at:at+n]) }
	return same(typeField, 8) && same(l.code.file, 8) && same(l.code.name, 8) && same(l.code.lines, 8) && same(l.code.first, 4) &&
		(l.code.qualified == 0 || same(l.code.qualified, 8)) && (l.code.instructions == 0 || same(sizeField, 8))
}

// usual is what is read of a string at first: most names fit.
const usual = 160

// read reads the names and tables of code objects.
func (in *Interpreter) read(mem Memory, codes []*code) {
	l := &in.layout
	var parts []Piece
	for _, c := range codes {
		c.first = int(int32(le.Uint32(c.head[l.code.first:])))
		if l.code.instructions != 0 {
			c.size = 2 * int64(min(le.Uint64(c.head[sizeField:]), 1<<40))
		}
		// No function begins behind its end. The frame that waits for __init__ does (3.12).
		c.shim = l.code.firstTraced != 0 && 2*int64(le.Uint32(c.head[l.code.firstTraced:])) >= c.size
		name := l.code.name
		if l.code.qualified != 0 {
			name = l.code.qualified
		}
		for _, at := range []uint64{name, l.code.file, l.code.lines} {
			parts = append(parts, Piece{Addr: le.Uint64(c.head[at:]), Bytes: make([]byte, usual)})
		}
	}
	mem.ReadMany(parts)
	for i, c := range codes {
		var ok [3]bool
		c.name, ok[0] = l.textOf(mem, parts[3*i])
		c.file, ok[1] = l.textOf(mem, parts[3*i+1])
		c.table, ok[2] = l.bytesOf(mem, parts[3*i+2])
		c.gone = ok != [3]bool{true, true, true}
	}
}
