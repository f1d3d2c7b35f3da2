// Names of functions in a program.

package inferior

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
)

// mostNames bounds how many bytes of a program's names are looked at.
const mostNames = 64 << 20

// Names tells whether the program of a process names a function in its table of symbols, which a stripped one has not. A function whose
// name ends so counts, too: linkers put PMPI_Abort there for both.
func Names(pid int, function string) bool {
	f, err := elf.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return false
	}
	defer f.Close()
	names := f.Section(".strtab")
	return names != nil && holds(io.LimitReader(names.Open(), mostNames), []byte(function+"\x00"))
}

// holds tells whether what is read has some bytes in it, which are shorter than a block.
func holds(r io.Reader, what []byte) bool {
	const block = 256 << 10
	b := make([]byte, 0, block)
	for {
		n, err := io.ReadFull(r, b[len(b):block])
		b = b[:len(b)+n]
		if bytes.Contains(b, what) {
			return true
		}
		if err != nil {
			return false
		}
		b = b[:copy(b, b[len(b)-len(what):])]
	}
}
