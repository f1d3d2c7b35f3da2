// Breakpoints that a gdb has left in a process.

package inferior

import (
	"bytes"
	"fmt"
	"io"
	"iter"
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
// all code of the program and its libraries (a second per gigabyte), and writes nothing else. It also
// continues children that the gdb has left at their first instruction.
//
// The process must have been stopped: RemoveBreakpoints waits until no thread runs, and returns an
// error if some still do after eight seconds. While a process runs, it may map a library where
// another one was when the mappings were read, and an instruction of the new library that contains the
// same byte would be taken for a breakpoint. That is not rare: the procedure linkage tables of many
// libraries begin with a jump that contains 0xcc.
func RemoveBreakpoints(pid int) error {
	if err := awaitStop(pid); err != nil {
		return err
	}
	_, err := breakpoints(pid, true)
	continueChildren(pid)
	return err
}

// clear removes what a gdb that has ended has left: children stopped at their first instruction, and
// breakpoints. If there are breakpoints, the process is stopped afterwards.
func (p *Process) clear() error {
	if left, err := breakpoints(p.pid, false); err == nil && !left {
		continueChildren(p.pid)
		return nil
	}
	// It may also be that the mappings have changed meanwhile.
	p.Signal(syscall.SIGSTOP)
	return RemoveBreakpoints(p.pid)
}

// breakpoints reports whether there are breakpoints, and removes all of them if told so.
func breakpoints(pid int, remove bool) (found bool, err error) {
	maps, err := mapsOf(pid)
	if err != nil {
		return false, err
	}
	flag := os.O_RDONLY
	if remove {
		flag = os.O_RDWR
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), flag, 0)
	if err != nil {
		return false, err
	}
	defer mem.Close()
	for m := range mappings(maps) {
		if !m.code || !m.file() {
			continue
		}
		left, err := m.breakpoints(pid, mem, remove)
		if err != nil {
			return false, fmt.Errorf("%s: %w", m.path, err)
		}
		if found = found || left; found && !remove {
			break
		}
	}
	return found, nil
}

// breakpoints compares the code of a mapping with its file. It finds none if the file has been replaced
// since it was mapped.
func (m mapping) breakpoints(pid int, mem *os.File, remove bool) (found bool, err error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/root%s", pid, m.path))
	if err != nil {
		return false, nil // deleted, or unreadable
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Ino != m.inode {
		return false, nil
	}
	const piece = 256 << 10
	is, was := make([]byte, piece), make([]byte, piece)
	for at := uint64(0); at < m.End-m.First; at += piece {
		n := int(min(piece, m.End-m.First-at))
		if _, err := mem.ReadAt(is[:n], int64(m.First+at)); err != nil {
			return found, err
		}
		k, err := file.ReadAt(was[:n], m.offset+int64(at))
		if err != nil && err != io.EOF {
			return found, nil
		}
		for i := range differences(is[:k], was[:k]) {
			if found = true; !remove {
				return true, nil
			}
			if _, err := mem.WriteAt(was[i:i+len(trap())], int64(m.First+at)+int64(i)); err != nil {
				return true, err
			}
		}
	}
	return found, nil
}

// differences returns the offsets at which there is a breakpoint instruction that was not there before.
func differences(is, was []byte) iter.Seq[int] {
	return func(yield func(int) bool) {
		t := trap()
		if bytes.Equal(is, was) || t == nil {
			return
		}
		for i := 0; i+len(t) <= len(is); i += len(t) {
			if bytes.Equal(is[i:i+len(t)], t) && !bytes.Equal(was[i:i+len(t)], t) && !yield(i) {
				return
			}
		}
	}
}
