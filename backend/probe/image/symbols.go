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
	mostPacked  = 16 << 20 // bytes of .gnu_debugdata
)

// Symbols are the functions of an image, by the addresses of its file.
type Symbols struct {
	// SharedName is the name by which programs refer to a library (DT_SONAME); "": none.
	SharedName string
	// Packed is the section .gnu_debugdata of a file without .symtab; nil: there is none. It has
	// further symbols; see Join.
	Packed    []byte
	list      []symbol
	variables map[string]uint64
	sections  map[string]section
}

// Join adds the functions of a file with the same addresses.
func (s *Symbols) Join(more *Symbols) {
	s.list = append(s.list, more.list...)
	s.sort()
}

// section is a section in memory.
type section struct{ addr, size uint64 }

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
	s = &Symbols{variables: map[string]uint64{}, sections: map[string]section{}}
	for _, x := range f.Sections {
		if x.Flags&elf.SHF_ALLOC != 0 {
			s.sections[x.Name] = section{x.Addr, x.Size}
		}
	}
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		if tooLarge(f) {
			return nil, "", fmt.Errorf("symbol table of more than %d bytes", mostTable)
		}
		list, err := read()
		if err == nil {
			s.add(list)
		}
	}
	if x := f.Section(".gnu_debugdata"); x != nil && f.Section(".symtab") == nil && x.Size <= mostPacked {
		s.Packed, _ = x.Data() // without it there are fewer names
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
		if elf.ST_TYPE(e.Info) == elf.STT_OBJECT && e.Section != elf.SHN_UNDEF {
			s.variables[e.Name] = e.Value
		}
	}
}

// Address returns the address of a function or variable in the file.
func (s *Symbols) Address(name string) (addr uint64, ok bool) {
	if s == nil {
		return 0, false
	}
	if addr, ok = s.variables[name]; ok {
		return addr, true
	}
	if i := slices.IndexFunc(s.list, func(f symbol) bool { return f.name == name }); i >= 0 {
		return s.list[i].addr, true
	}
	return 0, false
}

// Section returns the place of a section in the file's addresses.
func (s *Symbols) Section(name string) (addr, size uint64, ok bool) {
	if s == nil {
		return 0, 0, false
	}
	x, ok := s.sections[name]
	return x.addr, x.size, ok
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
	name, _, _ := s.Function(addr)
	return name
}

// Function returns the function that contains an address of the file, and where it begins.
func (s *Symbols) Function(addr uint64) (name string, first uint64, ok bool) {
	if s == nil {
		return "", 0, false
	}
	end := sort.Search(len(s.list), func(i int) bool { return s.list[i].addr > addr })
	for i := end - 1; i >= max(end-nearby, 0); i-- {
		if f := &s.list[i]; addr-f.addr < f.size || f.size == 0 && i == end-1 {
			return f.name, f.addr, true
		}
	}
	return "", 0, false
}
