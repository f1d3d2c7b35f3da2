// Breakpoints that a gdb has left in a process.

package inferior

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
)

// trap returns the breakpoint instruction of gdb, nil for unknown processors.
func trap() []byte {
	switch runtime.GOARCH {
	case "amd64", "386":
		return []byte{0xcc}
	case "arm64":
		return []byte{0x00, 0x00, 0x20, 0xd4}
	}
	return nil
}

// RemoveBreakpoints removes the breakpoints that a gdb that has ended has left in a process: it
// restores instructions wherever the code differs from the file by just that instruction. It reads
// all code of the program and its libraries (a second per gigabyte), and writes nothing else.
func RemoveBreakpoints(pid int) error {
	maps, err := mapsOf(pid)
	if err != nil {
		return err
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	for m := range mappings(maps) {
		if !m.code || !m.file() {
			continue
		}
		if err := m.removeBreakpoints(pid, mem); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
	}
	return nil
}

// removeBreakpoints compares the code of a mapping with its file. It does nothing if the file has
// been replaced since it was mapped.
func (m mapping) removeBreakpoints(pid int, mem *os.File) error {
	file, err := os.Open(fmt.Sprintf("/proc/%d/root%s", pid, m.path))
	if err != nil {
		return nil // deleted, or unreadable
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Ino != m.inode {
		return nil
	}
	const piece = 256 << 10
	is, was := make([]byte, piece), make([]byte, piece)
	for at := uint64(0); at < m.End-m.First; at += piece {
		n := int(min(piece, m.End-m.First-at))
		if _, err := mem.ReadAt(is[:n], int64(m.First+at)); err != nil {
			return err
		}
		k, err := file.ReadAt(was[:n], m.offset+int64(at))
		if err != nil && err != io.EOF {
			return nil
		}
		if err := patch(mem, int64(m.First+at), is[:k], was[:k]); err != nil {
			return err
		}
	}
	return nil
}

// patch restores what was where there is a breakpoint instruction now.
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
