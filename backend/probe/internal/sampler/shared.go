// What processes with the same image share: tables and names.

package sampler

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/derived"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/mpi"
	"sdm/backend/probe/internal/python"
	"sdm/backend/probe/internal/variable"
)

// shared is an image with what is known of it, which is the same for all processes that have it. Its
// pages are read from the memory of one of them.
type shared struct {
	pages
	table     *cfi.Table   // in memory, with an index; nil: none
	tabled    bool         // table has been determined
	further   []*cfi.Table // see furtherTables
	looked    bool         // further has been determined
	symbols   *image.Symbols
	named     bool // symbols have been read, or cannot be read
	lines     *image.Lines
	lined     bool                         // lines have been read, or cannot be read
	names     *variable.Names              // nil: no debug information
	searched  bool                         // names have been read, or cannot be read
	file      []byte                       // mapped, while symbols and lines are used; nil: none
	separate  []byte                       // the separate debug file, mapped like file; nil: none
	loaded    bool                         // parts of the files may be in memory; see unload
	links     *image.Links                 // nil: not read yet
	linkNames map[uint64]string            // results of links.Name
	places    map[uint64][]image.Place     // results of at, by address of the file
	around    map[uint64]image.Function    // functions by an address in them; one without a name: none is known
	functions map[uint64]*derived.Function // functions without tables, by first address; nil: nothing is certain
	mpi       mpi.Cache                    // used for processes whose program this image is
	// debugFiles is the same as in known.
	debugFiles string
	// interpreters are the Python interpreters in the image, by process.
	interpreters map[int]*python.Interpreter
}

func newShared(debugFiles string) *shared {
	return &shared{
		pages: pages{kept: map[uint64][]byte{}}, places: map[uint64][]image.Place{}, around: map[uint64]image.Function{},
		linkNames: map[uint64]string{}, functions: map[uint64]*derived.Function{},
		interpreters: map[int]*python.Interpreter{}, debugFiles: debugFiles,
	}
}

// rest drops what is read or made again when an address is looked up that has not been looked up before.
func (s *shared) rest() {
	s.kept = map[uint64][]byte{}
	s.symbols.Rest()
	s.lines, s.lined = nil, false
	for _, b := range [][]byte{s.file, s.separate} {
		if b != nil {
			hold.Unload(b)
		}
	}
}

// maxPlaces bounds the addresses of an image whose names are kept.
const maxPlaces = 1 << 15

const (
	pageSize = 4096
	maxPages = 48 << 20 / pageSize // of one image
)

// pages is the memory of an image, by the addresses of its file. Each page is read once.
type pages struct {
	kept map[uint64][]byte // by page number
	from hold.Memory       // of a process that has the image
	bias uint64            // of the image in that process
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

// page returns page n; nil: it cannot be read, or too many are kept.
func (p *pages) page(n uint64) []byte {
	if b, ok := p.kept[n]; ok {
		return b
	}
	if len(p.kept) == maxPages {
		return nil
	}
	b := make([]byte, pageSize)
	if !p.from.Read(p.bias+n*pageSize, b) {
		return nil
	}
	p.kept[n] = b
	return b
}

// need reads the symbols if they have not been read.
func (s *shared) need(m *image.Module, pid int) {
	if !s.named {
		s.named, s.loaded = true, true
		s.readNames(m, pid)
		s.readSeparate(m, pid)
		if gone := !hold.Memory(pid).Read(m.Header.Start, make([]byte, 1)); gone && s.symbols == nil {
			s.named = false // the process has ended; another one may have the image, too
		}
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

// readNames reads the symbols from the file of a module: through its mapping, which also works for a
// deleted file, or by its path as the process sees it. A file that has replaced it is recognized by its
// build-id, or, if the image has none, by its inode, and not read. Without a file the exported symbols
// are read from memory.
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
		if (m.BuildID != "" || isFile(path, m.File)) && s.readFile(path, m.BuildID) {
			return
		}
	}
	s.symbols = m.DynamicSymbols(hold.Memory(pid))
}

// isFile reports whether a path leads to a file, which has the form of image.Mapping.File. Devices are not
// compared: stacked file systems such as overlayfs report another one in /proc/PID/maps.
func isFile(path, file string) bool {
	inode, err := hold.Inode(path)
	_, want, _ := strings.Cut(file, " ")
	return err == nil && strconv.FormatUint(inode, 10) == want
}

// readFile reads the symbols of a file. It returns whether the file has this build-id and could be read.
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
	s.symbols, s.file = symbols, b
	return true
}

// maxVDSO bounds the size of the image that the kernel maps into each process.
const maxVDSO = 1 << 20

func vdsoSymbols(m *image.Module, pid int) *image.Symbols {
	b := make([]byte, min(m.Header.End-m.Header.Start, maxVDSO))
	if !hold.Memory(pid).Read(m.Header.Start, b) {
		return nil
	}
	s, _, err := image.ReadSymbols(b)
	if err != nil {
		return nil
	}
	return s
}
