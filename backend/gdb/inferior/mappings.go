// The mappings of a process's memory.

package inferior

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"sdm/protocol/pattern"
)

// Span is a range of addresses, from First to before End.
type Span struct{ First, End uint64 }

// Holds reports whether an address lies in the range.
func (s Span) Holds(addr uint64) bool { return s.First <= addr && addr < s.End }

// mapping is a line of /proc/PID/maps (proc(5)):
//
//	555555555000-555555556000 r-xp 00001000 fe:00 133 /tmp/work
type mapping struct {
	Span
	code   bool  // executable
	offset int64 // in the file
	inode  uint64
	path   string // "": no file; otherwise a path, or a name such as [heap]
}

// file reports whether the mapping is of a file.
func (m mapping) file() bool { return strings.HasPrefix(m.path, "/") }

func parseMapping(line string) (m mapping, ok bool) {
	f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6)
	if len(f) < 5 {
		return mapping{}, false
	}
	var bad error
	parse := func(text string, base, bits int) uint64 {
		n, err := strconv.ParseUint(text, base, bits)
		if err != nil {
			bad = err
		}
		return n
	}
	first, end, _ := strings.Cut(f[0], "-")
	m = mapping{
		Span: Span{parse(first, 16, 64), parse(end, 16, 64)}, code: strings.Contains(f[1], "x"),
		offset: int64(parse(f[2], 16, 63)), inode: parse(f[4], 10, 64),
	}
	if len(f) == 6 {
		m.path = strings.TrimSpace(f[5])
	}
	return m, bad == nil && m.First < m.End
}

// mappings returns the mappings of the lines of maps.
func mappings(maps string) iter.Seq[mapping] {
	return func(yield func(mapping) bool) {
		for line := range strings.Lines(maps) {
			if m, ok := parseMapping(line); ok && !yield(m) {
				return
			}
		}
	}
}

// mapsOf reads /proc/PID/maps. The kernel bounds the number of lines (vm.max_map_count), and the
// length of a line by the length of a path.
func mapsOf(pid int) (string, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := mapsBuffers.Get().(*bytes.Buffer)
	defer mapsBuffers.Put(b)
	b.Reset()
	_, err = b.ReadFrom(f)
	return b.String(), err
}

// mapsBuffers are buffers for mapsOf, so that a text is not copied each time that it is found to be longer.
var mapsBuffers = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, 64<<10)) }}

// Maps are the mappings of processes. They are read again if the process has run since: each rank that stops is
// asked several times. The zero value knows none. One goroutine uses it at a time.
type Maps struct {
	texts map[int]mapsText // by process ID
	size  int              // of the texts, in bytes
}

// mapsText is the text of /proc/PID/maps of a process that has used this processor time before it was read.
type mapsText struct {
	ran  int64
	text string
}

// maxMaps bounds the texts that are kept, in bytes.
const maxMaps = 1 << 20

// of is mapsOf.
func (m *Maps) of(pid int) (string, error) {
	ran := exactCPUTime(pid)
	if t, known := m.texts[pid]; known && t.ran == ran {
		return t.text, nil
	}
	text, err := mapsOf(pid)
	if err != nil || ran < 0 {
		return text, err
	}
	if m.size += len(text) - len(m.texts[pid].text); m.size > maxMaps || m.texts == nil {
		m.texts, m.size = map[int]mapsText{}, len(text)
	}
	m.texts[pid] = mapsText{ran, text}
	return text, nil
}

// exactCPUTime is CPUTime in nanoseconds, by the clock of the process (clock_getcpuclockid(3),
// include/linux/posix-timers.h of the kernel); -1: there is no such process.
func exactCPUTime(pid int) int64 {
	const sched = 2
	var t unix.Timespec
	if pid <= 0 || unix.ClockGettime(int32(^pid<<3|sched), &t) != nil {
		return -1
	}
	return t.Nano()
}

// Matches reports whether a process has mapped a file whose path matches.
func (m *Maps) Matches(pid int, path *pattern.Pattern) bool {
	maps, err := m.of(pid)
	return err == nil && path.MatchString(maps)
}

// ObjectAt returns the program or library in which an address of a process lies, or "".
func (m *Maps) ObjectAt(pid int, addr uint64) string {
	maps, err := m.of(pid)
	if err != nil {
		return ""
	}
	for part := range mappings(maps) {
		if part.file() && part.Holds(addr) {
			return part.path
		}
	}
	return ""
}

// Libraries returns the address ranges of all libraries of a process. If the process cannot be
// inspected, the result contains all addresses.
func (m *Maps) Libraries(pid int) []Span {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	maps, failed := m.of(pid)
	if err != nil || failed != nil {
		return []Span{{0, 1<<64 - 1}}
	}
	return libraries(maps, program)
}

// libraries returns the ranges of files with code that are not the program, and of anonymous
// mappings directly after them: those are variables of a library that are initialised with zero.
//
//	7f7d64700000-7f7d64726000 r--p 00000000 fe:00 133 /lib/x86_64-linux-gnu/libc.so.6
//	7f7d64726000-7f7d6487b000 r-xp 00026000 fe:00 133 /lib/x86_64-linux-gnu/libc.so.6
//	7f7d648d4000-7f7d648e1000 rw-p 00000000 00:00 0
func libraries(maps, program string) []Span {
	var parts []mapping
	code := map[string]bool{}
	for m := range mappings(maps) {
		if n := len(parts); m.path == "" && n > 0 && parts[n-1].End == m.First {
			m.path = parts[n-1].path
		}
		if m.file() && m.path != program {
			code[m.path] = code[m.path] || m.code
		}
		parts = append(parts, m)
	}
	var all []Span
	for _, m := range parts {
		if code[m.path] {
			all = append(all, m.Span)
		}
	}
	return all
}
