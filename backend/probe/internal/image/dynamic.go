// Symbols of images whose files do not exist any more, from memory.

package image

import (
	"debug/elf"
	"encoding/binary"

	"sdm/backend/probe/internal/cfi"
)

// DynamicSymbols returns the symbols that an image exports, as they are in memory; nil: there are none. mem is
// the memory of the process.
func (m *Module) DynamicSymbols(mem cfi.Memory) (s *Symbols) {
	d := m.dynamicSection(mem)
	if d == nil || d[elf.DT_SYMTAB] == 0 {
		return nil
	}
	entries := make([]byte, m.countSymbols(mem, d)*symbolSize)
	names := make([]byte, min(d[elf.DT_STRSZ], maxImportNames))
	if len(entries) == 0 || !mem.Read(m.at(d[elf.DT_SYMTAB]), entries) || !mem.Read(m.at(d[elf.DT_STRTAB]), names) {
		return nil
	}
	s = &Symbols{}
	s.add(&table{entries: entries, names: names})
	if at, ok := d[elf.DT_SONAME]; ok {
		s.SharedName = string(textAt(names, uint32(min(at, uint64(len(names)))), maxSymbolName))
	}
	return s
}

// dtGNUHash is DT_GNU_HASH.
const dtGNUHash elf.DynTag = 0x6ffffef5

// countSymbols returns the number of dynamic symbols, at most maxImports, as the hash tables tell it. d is
// the dynamic section.
func (m *Module) countSymbols(mem cfi.Memory, d map[elf.DynTag]uint64) uint64 {
	le := binary.LittleEndian
	var head [16]byte
	if at := d[elf.DT_HASH]; at != 0 && mem.Read(m.at(at), head[:8]) {
		return uint64(min(le.Uint32(head[4:]), maxImports)) // nchain, the number of symbols
	}
	at := m.at(d[dtGNUHash])
	if d[dtGNUHash] == 0 || !mem.Read(at, head[:]) {
		return 0
	}
	buckets, first, bloom := le.Uint32(head[:]), le.Uint32(head[4:]), le.Uint32(head[8:])
	if buckets > maxImports || first > maxImports || bloom > maxImports {
		return 0
	}
	at += 16 + 8*uint64(bloom)
	b := make([]byte, 4*buckets)
	if !mem.Read(at, b) {
		return 0
	}
	last := first
	for ; len(b) > 0; b = b[4:] {
		last = max(last, le.Uint32(b))
	}
	at += 4 * uint64(buckets)
	for n := last; n >= first && n < maxImports; n++ { // bit 0 of a hash marks the last one of a chain
		var hash [4]byte
		if !mem.Read(at+4*uint64(n-first), hash[:]) {
			return 0
		}
		if hash[0]&1 == 1 {
			return uint64(n) + 1
		}
	}
	return uint64(min(last, maxImports))
}
