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
)

// packed lists the first bytes of the formats in which systems compress their core files
// (systemd-coredump(8), storage and compression).
var packed = []struct {
	magic  string
	unpack string
}{
	{"\x28\xb5\x2f\xfd", "unzstd"},
	{"\x04\x22\x4d\x18", "unlz4"},
	{"\xfd7zXZ\x00", "unxz"},
	{"\x1f\x8b", "gunzip"},
}

// CheckCore returns nil if a file can be debugged as a core file; otherwise an error of one line.
// It reads only the first bytes (ELF, e_ident and e_type).
func CheckCore(path string) error {
	f, err := os.Open(path)
	var of *fs.PathError
	switch {
	case errors.As(err, &of):
		return fmt.Errorf("%s: %w", path, of.Err)
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file", path)
	}
	head := make([]byte, elf.EI_NIDENT+2)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if why := notCore(head[:n]); why != "" {
		return fmt.Errorf("%s: %s", path, why)
	}
	return nil
}

// notCore returns what a file is by its first bytes, "" for a core file.
func notCore(head []byte) string {
	for _, p := range packed {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return "a packed file (unpack it first: " + p.unpack + ")"
		}
	}
	switch {
	case len(head) == 0:
		return "an empty file (was there room for the core file? ulimit -c)"
	case len(head) < elf.EI_NIDENT+2 || !bytes.HasPrefix(head, []byte(elf.ELFMAG)):
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
