// One table of symbols of an ELF file.

package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// table is a symbol table of a file.
type table struct {
	entries, names []byte
	first          int      // number of its first symbol, counted through all tables
	hashed         *gnuHash // of the names; nil: there is none
	byName         *index   // keys are the hash of a name <<32 | number in the table; nil: not made yet
	absent         int      // names that were looked for before that, and are not there
}

// fewNames is the number of names that are looked for without byName, which takes a hundred times as long to make.
const fewNames = 4

func (t *table) len() int { return len(t.entries) / symbolSize }

// entry is a symbol (Elf64_Sym).
type entry struct {
	name       uint32
	info       uint8
	section    elf.SectionIndex
	addr, size uint64
}

func (t *table) at(i int) entry {
	le, b := binary.LittleEndian, t.entries[i*symbolSize:]
	return entry{le.Uint32(b), b[4], elf.SectionIndex(le.Uint16(b[6:])), le.Uint64(b[8:]), le.Uint64(b[16:])}
}

// typeIFunc is STT_GNU_IFUNC, a function whose implementation is chosen at load time.
const typeIFunc = 10

// isFunction reports whether a symbol is a function of this file. Functions in assembler may have no type.
// Symbols without type and size are labels, except for _start, the entry of a program.
func (x *entry) isFunction(t *table) bool {
	if x.section == elf.SHN_UNDEF || x.section >= elf.SHN_LORESERVE || x.addr == 0 || x.name == 0 {
		return false
	}
	switch elf.ST_TYPE(x.info) {
	case elf.STT_FUNC, typeIFunc:
		return true
	case elf.STT_NOTYPE:
		return x.size > 0 || string(x.text(t)) == "_start"
	}
	return false
}

func (x *entry) isVariable() bool {
	return elf.ST_TYPE(x.info) == elf.STT_OBJECT && x.section != elf.SHN_UNDEF
}

func (x *entry) text(t *table) []byte { return textAt(t.names, x.name, maxSymbolName) }

// clones are the suffixes that gcc appends to the names of copies of a function, followed by a number.
var clones = [][]byte{[]byte(".constprop"), []byte(".isra"), []byte(".part")}

// readable returns the name of a function without its version, and without the number of a copy, as
// gdb shows it: "f.constprop.0" is "f.constprop".
func (x *entry) readable(t *table) []byte {
	name, _, _ := bytes.Cut(x.text(t), []byte("@"))
	i := bytes.LastIndexByte(name, '.')
	for _, c := range clones {
		if i > 0 && bytes.HasSuffix(name[:i], c) {
			return name[:i]
		}
	}
	return name
}

// find returns the address of the variable with a name, or else the lowest address of the functions with it.
func (t *table) find(name string) (addr uint64, ok bool) {
	variable := false
	t.named(name, func(i int) {
		if i >= t.len() {
			return
		}
		x := t.at(i)
		switch {
		case x.isVariable() && string(x.text(t)) == name:
			addr, ok, variable = x.addr, true, true
		case x.isFunction(t) && string(x.readable(t)) == name && (!ok || !variable && x.addr < addr):
			addr, ok = x.addr, true
		}
	})
	return addr, ok
}

// named calls f with the numbers of the symbols that may have a name: their hashes are equal.
func (t *table) named(name string, f func(i int)) {
	if t.hashed != nil {
		t.hashed.each(name, f)
		return
	}
	if t.byName == nil {
		if t.absent < fewNames && !bytes.Contains(t.names, []byte(name)) {
			t.absent++
			return
		}
		t.orderNames()
	}
	h := hashOf([]byte(name))
	for i := t.byName.from(h << 32); i < len(t.byName.keys); i++ {
		k := t.byName.at(i)
		if k>>32 != h {
			break
		}
		f(int(uint32(k)))
	}
}

// orderNames makes byName.
func (t *table) orderNames() {
	var keys []uint64
	for i := range t.len() {
		x := t.at(i)
		switch {
		case x.isVariable():
			keys = append(keys, hashOf(x.text(t))<<32|uint64(i))
		case x.isFunction(t):
			keys = append(keys, hashOf(x.readable(t))<<32|uint64(i))
		}
	}
	t.byName = newIndex(keys)
}

// hashOf returns a hash of 32 bits (FNV-1a).
func hashOf(name []byte) uint64 {
	h := uint32(2166136261)
	for _, c := range name {
		h = (h ^ uint32(c)) * 16777619
	}
	return uint64(h)
}
