// What a dead gdb has left in a process.

package gdb

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// trap is the instruction that gdb writes over others as a breakpoint, where we
// know it.
func trap() []byte {
	switch runtime.GOARCH {
	case "amd64", "386":
		return []byte{0xcc}
	case "arm64":
		return []byte{0x00, 0x00, 0x20, 0xd4}
	}
	return nil
}

// mend puts the instructions of a process back where a dead gdb has left
// breakpoints: wherever its code differs from that of the file by just that
// instruction. It reads all code of the program and its libraries (a second per
// gigabyte), and writes nothing else.
func mend(pid int) error {
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return err
	}
	defer maps.Close()
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	lines := bufio.NewScanner(maps) // a line is bounded by a path, far below 64 KiB
	for lines.Scan() {
		if r, ok := parseRegion(lines.Text()); ok {
			if err := r.mend(pid, mem); err != nil {
				return fmt.Errorf("%s: %w", r.path, err)
			}
		}
	}
	return lines.Err()
}

// region is a part of a process that was mapped from a file, code only (proc(5), /proc/PID/maps):
//
//	555555555000-555555556000 r-xp 00001000 fe:00 133 /tmp/work
type region struct {
	first, end uint64 // addresses
	offset     int64  // in the file
	inode      uint64
	path       string
}

func parseRegion(line string) (region, bool) {
	f := strings.SplitN(line, " ", 6)
	if len(f) < 6 || !strings.Contains(f[1], "x") {
		return region{}, false
	}
	r := region{path: strings.TrimSpace(f[5])}
	first, end, _ := strings.Cut(f[0], "-")
	var err error
	parse := func(text string, base int) uint64 {
		n, e := strconv.ParseUint(text, base, 63)
		if e != nil {
			err = e
		}
		return n
	}
	r.first, r.end, r.offset, r.inode = parse(first, 16), parse(end, 16), int64(parse(f[2], 16)), parse(f[4], 10)
	return r, err == nil && r.end > r.first && strings.HasPrefix(r.path, "/") && r.inode != 0
}

// mend compares a region with its file. A file that is no longer the one that
// was mapped is left alone.
func (r region) mend(pid int, mem *os.File) error {
	file, err := os.Open(fmt.Sprintf("/proc/%d/root%s", pid, r.path))
	if err != nil {
		return nil // deleted, or it cannot be read
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Ino != r.inode {
		return nil
	}
	const piece = 256 << 10
	is, was := make([]byte, piece), make([]byte, piece)
	for at := uint64(0); at < r.end-r.first; at += piece {
		n := int(min(piece, r.end-r.first-at))
		if _, err := mem.ReadAt(is[:n], int64(r.first+at)); err != nil {
			return err
		}
		m, err := file.ReadAt(was[:n], r.offset+int64(at))
		if err != nil && err != io.EOF {
			return nil
		}
		if err := patch(mem, int64(r.first+at), is[:m], was[:m]); err != nil {
			return err
		}
	}
	return nil
}

// patch writes what was where a trap is now.
func patch(mem io.WriterAt, at int64, is, was []byte) error {
	t := trap()
	if bytes.Equal(is, was) || t == nil {
		return nil
	}
	for i := 0; i+len(t) <= len(is); i += len(t) {
		if bytes.Equal(is[i:i+len(t)], t) && !bytes.Equal(was[i:i+len(t)], t) {
			if _, err := mem.WriteAt(was[i:i+len(t)], at+int64(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
