// Names of functions in a program.

package inferior

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// maxNames bounds how much of a program's string table is read, in bytes.
const maxNames = 64 << 20

// maxPrograms bounds how many answers are kept.
const maxPrograms = 1 << 10

// Programs looks for functions in the programs of processes. It keeps the answers, because all
// ranks of a node run the same file. The zero value is ready; one goroutine may use it.
type Programs struct{ answers map[functionQuery]bool }

// functionQuery asks whether a file, in its present version, has a function.
type functionQuery struct {
	device, inode  uint64
	size, modified int64
	function       string
}

// HasFunction reports whether the symbol table of a process's program has a function; a stripped
// program's has none. A function whose name ends in function counts, too: linkers store one string
// PMPI_Abort for MPI_Abort and PMPI_Abort.
func (p *Programs) HasFunction(pid int, function string) bool {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	var file unix.Stat_t
	if unix.Stat(exe, &file) != nil {
		return false
	}
	query := functionQuery{file.Dev, file.Ino, file.Size, file.Mtim.Nano(), function}
	found, kept := p.answers[query]
	if !kept {
		found = hasFunction(exe, function)
		p.keep(query, found)
	}
	return found
}

func (p *Programs) keep(query functionQuery, found bool) {
	if p.answers == nil || len(p.answers) >= maxPrograms {
		p.answers = map[functionQuery]bool{}
	}
	p.answers[query] = found
}

func hasFunction(program, function string) bool {
	f, err := elf.Open(program)
	if err != nil {
		return false
	}
	defer f.Close()
	names := f.Section(".strtab")
	return names != nil && holds(io.LimitReader(names.Open(), maxNames), []byte(function+"\x00"))
}

// holds reports whether the data contains what, which must be shorter than a block.
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
