// The sorted index, and the entries of .eh_frame.

package cfi

import (
	"encoding/binary"
	"sort"
)

const (
	mostEntry   = 1 << 16 // bytes of an entry; real ones have some 100
	mostIndex   = 1 << 22 // entries of an index
	mostEntries = 1 << 18 // entries that are walked if there is no index
)

// Table is the call frame information of one image. The addresses of the tables and of Find are
// those that Memory has. Several goroutines may use it if they may use Memory.
type Table struct {
	mem     Memory
	header  uint64 // address of .eh_frame_hdr
	entries uint64 // address of .eh_frame
	index   uint64 // address of the index
	count   int    // of its entries; 0: there is none
}

// NewTable returns the table whose .eh_frame_hdr (program header PT_GNU_EH_FRAME) is at an address.
func NewTable(mem Memory, header uint64) (*Table, error) {
	b := make([]byte, 20)
	for !mem.Read(header, b) {
		if b = b[:len(b)-4]; len(b) < 8 {
			return nil, ErrNone
		}
	}
	r := &reader{b: b, pos: 4, at: header}
	t := &Table{mem: mem, header: header, entries: r.pointer(b[1], header)}
	if b[0] != 1 || r.bad {
		return nil, errDamaged
	}
	if b[2] != omitted && b[3] == relativeData|0x0b {
		if n := r.pointer(b[2], header); !r.bad {
			t.count = int(min(n, mostIndex))
		}
	}
	t.index = header + uint64(r.pos)
	return t, nil
}

// Walked returns the table of an .eh_frame without an index.
func Walked(mem Memory, entries uint64) *Table { return &Table{mem: mem, entries: entries} }

// Find returns the row for an address; ErrNone if there is none.
func (t *Table) Find(pc uint64) (*Row, error) {
	if t.count == 0 {
		return t.walk(pc)
	}
	i := sort.Search(t.count, func(i int) bool { return int64(t.relative(i, 0)) > int64(pc-t.header) })
	if i == 0 {
		return nil, ErrNone
	}
	return t.row(t.header+t.relative(i-1, 4), pc)
}

// relative returns a number of entry i of the index: 0 the address of the code, 4 that of the
// entry, both relative to the header. What cannot be read is beyond every address.
func (t *Table) relative(i int, at uint64) uint64 {
	var b [4]byte
	if !t.mem.Read(t.index+8*uint64(i)+at, b[:]) {
		return 1<<63 - 1
	}
	return uint64(int64(int32(binary.LittleEndian.Uint32(b[:]))))
}

// walk looks at each entry.
func (t *Table) walk(pc uint64) (*Row, error) {
	at := t.entries
	for range mostEntries {
		e, next, err := t.entry(at)
		if err != nil {
			return nil, ErrNone
		}
		if e.unsigned(4) != 0 {
			if row, err := t.row(at, pc); err == nil {
				return row, nil
			}
		}
		at = next
	}
	return nil, ErrNone
}

// entry returns a reader of the entry at an address, behind its length, and the address of the next.
func (t *Table) entry(at uint64) (r *reader, next uint64, err error) {
	var head [4]byte
	if !t.mem.Read(at, head[:]) {
		return nil, 0, errDamaged
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < 4 || n > mostEntry { // 0 is the end; the 64-bit format occurs in no image
		return nil, 0, errDamaged
	}
	b := make([]byte, n)
	if !t.mem.Read(at+4, b) {
		return nil, 0, errDamaged
	}
	return &reader{b: b, at: at + 4}, at + 4 + uint64(n), nil
}

// row executes the entry at an address for pc.
func (t *Table) row(at, pc uint64) (*Row, error) {
	r, _, err := t.entry(at)
	if err != nil {
		return nil, err
	}
	back := r.unsigned(4)
	if back == 0 || back > r.at {
		return nil, errDamaged
	}
	c, err := t.common(r.at - back)
	if err != nil {
		return nil, err
	}
	first := r.pointer(c.encoding, 0)
	size := r.value(c.encoding)
	if r.bad || pc-first >= size {
		return nil, ErrNone
	}
	if c.augmented {
		r.block()
	}
	row, err := c.execute(r, first, pc)
	if err == nil {
		row.size = size
	}
	return row, err
}
