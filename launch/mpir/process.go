// Memory of a running process, and its MPIR symbols.

package mpir

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sdm/launch"
	"sdm/protocol/tracing"
)

// process is the memory of a running process, and the MPIR symbols of its program and libraries.
type process struct {
	pid     int
	mem     *os.File
	symbols map[string]symbol
}

type symbol struct{ addr, size uint64 }

// files are those without an MPIR symbol. The ranks of a job and their starter have most libraries
// in common, and each is read once.
type files map[fileID]bool

// maxFiles bounds the number of files that are remembered.
const maxFiles = 1 << 14

// fileID is what /proc/PID/maps tells of a file.
type fileID struct{ device, inode, path string }

// openProcess opens a process. The error is errNoMPIR if it has no table of ranks. Libraries that
// it maps later are not seen. Files in passed are not read, and those without MPIR symbols are
// added to it.
func openProcess(pid int, passed files) (*process, error) {
	p := &process{pid: pid, symbols: map[string]symbol{}}
	images, err := mapped(pid)
	if err != nil {
		return nil, err
	}
	for _, i := range images {
		if p.isComplete() {
			break // a starter may have mapped a hundred libraries
		}
		if !passed[i.id] && !p.addSymbols(i) && len(passed) < maxFiles {
			passed[i.id] = true
		}
	}
	if _, _, ok := p.Symbol(symTable); !ok {
		return nil, errNoMPIR
	}
	if _, _, ok := p.Symbol(symTableSize); !ok {
		return nil, errNoMPIR
	}
	p.mem, err = os.OpenFile(procFile(pid, "mem"), os.O_RDWR, 0)
	if err != nil {
		return nil, unreadable(pid, err)
	}
	return p, nil
}

// isComplete reports whether no further file can have MPIR symbols that are in use: MPIR_Breakpoint is a function, of
// which a program has no copy, so that its file is the one that defines all of them.
func (p *process) isComplete() bool {
	for _, name := range []string{symBreakpoint, symBeingDebugged, symState, symTable, symTableSize} {
		if _, known := p.symbols[name]; !known {
			return false
		}
	}
	return true
}

// unreadable adds to an error why the memory of a process cannot be opened.
func unreadable(pid int, err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("process %d may not be debugged: %w (%s)", pid, err, tracing.WhyNot(pid))
	}
	return err
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

func (p *process) close() { p.mem.Close() }

func (p *process) Symbol(name string) (addr, size uint64, found bool) {
	s, ok := p.symbols[name]
	return s.addr, s.size, ok
}

func (p *process) Read(addr uint64, b []byte) error {
	if addr > 1<<62 {
		return fmt.Errorf("%#x is no address", addr)
	}
	_, err := p.mem.ReadAt(b, int64(addr))
	return err
}

func (p *process) Write(addr uint64, b []byte) error {
	if addr > 1<<62 {
		return fmt.Errorf("%#x is no address", addr)
	}
	_, err := p.mem.WriteAt(b, int64(addr))
	return err
}

// image is a file that a process has mapped, and the address of its beginning.
type image struct {
	path string // as this process sees it
	base uint64
	id   fileID
}

// mapped returns the program and the libraries of a process, the program first: if the program has
// its own copy of a library's variable (a copy relocation), the copy is the one in use.
func mapped(pid int) ([]image, error) {
	b, err := os.ReadFile(procFile(pid, "maps"))
	if err != nil {
		return nil, unreadable(pid, err)
	}
	exe, _ := os.Readlink(procFile(pid, "exe"))
	return readMaps(b, procFile(pid, "root"), exe), nil
}

// readMaps reads /proc/PID/maps (proc(5)).
func readMaps(maps []byte, root, exe string) []image {
	var first, others []image
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(maps))
	for lines.Scan() {
		// address perms offset dev inode path
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[2] != strings.Repeat("0", len(fields[2])) || !strings.HasPrefix(fields[5], "/") {
			continue
		}
		path := strings.Join(fields[5:], " ")
		from, _, _ := strings.Cut(fields[0], "-")
		base, err := strconv.ParseUint(from, 16, 64)
		if err != nil || seen[path] {
			continue
		}
		seen[path] = true
		i := image{filepath.Join(root, path), base, fileID{fields[3], fields[4], path}}
		if path == exe {
			first = append(first, i)
		} else {
			others = append(others, i)
		}
	}
	slices.Reverse(others) // those that are loaded at the start are nearer to the end
	return append(first, others...)
}

// addSymbols adds the MPIR symbols that a file defines, unless they are known already. It reports
// false if the file has none. A file that cannot be read adds none.
func (p *process) addSymbols(i image) (some bool) {
	f, err := os.OpenFile(i.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not block if it has become a FIFO
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	return p.addFrom(f, i.base)
}

// addFrom adds the MPIR symbols of a file that the process has mapped at base, and reports whether
// there are any.
func (p *process) addFrom(file io.ReaderAt, base uint64) (some bool) {
	defer func() { _ = recover() }() // the file is damaged: debug/elf may panic
	f, err := elf.NewFile(file)
	if err != nil || f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return false
	}
	bias := base
	for _, prog := range f.Progs {
		if prog.Type == elf.PT_LOAD {
			bias = base - prog.Vaddr/pageSize*pageSize
			break
		}
	}
	for _, table := range []struct {
		names string
		read  func() ([]elf.Symbol, error)
	}{{".dynstr", f.DynamicSymbols}, {".strtab", f.Symbols}} {
		if launch.IndexIn(file, f.Section(table.names), "\x00MPIR_") < 0 {
			continue // reading all symbols of all libraries would take too long
		}
		all, err := table.read()
		if err != nil {
			continue
		}
		for _, s := range all {
			if s.Section != elf.SHN_UNDEF && (strings.HasPrefix(s.Name, "MPIR_") || s.Name == symSlurmJobID) {
				some = true
				if _, known := p.symbols[s.Name]; !known {
					p.symbols[s.Name] = symbol{s.Value + bias, s.Size}
				}
			}
		}
	}
	return some
}
