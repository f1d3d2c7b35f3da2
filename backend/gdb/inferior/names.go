// Names of functions in a program.

package inferior

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// mostNames bounds how many bytes of a program's names are looked at.
const mostNames = 64 << 20

// mostPrograms bounds how many answers are kept.
const mostPrograms = 1 << 10

// Programs are programs of processes. What was found in one is kept: all ranks of a node run the same file. The zero value is
// ready, and is for one goroutine.
type Programs struct{ names map[named]bool }

// named is a question about a file as it is now.
type named struct {
	device, inode  uint64
	size, modified int64
	function       string
}

// Names tells whether the program of a process names a function in its table of symbols, which a stripped one has not. A function whose
// name ends so counts, too: linkers put PMPI_Abort there for both.
func (p *Programs) Names(pid int, function string) bool {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	var file unix.Stat_t
	if unix.Stat(exe, &file) != nil {
		return false
	}
	is := named{file.Dev, file.Ino, file.Size, file.Mtim.Nano(), function}
	found, kept := p.names[is]
	if !kept {
		found = namedIn(exe, function)
		p.keep(is, found)
	}
	return found
}

func (p *Programs) keep(is named, found bool) {
	if p.names == nil || len(p.names) >= mostPrograms {
		p.names = map[named]bool{}
	}
	p.names[is] = found
}

func namedIn(program, function string) bool {
	f, err := elf.Open(program)
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
