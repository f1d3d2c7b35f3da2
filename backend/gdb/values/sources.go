// Queries about source files and the program.

package values

import "errors"

// Sources answers questions about the source files and the program of a rank. A nil function has no
// answer.
type Sources struct {
	// Read reads lines of a source file, from 1 on.
	Read func(file string, first, last int) ([]string, error)
	// IsNewer reports whether a source was changed after the file with the code at an
	// address was compiled.
	IsNewer func(source string, addr uint64) bool
	// NoSymbols names the program if it has no debugging symbols.
	NoSymbols func() string
}

// errNoSource is the answer where sources are not read.
var errNoSource = errors.New("sources are not read")

func (s Sources) lines(file string, first, last int) ([]string, error) {
	if s.Read == nil {
		return nil, errNoSource
	}
	return s.Read(file, first, last)
}

func (s Sources) newer(source string, addr uint64) bool {
	return s.IsNewer != nil && s.IsNewer(source, addr)
}

func (s Sources) noSymbols() string {
	if s.NoSymbols == nil {
		return ""
	}
	return s.NoSymbols()
}

// Settings are the properties of a rank's gdb that affect how values are shown.
type Settings struct {
	Shared   bool // other ranks are in it, too
	Eager    bool // it reads separate debug files by itself
	Elements bool // a user has set how many elements it shows
	Objects  bool // it shows objects by their dynamic type (set print object)
}
