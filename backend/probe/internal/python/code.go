// Names and lines of frames.

package python

import "bytes"

// code is a code object.
type code struct {
	addr       uint64
	head       []byte   // its fields; see sameCode
	parts      [3]Piece // beginnings of its name, file and line table, until they are decoded
	name, file string
	table      []byte // of lines
	first      int    // line of the definition
	size       int64  // of the instructions in bytes; 0: not known, before 3.11
	shim       bool   // it belongs to the interpreter and has no source
	gone       bool   // the memory is no code object any more, or its names cannot be read

	at   int64 // instruction of the last lookup of a line
	line int   // result of that lookup; -1: none yet
}

// fetch copies the code objects of all frames and the beginnings of their names and tables. A code
// object of an earlier snapshot is used again only if its fields are the same, since the address of a deleted
// object may be used by another one.
func (in *Interpreter) fetch(mem Memory, s *Snapshot) {
	s.codes = map[uint64]*code{}
	var heads []Piece
	s.each(func(f *Frame) {
		if s.codes[f.code] == nil {
			s.codes[f.code] = &code{line: -1}
			heads = append(heads, Piece{Addr: f.code, Bytes: make([]byte, in.layout.code.size)})
		}
	})
	mem.ReadMany(heads)
	var parts []Piece
	for _, h := range heads {
		c := s.codes[h.Addr]
		c.addr, c.head = h.Addr, h.Bytes
		if c.gone = !h.Read || in.codeType != 0 && le.Uint64(h.Bytes[typeField:]) != in.codeType; c.gone {
			continue
		}
		if old := in.codes[h.Addr]; old != nil && in.layout.sameCode(old.head, h.Bytes) {
			s.codes[h.Addr] = old
			continue
		}
		s.fresh = append(s.fresh, c)
		parts = in.layout.parts(parts, c.head)
	}
	mem.ReadMany(parts)
	for i, c := range s.fresh {
		copy(c.parts[:], parts[len(c.parts)*i:])
	}
}

// each calls do for all frames.
func (s *Snapshot) each(do func(*Frame)) {
	for i := range s.Threads {
		for _, c := range s.Threads[i].Calls {
			for k := range c.Frames {
				do(&c.Frames[k])
			}
		}
	}
}

// usual is the number of bytes of a string or table that are read at first. Most names fit.
const usual = 160

// parts appends the beginnings of the name, the file and the line table of a code object.
func (l *layout) parts(all []Piece, head []byte) []Piece {
	name := l.code.name
	if l.code.qualified != 0 {
		name = l.code.qualified
	}
	for _, at := range []uint64{name, l.code.file, l.code.lines} {
		all = append(all, Piece{Addr: le.Uint64(head[at:]), Bytes: make([]byte, usual)})
	}
	return all
}

// Name sets the names and lines of the frames of a snapshot, and removes frames without source, which belong
// to the interpreter. The process may run during the call. Frames whose code objects could not be read stay
// without a name, and Inconsistent says so.
func (in *Interpreter) Name(mem Memory, s *Snapshot) {
	in.decode(mem, s.fresh)
	for i := range s.Threads {
		for k := range s.Threads[i].Calls {
			c := &s.Threads[i].Calls[k]
			kept := c.Frames[:0]
			for _, f := range c.Frames {
				if x := s.codes[f.code]; !x.shim {
					kept = append(kept, in.named(s, f, x))
				}
			}
			c.Frames = kept
		}
	}
}

// named returns a frame with the name and line of its code object.
func (in *Interpreter) named(s *Snapshot, f Frame, x *code) Frame {
	if x.gone || x.size != 0 && f.at >= x.size {
		if s.Inconsistent == "" {
			s.Inconsistent = "the code of a Python frame has gone"
		}
		return f
	}
	f.Function, f.File, f.Line = x.name, x.file, x.lineOf(in.layout.minor, &f)
	return f
}

// decode decodes the copied parts of code objects, and reads the rest of long names and tables. It checks that
// the objects of those still exist afterwards.
func (in *Interpreter) decode(mem Memory, codes []*code) {
	l := &in.layout
	var again []Piece
	var late []*code
	for _, c := range codes {
		c.first = int(int32(le.Uint32(c.head[l.code.first:])))
		if l.code.instructions != 0 {
			c.size = 2 * int64(min(le.Uint64(c.head[sizeField:]), 1<<40))
		}
		// No function begins after its end, but the shim that calls __init__ does (3.12).
		c.shim = l.code.firstTraced != 0 && 2*int64(le.Uint32(c.head[l.code.firstTraced:])) >= c.size
		var ok, more [3]bool
		c.name, more[0], ok[0] = l.textOf(mem, &c.parts[0])
		c.file, more[1], ok[1] = l.textOf(mem, &c.parts[1])
		c.table, more[2], ok[2] = l.bytesOf(mem, &c.parts[2])
		c.gone, c.parts = ok != [3]bool{true, true, true}, [3]Piece{}
		if more != [3]bool{} {
			again = append(again, Piece{Addr: c.addr, Bytes: make([]byte, l.code.size)})
			late = append(late, c)
		}
	}
	mem.ReadMany(again)
	for i, c := range late {
		c.gone = c.gone || !again[i].Read || !l.sameCode(c.head, again[i].Bytes)
	}
	in.remember(codes)
}

// remember keeps code objects for the next snapshot.
func (in *Interpreter) remember(codes []*code) {
	for _, c := range codes {
		if len(in.codes) == maxCodes {
			clear(in.codes)
		}
		if !c.gone {
			in.codes[c.addr] = c
		}
	}
}

// lineOf returns the line of a frame. It keeps the last result, since recursive functions have many frames at
// the same instruction.
func (c *code) lineOf(minor int, f *Frame) int {
	if f.line > 0 {
		return f.line
	}
	if c.line < 0 || c.at != f.at {
		c.at, c.line = f.at, max(lineAt(minor, c.table, c.first, f.at), 0)
	}
	return c.line
}

// sameCode reports whether two heads are of one code object. Only fields that do not change while it exists
// are compared; reference counts do.
func (l *layout) sameCode(a, b []byte) bool {
	same := func(at, n uint64) bool { return bytes.Equal(a[at:at+n], b[at:at+n]) }
	return same(typeField, 8) && same(l.code.file, 8) && same(l.code.name, 8) && same(l.code.lines, 8) && same(l.code.first, 4) &&
		(l.code.qualified == 0 || same(l.code.qualified, 8)) && (l.code.instructions == 0 || same(sizeField, 8))
}
