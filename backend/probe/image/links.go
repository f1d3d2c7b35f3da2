// What images import, from memory.

package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"sdm/backend/probe/cfi"
)

const (
	// mostDynamic bounds the dynamic section of an image, in entries; real ones have some 30.
	mostDynamic = 512
	// mostRelocations bounds the relocations of an image: a large library has some 100,000.
	mostRelocations = 1 << 20
	// mostImports bounds the dynamic symbols of an image.
	mostImports = 1 << 18
	// mostImportNames bounds the names of the dynamic symbols of an image, in bytes.
	mostImportNames = 16 << 20
)

// Links returns the names of the functions and variables whose addresses the dynamic linker stores
// for an image, by the addresses of the process at which it stores them (ELF specification, Dynamic
// Linking; psABI of x86-64, Relocation). mem is the memory of the process.
func (m *Module) Links(mem cfi.Memory) map[uint64]string {
	d := m.dynamicSection(mem)
	if d == nil {
		return nil
	}
	slots := map[uint64]uint64{} // symbol by slot
	last := uint64(0)
	for _, table := range [][2]elf.DynTag{{elf.DT_JMPREL, elf.DT_PLTRELSZ}, {elf.DT_RELA, elf.DT_RELASZ}} {
		b := make([]byte, min(d[table[1]]/relocationSize, mostRelocations)*relocationSize)
		if d[table[0]] == 0 || !mem.Read(m.at(d[table[0]]), b) {
			continue
		}
		for ; len(b) > 0; b = b[relocationSize:] {
			info := binary.LittleEndian.Uint64(b[8:])
			n := info >> 32
			switch elf.R_X86_64(info & 0xffffffff) {
			case elf.R_X86_64_JMP_SLOT, elf.R_X86_64_GLOB_DAT:
				if n > 0 && n < mostImports {
					slots[binary.LittleEndian.Uint64(b)+m.Bias] = n
					last = max(last, n)
				}
			}
		}
	}
	symbols := make([]byte, (last+1)*symbolSize)
	text := make([]byte, min(d[elf.DT_STRSZ], mostImportNames))
	if !mem.Read(m.at(d[elf.DT_SYMTAB]), symbols) || !mem.Read(m.at(d[elf.DT_STRTAB]), text) {
		return nil
	}
	links := make(map[uint64]string, len(slots))
	for slot, n := range slots {
		at := uint64(binary.LittleEndian.Uint32(symbols[n*symbolSize:]))
		if name, _, ok := bytes.Cut(text[min(at, uint64(len(text))):], []byte{0}); ok && len(name) > 0 {
			links[slot] = string(name)
		}
	}
	return links
}

const (
	relocationSize = 24 // Elf64_Rela
	symbolSize     = 24 // Elf64_Sym
)

// at returns the address in the process of an address in the dynamic section. The dynamic linker of glibc
// has added the bias to some of them already.
func (m *Module) at(addr uint64) uint64 {
	if addr >= m.First && addr < m.End {
		return addr
	}
	return addr + m.Bias
}

// dynamicSection returns the entries of the dynamic section; nil: there is none.
func (m *Module) dynamicSection(mem cfi.Memory) map[elf.DynTag]uint64 {
	if m.dynamic == 0 {
		return nil
	}
	d := map[elf.DynTag]uint64{}
	for n := range uint64(mostDynamic) {
		var b [16]byte
		if !mem.Read(m.Bias+m.dynamic+16*n, b[:]) {
			break
		}
		tag := elf.DynTag(binary.LittleEndian.Uint64(b[:]))
		if tag == elf.DT_NULL {
			break
		}
		d[tag] = binary.LittleEndian.Uint64(b[8:])
	}
	return d
}
