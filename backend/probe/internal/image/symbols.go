// Names of functions.

package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"sdm/backend/probe/internal/symbol"
)

// Symbols are the functions and variables of an image, by the addresses of its file. They are looked up in
// the symbol tables of the file on demand. One goroutine uses them at a time.
type Symbols struct {
	// SharedName is the name by which programs refer to a library (DT_SONAME); "": none.
	SharedName string

	sections sectionTable
	packed   []byte // .gnu_debugdata of a file without .symtab, which has further symbols; nil: none
	tables   []*table
	count    int    // number of entries of all tables
	base     uint64 // lowest address of a section
	byAddr   *index // nil: not made yet
}

// Rest drops what is made again when it is needed: the orders in which symbols are looked up, 8 bytes for each
// symbol of a file that was searched.
func (s *Symbols) Rest() {
	if s == nil {
		return
	}
	s.byAddr = nil
	for _, t := range s.tables {
		t.byName = nil
	}
}

const (
	maxSymbols    = 1 << numberBits
	maxSymbolName = 1 << 16 // bytes
)

// ReadSeparate returns the symbols of the separate debug file of an image with a build-id; link is what the image says
// of such a file. The bytes are used as long as the symbols are.
func ReadSeparate(data []byte, id string, link DebugLink) (s *Symbols, err error) {
	problem := protect(func() {
		var f *file
		if f, err = parseFile(data); err != nil {
			return
		}
		found := f.noteID()
		isSame := id != "" && found == id || found == id && link.Name != "" && crc32.ChecksumIEEE(data) == link.Sum
		if !isSame {
			err = fmt.Errorf("the build-id is %q, not %q", found, id)
			return
		}
		s, _, err = readSymbols(data)
	})
	if problem != nil {
		return nil, problem
	}
	return s, err
}

// DebugLink is the section .gnu_debuglink of an image, which has no debug information of its own (GDB manual, Separate
// Debug Files).
type DebugLink struct {
	Name string // of the separate file, without directories; "": there is none
	Sum  uint32 // CRC-32 of its bytes
}

// ReadDebugLink returns the link in an ELF file. A file with lines has none.
func ReadDebugLink(data []byte) (l DebugLink) {
	err := protect(func() {
		f, err := parseFile(data)
		if err != nil || f.section(".debug_line") != nil || f.section(".zdebug_line") != nil {
			return
		}
		b := f.contents(f.section(".gnu_debuglink"))
		name := textAt(b, 0, maxSymbolName)
		at := (len(name) + 1 + 3) &^ 3 // the sum is aligned to 4 bytes
		if len(name) > 0 && at+4 <= len(b) && !bytes.ContainsRune(name, '/') {
			l = DebugLink{string(name), binary.LittleEndian.Uint32(b[at:])}
		}
	})
	if err != nil {
		return DebugLink{}
	}
	return l
}

// ReadSymbols returns the symbols of .symtab and .dynsym of an ELF file, and its build-id. The bytes
// are used as long as the symbols are.
func ReadSymbols(data []byte) (s *Symbols, id string, err error) {
	if problem := protect(func() { s, id, err = readSymbols(data) }); problem != nil {
		return nil, "", problem
	}
	return s, id, err
}

func readSymbols(data []byte) (*Symbols, string, error) {
	f, err := parseFile(data)
	if err != nil {
		return nil, "", err
	}
	s := &Symbols{SharedName: f.sharedName(), sections: f.table}
	s.base, _ = s.sections.lowest()
	for _, kind := range []elf.SectionType{elf.SHT_DYNSYM, elf.SHT_SYMTAB} {
		for i := range f.sections {
			if x := &f.sections[i]; x.kind == kind {
				s.add(&table{entries: f.contents(x), names: f.contents(f.number(x.link)), hashed: f.hashOf(uint32(i))})
			}
		}
	}
	if s.count > maxSymbols {
		return nil, "", fmt.Errorf("more than %d symbols", maxSymbols)
	}
	if f.section(".symtab") == nil {
		s.packed = f.contents(f.section(".gnu_debugdata"))
	}
	return s, f.buildID(), nil
}

// add adds a table.
func (s *Symbols) add(t *table) {
	t.first = s.count
	s.tables = append(s.tables, t)
	s.count += t.len()
	s.byAddr = nil
}

// Join adds the symbols of another file of the same image, such as its separate debug file.
func (s *Symbols) Join(more *Symbols) {
	for _, t := range more.tables {
		if s.count+t.len() <= maxSymbols {
			s.add(&table{entries: t.entries, names: t.names, hashed: t.hashed})
		}
	}
}

// unpack adds the symbols of .gnu_debugdata. If they cannot be read, there are fewer names.
func (s *Symbols) unpack() {
	if s.packed == nil {
		return
	}
	b, err := symbol.Unpack(s.packed)
	s.packed = nil
	if err != nil {
		return
	}
	if more, _, err := readSymbols(b); err == nil {
		s.Join(more)
	}
}

// Section returns the place of a section in the file's addresses.
func (s *Symbols) Section(name string) (addr, size uint64, ok bool) {
	if s == nil {
		return 0, 0, false
	}
	if err := protect(func() { addr, size, ok = s.sections.find(name) }); err != nil {
		return 0, 0, false
	}
	return addr, size, ok
}

