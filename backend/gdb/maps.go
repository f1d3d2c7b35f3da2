// Where there are libraries in the memory of a process.

package gdb

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// span is a range of addresses.
type span struct{ first, end uint64 }

func (s span) holds(addr uint64) bool { return s.first <= addr && addr < s.end }

// librariesOf gives the ranges of all libraries of a process. Where it cannot be looked at, all
// addresses are.
func librariesOf(pid int) []span {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	maps, failed := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if failed == nil {
		defer maps.Close()
	}
	if err != nil || failed != nil {
		return []span{{0, 1<<64 - 1}}
	}
	return librarySpans(maps, program)
}

// librarySpans finds them in /proc/PID/maps (proc(5)): files with code that are not the program, and what
// lies directly behind one, as the variables of a library do that begin as zero.
//
//	7f7d64700000-7f7d64726000 r--p 00000000 fe:00 133 /lib/x86_64-linux-gnu/libc.so.6
//	7f7d64726000-7f7d6487b000 r-xp 00026000 fe:00 133 /lib/x86_64-linux-gnu/libc.so.6
//	7f7d648d4000-7f7d648e1000 rw-p 00000000 00:00 0
func librarySpans(maps io.Reader, program string) []span {
	type part struct {
		span
		path string
	}
	var parts []part
	code := map[string]bool{}
	lines := bufio.NewScanner(maps) // a line is bounded by a path, far below 64 KiB
	for lines.Scan() {
		f := strings.SplitN(lines.Text(), " ", 6)
		if len(f) < 5 {
			continue
		}
		low, high, _ := strings.Cut(f[0], "-")
		first, err := strconv.ParseUint(low, 16, 64)
		end, failed := strconv.ParseUint(high, 16, 64)
		if err != nil || failed != nil || end <= first {
			continue
		}
		p := part{span: span{first, end}}
		if len(f) == 6 {
			p.path = strings.TrimSpace(f[5])
		}
		if n := len(parts); p.path == "" && n > 0 && parts[n-1].end == first {
			p.path = parts[n-1].path
		}
		if strings.HasPrefix(p.path, "/") && p.path != program {
			code[p.path] = code[p.path] || strings.Contains(f[1], "x")
		}
		parts = append(parts, p)
	}
	var all []span
	for _, p := range parts {
		if code[p.path] {
			all = append(all, p.span)
		}
	}
	return all
}
