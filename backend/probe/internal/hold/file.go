// Files of programs.

package hold

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// MapFile maps a regular file into memory, so that only the parts that are used are read. If the file
// becomes shorter, reading panics under debug.SetPanicOnFault, and otherwise ends this program. The memory
// is valid until Unmap.
func MapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // does not block on a pipe
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() != int64(int(info.Size())) {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	return b, nil
}

// Unmap removes a mapping of MapFile. Its memory must not be used afterwards.
func Unmap(b []byte) { _ = unix.Munmap(b) }

// Inode returns the number of a file on its file system.
func Inode(path string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return st.Ino, nil
}

// Unload releases the memory of a mapping of MapFile. The mapping stays valid: parts that are used again are
// read again.
func Unload(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) }
