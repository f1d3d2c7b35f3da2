// The sorted index, and the entries of .eh_frame and .debug_frame.

package cfi

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

const (
	maxEntry   = 1 << 16 // bytes of an entry; real ones have some 100
	maxIndex   = 1 << 22 // entries of an index
	maxEntries = 1 << 18 // entries that are walked if there is no index
)

// Table is the call frame information of one image. Addresses in the tables, and those that Find takes, are
// addresses of its Memory. One goroutine uses it at a time.
type Table struct {
	rows    map[uint64]*Row // results of Find, by address
	mem     Memory
	header  uint64  // address of .eh_frame_hdr
	entries uint64  // address of .eh_frame
	index   uint64  // address of the index
	count   int     // of its entries; 0: there is none
	debug   bool    // it is a .debug_frame (DWARF 5, section 6.4.1), by offsets in it
	starts  []start // ascending by code; used if there is no index
}

// start has the addresses of an entry and of the code that it describes.
type start struct{ code, entry uint64 }

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
			t.count = int(min(n, maxIndex))
		}
	}
	t.index = header + uint64(r.pos)
	if t.count == 0 {
		t.readStarts()
	}
	return t, nil
}

// Walked returns the table of the .eh_frame at an address that has no index. It reads all entries.
func Walked(mem Memory, entries uint64) *Table {
	t := &Table{mem: mem, entries: entries}
	t.readStarts()
	return t
}

// Debug returns the table of a section .debug_frame.
func Debug(section []byte) *Table {
	t := &Table{mem: contents(section), debug: true}
	t.readStarts()
	return t
}

// contents implements Memory; addresses are offsets.
type contents []byte

func (c contents) Read(addr uint64, b []byte) bool {
	if addr > uint64(len(c)) || uint64(len(b)) > uint64(len(c))-addr {
		return false
	}
	copy(b, c[addr:])
	return true
}

// maxRows bounds the rows that are kept, of 1.5 KB each. Few are needed, since threads wait in few places.
const maxRows = 1024

// Find returns the row for an address; ErrNone if there is none.
func (t *Table) Find(pc uint64) (*Row, error) {
	if row := t.rows[pc]; row != nil {
		return row, nil
	}
	row, err := t.find(pc)
	if err != nil {
		return nil, err
	}
	if t.rows == nil || len(t.rows) == maxRows {
		t.rows = map[uint64]*Row{}
	}
	t.rows[pc] = row
	return row, nil
}

// find is Find without the kept rows.
func (t *Table) find(pc uint64) (*Row, error) {
	if t.count == 0 {
		i := sort.Search(len(t.starts), func(i int) bool { return t.starts[i].code > pc })
		if i == 0 {
			return nil, ErrNone
		}
		return t.row(t.starts[i-1].entry, pc)
	}
	i := sort.Search(t.count, func(i int) bool { return int64(t.relative(i, 0)) > int64(pc-t.header) })
	if i == 0 {
		return nil, ErrNone
	}
	return t.row(t.header+t.relative(i-1, 4), pc)
}

// relative returns a field of entry i of the index: the address of the code if at is 0, or of the table
// entry if at is 4, both relative to the header. If it cannot be read, the result is greater than all
// addresses.
func (t *Table) relative(i int, at uint64) uint64 {
	var b [4]byte
	if !t.mem.Read(t.index+8*uint64(i)+at, b[:]) {
		return 1<<63 - 1
	}
	return uint64(int64(int32(binary.LittleEndian.Uint32(b[:]))))
}

// readStarts sets starts by reading all entries. The common information entry is read again only if the entry
// before has another one.
func (t *Table) readStarts() {
	var last uint64
	var c *common
	for at, n := t.entries, 0; n < maxEntries; n++ {
		r, next, err := t.entry(at)
		if err != nil {
			break
		}
		if from, ok := t.commonOf(r); ok {
			if c == nil || from != last {
				c, err = t.common(from)
				last = from
			}
			if err == nil && c != nil {
				if code := r.pointer(c.encoding, 0); !r.bad && code != 0 { // 0: the linker has removed the code
					t.starts = append(t.starts, start{code, at})
				}
			}
		}
		at = next
	}
	slices.SortStableFunc(t.starts, func(a, b start) int { return cmp.Compare(a.code, b.code) })
}

// commonOf returns the address of the common information entry of an entry; ok is false if the entry is one
// itself.
func (t *Table) commonOf(r *reader) (at uint64, ok bool) {
	id := r.unsigned(4)
	if t.debug {
		return id, id != idCommon
	}
	return r.at - id, id != 0 && id <= r.at
}

// idCommon marks a common information entry in a .debug_frame.
const idCommon = 1<<32 - 1

// entry returns a reader of the entry at an address, positioned after its length, and the address of the next
// entry.
func (t *Table) entry(at uint64) (r *reader, next uint64, err error) {
	var head [4]byte
	if !t.mem.Read(at, head[:]) {
		return nil, 0, errDamaged
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < 4 || n > maxEntry { // 0 ends the table; the 64-bit format is not used in practice
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
	from, ok := t.commonOf(r)
	if !ok {
		return nil, errDamaged
	}
	c, err := t.common(from)
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
