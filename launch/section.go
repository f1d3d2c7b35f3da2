// Texts in sections of ELF files.

package launch

import (
	"bytes"
	"debug/elf"
	"io"
	"sync"
)

// maxSection bounds the size of a section that is searched, in bytes; the names of a huge program have 100 MB.
const maxSection = 1 << 28

// pieces is memory for IndexIn: a process may have mapped a hundred files.
var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

const pieceSize = 32 << 10

// IndexIn returns where a text is in a section of an ELF file for the first time, in bytes from its beginning; -1:
// nowhere, or the section is not there or cannot be read. It reads the section by pieces, which costs less than to
// map the file: each page that is mapped is a fault.
func IndexIn(file io.ReaderAt, s *elf.Section, text string) int64 {
	if s == nil || s.Type == elf.SHT_NOBITS || s.FileSize > maxSection || s.Offset > 1<<62 {
		return -1
	}
	size := int64(s.FileSize)
	memory := pieces.Get().(*[pieceSize]byte)
	defer pieces.Put(memory)
	piece := memory[:]
	for at, kept := int64(0), 0; at < size; {
		n := int(min(int64(len(piece)-kept), size-at))
		if got, _ := file.ReadAt(piece[kept:][:n], int64(s.Offset)+at); got < n {
			return -1
		}
		known := piece[:kept+n]
		if i := bytes.Index(known, []byte(text)); i >= 0 {
			return at - int64(kept) + int64(i)
		}
		at += int64(n)
		kept = copy(piece, known[max(len(known)-len(text)+1, 0):])
	}
	return -1
}
