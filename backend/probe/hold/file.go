// Files of programs.

package hold

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// MapFile maps a regular file into memory, so that only what is needed of it is read. The file may
// become shorter: then reading panics, or ends this program without debug.SetPanicOnFault. The
// memory is that of the file until Unmap.
func MapFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe does not block
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

// Unmap ends a mapping by MapFile. Nothing may use its memory any more.
func Unmap(b []byte) { _ = unix.Munmap(b) }

// Inode returns the number of a file on its file system.
func Inode(path string) (uint64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return st.Ino, nil
}

// Unload gives back the memory of a mapping by MapFile. What is used of it again is read again.
func Unload(b []byte) { _ = unix.Madvise(b, unix.MADV_DONTNEED) }
