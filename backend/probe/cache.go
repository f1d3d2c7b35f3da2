// What processes with the same image share: tables and names.

package probe

import (
	"fmt"
	"os"

	"sdm/backend/probe/cfi"
	"sdm/backend/probe/hold"
	"sdm/backend/probe/image"
)

// cache holds images by their keys. One goroutine uses it at a time.
type cache map[string]*shared

// shared is an image, whichever process it was read from.
type shared struct {
	pages
	table   *cfi.Table // nil: none
	symbols *image.Symbols
	named   bool // symbols have been read, or cannot be
	names   map[uint64]string
}

// of returns the image of a module of a process. The memory of that process is read from now on.
func (c cache) of(m *image.Module, pid int) *shared {
	s := c[m.Key()]
	if s == nil {
		s = &shared{pages: pages{kept: map[uint64][]byte{}}, names: map[uint64]string{}}
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

// name returns the function at an address of the file of a module; "": none is known.
func (s *shared) name(m *image.Module, pid int, addr uint64) string {
	if !s.named {
		s.named, s.symbols = true, readSymbols(m, pid)
	}
	name, ok := s.names[addr]
	if !ok {
		name = s.symbols.Name(addr)
		s.names[addr] = name
	}
	return name
}

// readSymbols reads the names from the file of a module: through its mapping, which also works for
// a deleted file, or by its path as the process sees it. A file with another build-id has replaced
// it.
func readSymbols(m *image.Module, pid int) *image.Symbols {
	if m.File == "" {
		return vdsoSymbols(m, pid)
	}
	for _, path := range []string{
		fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Header.Start, m.Header.End),
		fmt.Sprintf("/proc/%d/root%s", pid, m.Path),
	} {
		if s := symbolsOf(path, m.BuildID); s != nil {
			return s
		}
	}
	return nil
}

func symbolsOf(path, id string) *image.Symbols {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	s, found, err := image.ReadSymbols(f)
	if err != nil || found != id {
		return nil
	}
	return s
}

// mostVDSO bounds the size of the image that the kernel maps into each process.
const mostVDSO = 1 << 20

func vdsoSymbols(m *image.Module, pid int) *image.Symbols {
	b := make([]byte, min(m.Header.End-m.Header.Start, mostVDSO))
	if !hold.Memory(pid).Read(m.Header.Start, b) {
		return nil
	}
	s, _, err := image.ReadSymbols(bytesAt(b))
	if err != nil {
		return nil
	}
	return s
}
