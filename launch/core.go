// What files are core files.

package launch

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// packed lists the first bytes of the formats in which systems compress their core files
// (systemd-coredump(8), storage and compression), and the commands that unpack a file from standard
// input to standard output.
var packed = []struct {
	magic  string
	unpack []string // nil: gzip, which needs no program
	hint   string   // what a person types
}{
	{"\x28\xb5\x2f\xfd", []string{"zstd", "-dcq"}, "unzstd"},
	{"\x04\x22\x4d\x18", []string{"lz4", "-dcq"}, "unlz4"},
	{"\xfd7zXZ\x00", []string{"xz", "-dcq", "--memlimit-decompress=1GiB"}, "unxz"}, // xz -9 needs 65 MiB
	{"\x1f\x8b", nil, "gunzip"},
}

// CheckCore returns nil if a file can be debugged as a core file; otherwise an error of one line.
// It reads only the first bytes (ELF, e_ident and e_type).
func CheckCore(path string) error {
	f, head, err := openCore(path)
	if err != nil {
		return err
	}
	f.Close()
	if i := packedBy(head); i >= 0 {
		return fmt.Errorf("%s: a packed file (unpack it first: %s)", path, packed[i].hint)
	}
	if why := notCore(head); why != "" {
		return fmt.Errorf("%s: %s", path, why)
	}
	return nil
}

// IsPacked reports whether a file is one that Unpacker.Core is for.
func IsPacked(path string) bool {
	f, head, err := openCore(path)
	if err != nil {
		return false
	}
	f.Close()
	return packedBy(head) >= 0
}

// openCore opens a regular file, and returns it and its first bytes.
func openCore(path string) (*os.File, []byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe would wait for a writer
	var of *fs.PathError
	switch {
	case errors.As(err, &of):
		return nil, nil, fmt.Errorf("%s: %w", path, of.Err)
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, nil, fmt.Errorf("%s: not a file", path)
	}
	head := make([]byte, coreHead)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, head[:n], nil
}

// packedBy returns the index in packed of the format of a file by its first bytes; -1: none.
func packedBy(head []byte) int {
	for i, p := range packed {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return i
		}
	}
	return -1
}

// coreHead is the length of the first bytes of an ELF file that tell what it is.
const coreHead = elf.EI_NIDENT + 2

// notCore returns what a file that is not packed is by its first bytes, "" for a core file.
func notCore(head []byte) string {
	switch {
	case len(head) == 0:
		return "an empty file (was there room for the core file? ulimit -c)"
	case len(head) < coreHead || !bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return "not a core file"
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	switch elf.Type(order.Uint16(head[elf.EI_NIDENT:])) {
	case elf.ET_CORE:
		return ""
	case elf.ET_EXEC, elf.ET_DYN:
		return "a program, not a core file"
	}
	return "not a core file"
}
