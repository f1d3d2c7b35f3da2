// Package symbol reads names as compilers and distributions write them: it demangles names of C++
// and Rust, and unpacks symbol tables. It is pure.
package symbol

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ianlancetaylor/demangle"
	"github.com/ulikunitz/xz"
)

// maxName is the binary logarithm of the greatest length of a demangled name, in bytes: names of templates
// can have any length.
const maxName = 12

// Readable returns the name of a function as in the source, without the types of its parameters.
// A name that is not mangled is returned as it is.
func Readable(name string) string {
	return demangle.Filter(name, demangle.NoParams, demangle.MaxLength(maxName))
}

const (
	maxPacked   = 16 << 20 // bytes of .gnu_debugdata; real ones have some 100 KB
	maxUnpacked = 64 << 20
	maxWindow   = 28 // encoded dictionary size of 64 MiB, which xz -9 uses
)

// Unpack returns the ELF file in a section .gnu_debugdata. It has symbols that the stripped file itself does
// not have (GDB manual, MiniDebugInfo).
func Unpack(section []byte) ([]byte, error) { return unpack(section, maxUnpacked) }

func unpack(section []byte, most int) (b []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			b, err = nil, fmt.Errorf("damaged .gnu_debugdata: %v", r)
		}
	}()
	if len(section) > maxPacked {
		return nil, fmt.Errorf(".gnu_debugdata of more than %d bytes", maxPacked)
	}
	if !modest(section) {
		return nil, errors.New("the dictionary of .gnu_debugdata is too large, or there are filters")
	}
	r, err := xz.ReaderConfig{DictCap: 1 << 16}.NewReader(bytes.NewReader(section))
	if err != nil {
		return nil, err
	}
	b, err = io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(b) > most {
		return nil, errors.New(".gnu_debugdata is too large when it is unpacked")
	}
	return b, err
}

// modest reports whether the first block has a dictionary of at most maxWindow and no filter but LZMA2
// (The .xz File Format, Block Header). The xz reader allocates the dictionary before it reads any data.
func modest(b []byte) bool {
	const streamHeader = 12
	if len(b) < streamHeader+2 {
		return false
	}
	flags, rest := b[streamHeader+1], b[streamHeader+2:]
	for _, present := range []byte{0x40, 0x80} { // optional sizes, which have variable length
		for more := flags&present != 0; more; {
			if len(rest) == 0 {
				return false
			}
			more, rest = rest[0]&0x80 != 0, rest[1:]
		}
	}
	return flags&0x03 == 0 && len(rest) >= 3 && rest[0] == 0x21 && rest[1] == 1 && rest[2] <= maxWindow
}
