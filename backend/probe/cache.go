// What processes with the same image share: tables and names.

package probe

import (
	"fmt"
	"path/filepath"
	"strings"

	"sdm/backend/probe/argument"
	"sdm/backend/probe/cfi"
	"sdm/backend/probe/hold"
	"sdm/backend/probe/image"
	"sdm/backend/probe/python"
	"sdm/backend/probe/symbol"
)

// cache holds images by their keys. One goroutine uses it at a time.
type cache map[string]*shared

// shared is an image, whichever process it was read from.
type shared struct {
	pages
	table   *cfi.Table // nil: none
	symbols *image.Symbols
	named   bool // symbols have been read, or cannot be
	lines   *image.Lines
	places  map[uint64][]image.Place
	sites   argument.Cache // of all images, for processes whose program it is
	// interpreters of Python that the image holds, by process.
	interpreters map[int]*python.Interpreter
}

// of returns the image of a module of a process. The memory of that process is read from now on.
func (c cache) of(m *image.Module, pid int) *shared {
	s := c[m.Key()]
	if s == nil {
		s = &shared{pages: pages{kept: map[uint64][]byte{}}, places: map[uint64][]image.Place{}, interpreters: map[int]*python.Interpreter{}}
		s.from, s.bias = hold.Memory(pid), m.Bias
		s.table = m.Table(&s.pages)
		c[m.Key()] = s
	}
	s.from, s.bias = hold.Memory(pid), m.Bias
	return s
}

const (
	pageSize  = 4096
	mostPages = 48 << 20 / pageSize // of one image
)

// pages are the tables of an image in memory, by the addresses of its file. Each page is read once.
type pages struct {
	kept map[uint64][]byte
	from hold.Memory
	bias uint64
}

// Read implements cfi.Memory.
func (p *pages) Read(addr uint64, b []byte) bool {
	for len(b) > 0 {
		page := p.page(addr / pageSize)
		if page == nil {
			return false
		}
		n := copy(b, page[addr%pageSize:])
		b, addr = b[n:], addr+uint64(n)
	}
	return true
}

func (p *pages) page(n uint64) []byte {
	if b, ok := p.kept[n]; ok {
		return b
	}
	if len(p.kept) == mostPages {
		return nil
	}
	b := make([]byte, pageSize)
	if !p.from.Read(p.bias+n*pageSize, b) {
		return nil
	}
	p.kept[n] = b
	return b
}

// at returns the functions at an address of the file of a module, the innermost inlined one first;
// none is known if it is empty. A name of the debug information comes first.
func (s *shared) at(m *image.Module, pid int, addr uint64) []image.Place {
	s.need(m, pid)
	places, ok := s.places[addr]
	if !ok {
		places = s.lines.At(addr)
		if name := s.symbols.Name(addr); len(places) == 0 && name != "" {
			places = []image.Place{{Function: symbol.Readable(name)}}
		}
		s.places[addr] = places
	}
	return places
}

// need reads the names if that has not been done.
func (s *shared) need(m *image.Module, pid int) {
	if !s.named {
		s.named = true
		s.readNames(m, pid)
	}
}

// library returns the path of a library with the name by which programs refer to it, as gdb shows it:
// without the last numbers of its version.
func (s *shared) library(m *image.Module) string {
	path := strings.TrimSuffix(m.Path, " (deleted)")
	if s.symbols == nil || s.symbols.SharedName == "" {
		return path
	}
	return filepath.Join(filepath.Dir(path), filepath.Base(s.symbols.SharedName))
}

// readNames reads the names from the file of a module: through its mapping, which also works for
// a deleted file, or by its path as the process sees it. A file with another build-id has replaced
// it.
func (s *shared) readNames(m *image.Module, pid int) {
	if m.File == "" {
		s.symbols = vdsoSymbols(m, pid)
		return
	}
	for _, path := range []string{
		fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Header.Start, m.Header.End),
		fmt.Sprintf("/proc/%d/root%s", pid, m.Path),
		fmt.Sprintf("/proc/%d/exe", pid), // also a deleted one, without the rights that map_files needs
	} {
		if s.readFile(path, m.BuildID) {
			return
		}
	}
}

// readFile returns whether the file is the one of the image and its names can be read.
func (s *shared) readFile(path, id string) bool {
	b, err := hold.MapFile(path)
	if err != nil {
		return false
	}
	symbols, found, err := image.ReadSymbols(b)
	if err != nil || found != id {
		hold.Unmap(b)
		return false
	}
	s.symbols = symbols
	s.lines, _ = image.ReadLines(b) // without them there are still the symbols
	return true
}

// mostVDSO bounds the size of the image that the kernel maps into each process.
const mostVDSO = 1 << 20

func vdsoSymbols(m *image.Module, pid int) *image.Symbols {
	b := make([]byte, min(m.Header.End-m.Header.Start, mostVDSO))
	if !hold.Memory(pid).Read(m.Header.Start, b) {
		return nil
	}
	s, _, err := image.ReadSymbols(b)
	if err != nil {
		return nil
	}
	return s
}