// Address returns the address of a function or variable in the file. Exported ones have precedence.
// .gnu_debugdata, whose functions are not exported, is not unpacked for this.
func (s *Symbols) Address(name string) (addr uint64, ok bool) {
	if s == nil {
		return 0, false
	}
	err := protect(func() {
		for i := 0; i < len(s.tables) && !ok; i++ {
			addr, ok = s.tables[i].find(name)
		}
	})
	return addr, ok && err == nil
}

// Variable returns the address of a variable in the file, and its size in bytes; global: only of one that other images
// can use. ok is false if there is none with the name.
func (s *Symbols) Variable(name string, global bool) (addr, size uint64, ok bool) {
	if s == nil {
		return 0, 0, false
	}
	err := protect(func() {
		for _, t := range s.tables {
			t.named(name, func(i int) {
				if ok || i >= t.len() {
					return
				}
				if x := t.at(i); x.isVariable() && string(x.text(t)) == name && !(global && elf.ST_BIND(x.info) == elf.STB_LOCAL) {
					addr, size, ok = x.addr, x.size, true
				}
			})
		}
	})
	return addr, size, ok && err == nil
}

// Name returns the function at an address of the file; "": none is known.
func (s *Symbols) Name(addr uint64) string {
	f, _ := s.Function(addr)
	return f.Name
}

// Function is the symbol of a function.
type Function struct {
	Name  string
	First uint64
	Size  uint64 // bytes; 0: not known
}

// Function returns the function that contains an address of the file.
func (s *Symbols) Function(addr uint64) (f Function, ok bool) {
	if s == nil {
		return f, false
	}
	if err := protect(func() { f, ok = s.function(addr) }); err != nil {
		return Function{}, false
	}
	return f, ok
}

// After returns the first address above addr at which a function with a size begins; ok is false if there is none.
func (s *Symbols) After(addr uint64) (first uint64, ok bool) {
	if s == nil {
		return 0, false
	}
	err := protect(func() {
		if s.byAddr == nil {
			s.order()
		}
		if addr+1 < s.base || addr+1-s.base >= maxSpan {
			return
		}
		for i := s.byAddr.from((addr + 1 - s.base) << addrShift); i < len(s.byAddr.keys) && !ok; i++ {
			first, ok = s.base+s.byAddr.at(i)>>addrShift, s.byAddr.at(i)&sizedBit != 0
		}
	})
	return first, ok && err == nil
}

// A key of byAddr has the address relative to base, a bit for functions that have a size, and the
// number of the symbol.
const (
	numberBits = 22
	sizedBit   = 1 << numberBits
	addrShift  = numberBits + 1
	maxSpan    = 1 << (64 - addrShift) // of the addresses of an image
)

// order makes byAddr.
func (s *Symbols) order() {
	s.unpack()
	keys := make([]uint64, 0, s.count)
	for _, t := range s.tables {
		for i := range t.len() {
			x := t.at(i)
			if !x.isFunction(t) || x.addr < s.base || x.addr-s.base >= maxSpan {
				continue
			}
			key := (x.addr-s.base)<<addrShift | uint64(t.first+i)
			if x.size > 0 {
				key |= sizedBit
			}
			keys = append(keys, key)
		}
	}
	s.byAddr = newIndex(keys)
}

const (
	nearby = 16   // symbols below an address that are examined: functions may be nested
	maxOf  = 1024 // symbols with one address that are examined
)

// function returns the function that contains an address, the one with the highest first address if there
// are several. Of several functions with one address it returns the last by name, as gdb does. A function
// without a size counts only if it is the nearest symbol below addr, and no symbol with a size has its
// address.
func (s *Symbols) function(addr uint64) (f Function, ok bool) {
	if s.byAddr == nil {
		s.order()
	}
	if addr < s.base || addr-s.base >= maxSpan {
		return f, false
	}
	i := s.byAddr.from((addr-s.base)<<addrShift|(1<<addrShift-1)) - 1
	for n, nearest := 0, true; i >= 0 && n < nearby; nearest = false {
		at := s.byAddr.at(i) >> addrShift
		unsized := s.byAddr.at(i)&sizedBit == 0 // no symbol with this address has a size
		first := s.base + at
		var best []byte
		for k := 0; i >= 0 && k < maxOf && s.byAddr.at(i)>>addrShift == at; k, i, n = k+1, i-1, n+1 {
			t, x := s.symbol(int(s.byAddr.at(i) & (sizedBit - 1)))
			if addr-first < x.size || x.size == 0 && nearest && unsized {
				if name := x.readable(t); bytes.Compare(name, best) > 0 {
					best, f.Size = name, x.size
				}
			}
		}
		if best != nil {
			f.Name, f.First = string(best), first
			return f, true
		}
	}
	return Function{}, false
}

// symbol returns symbol n of all tables together.
func (s *Symbols) symbol(n int) (*table, entry) {
	for _, t := range s.tables {
		if n < t.first+t.len() {
			return t, t.at(n - t.first)
		}
	}
	panic(fmt.Sprintf("symbol %d of %d", n, s.count))
}
