// Names of functions.

package image

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

const (
	mostSymbols = 1 << 22 // 192 MB in a file
	mostTable   = 24 * mostSymbols
)

// Symbols are the functions of an image, by the addresses of its file. They are immutable.
type Symbols struct {
	// SharedName is the name by which programs refer to a library (DT_SONAME); "": none.
	SharedName string
	list       []symbol
}

type symbol struct {
	addr, size uint64
	name       string
}

// ReadSymbols returns the functions of .symtab and .dynsym of an ELF file, and its build-id.
func ReadSymbols(file io.ReaderAt) (s *Symbols, id string, err error) {
	defer func() { // debug/elf is not hardened against damaged files, says its documentation
		if r := recover(); r != nil {
			s, err = nil, fmt.Errorf("damaged ELF file: %v", r)
		}
	}()
	f, err := elf.NewFile(file)
	if err != nil {
		return nil, "", err
	}
	s = &Symbols{}
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		if tooLarge(f) {
			return nil, "", fmt.Errorf("symbol table of more than %d bytes", mostTable)
		}
		list, err := read()
		if err == nil {
			s.add(list)
		}
	}
	s.sort()
	if names, err := f.DynString(elf.DT_SONAME); err == nil && len(names) > 0 {
		s.SharedName = names[0]
	}
	return s, idOf(f), nil
}

func tooLarge(f *elf.File) bool {
	return slices.ContainsFunc(f.Sections, func(s *elf.Section) bool {
		switch s.Type {
		case elf.SHT_SYMTAB, elf.SHT_DYNSYM, elf.SHT_STRTAB:
			return s.Size > mostTable
		}
		return false
	})
}

func idOf(f *elf.File) string {
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > headSize {
			continue
		}
		b := make([]byte, p.Filesz)
		if _, err := p.ReadAt(b, 0); err == nil && buildID(b) != "" {
			return buildID(b)
		}
	}
	return ""
}

// typeIFunc is STT_GNU_IFUNC, a function whose implementation is chosen at load time.
const typeIFunc = 10

func (s *Symbols) add(list []elf.Symbol) {
	for _, e := range list {
		if isFunction(e) {
			name, _, _ := strings.Cut(e.Name, "@")
			s.list = append(s.list, symbol{e.Value, e.Size, withoutNumber(name)})
		}
	}
}

// isFunction reports whether a symbol is a function of this file. Assemblers give some functions
// no type; those without a size are labels, but for the entry of a program.
func isFunction(e elf.Symbol) bool {
	if e.Section == elf.SHN_UNDEF || e.Section >= elf.SHN_LORESERVE || e.Value == 0 || e.Name == "" {
		return false
	}
	switch elf.ST_TYPE(e.Info) {
	case elf.STT_FUNC, typeIFunc:
		return true
	case elf.STT_NOTYPE:
		return e.Size > 0 || e.Name == "_start"
	}
	return false
}

// clones are the endings with which gcc names copies of a function. A number follows.
var clones = []string{".constprop", ".isra", ".part"}

// withoutNumber removes the number of a copy of a function, as gdb does: "f.constprop.0" is
// "f.constprop".
func withoutNumber(name string) string {
	i := strings.LastIndexByte(name, '.')
	for _, c := range clones {
		if i > 0 && strings.HasSuffix(name[:i], c) {
			return name[:i]
		}
	}
	return name
}

// sort orders symbols by address. Of those with one address, the last by name is shown, as by gdb,
// and those without a size are shown last.
func (s *Symbols) sort() {
	slices.SortFunc(s.list, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(min(a.size, 1), min(b.size, 1)), cmp.Compare(a.name, b.name))
	})
}

// nearby bounds the symbols that are looked at below an address: functions may be nested.
const nearby = 16

// Name returns the function at an address of the file; "": none is known.
func (s *Symbols) Name(addr uint64) string {
	if s == nil {
		return ""
	}
	end := sort.Search(len(s.list), func(i int) bool { return s.list[i].addr > addr })
	for i := end - 1; i >= max(end-nearby, 0); i-- {
		if f := &s.list[i]; addr-f.addr < f.size || f.size == 0 && i == end-1 {
			return f.name
		}
	}
	return ""
}
