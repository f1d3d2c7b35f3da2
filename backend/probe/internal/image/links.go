// What images import, from memory.

package image

import (
	"debug/elf"
	"encoding/binary"
	"slices"

	"sdm/backend/probe/internal/cfi"
)

const (
	// maxDynamic bounds the dynamic section of an image, in entries; real ones have some 30.
	maxDynamic = 512
	// maxRelocations bounds the relocations of an image: a large library has some 100,000.
	maxRelocations = 1 << 20
	// maxImports bounds the dynamic symbols of an image.
	maxImports = 1 << 18
	// maxImportNames bounds the names of the dynamic symbols of an image, in bytes.
	maxImportNames = 16 << 20
)

// Links are the places where the dynamic linker stores addresses of functions and variables for an image (ELF
// specification, Dynamic Linking; psABI of x86-64, Relocation). All addresses are as in the file.
type Links struct {
	slots          []uint64
	numbers        []uint32 // of their symbols
	symbols, names uint64   // where the symbols and their names are
}

// Links returns the links of the module. mem is the memory of the process.
func (m *Module) Links(mem cfi.Memory) *Links {
	d := m.dynamicSection(mem)
	l := &Links{symbols: m.at(d[elf.DT_SYMTAB]) - m.Bias, names: m.at(d[elf.DT_STRTAB]) - m.Bias}
	for _, table := range [][2]elf.DynTag{{elf.DT_JMPREL, elf.DT_PLTRELSZ}, {elf.DT_RELA, elf.DT_RELASZ}} {
		b := make([]byte, min(d[table[1]]/relocationSize, maxRelocations)*relocationSize)
		if d[table[0]] == 0 || !mem.Read(m.at(d[table[0]]), b) {
			continue
		}
		for ; len(b) > 0; b = b[relocationSize:] {
			info := binary.LittleEndian.Uint64(b[8:])
			n := info >> 32
			switch elf.R_X86_64(info & 0xffffffff) {
			case elf.R_X86_64_JMP_SLOT, elf.R_X86_64_GLOB_DAT:
				if n > 0 && n < maxImports {
					l.slots, l.numbers = append(l.slots, binary.LittleEndian.Uint64(b)), append(l.numbers, uint32(n))
				}
			}
		}
	}
	return l
}

// Name returns the name of the function or variable whose address the dynamic linker stores at an address; "": it
// stores none there. mem is the memory of the image by the addresses of its file.
func (l *Links) Name(slot uint64, mem cfi.Memory) string {
	i := slices.Index(l.slots, slot)
	var b [4]byte
	if i < 0 || !mem.Read(l.symbols+uint64(l.numbers[i])*symbolSize, b[:]) {
		return ""
	}
	at := l.names + uint64(binary.LittleEndian.Uint32(b[:]))
	var name []byte
	for len(name) < maxSymbolName && mem.Read(at+uint64(len(name)), b[:1]) && b[0] != 0 {
		name = append(name, b[0])
	}
	return string(name)
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
	b := make([]byte, 16*maxDynamic)
	for !mem.Read(m.Bias+m.dynamic, b) { // there may be no memory after it
		if b = b[:len(b)/2]; len(b) < 16 {
			return nil
		}
	}
	for ; len(b) >= 16; b = b[16:] {
		tag := elf.DynTag(binary.LittleEndian.Uint64(b))
		if tag == elf.DT_NULL {
			break
		}
		d[tag] = binary.LittleEndian.Uint64(b[8:])
	}
	return d
}
