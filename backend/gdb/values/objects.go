// The object files of a process, and which of them belong to the user.

package values

import (
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/inferior"
	"sdm/backend/mi"
)

// objects are the program of a rank and its shared libraries.
type objects struct {
	program   string // its path
	libraries []loadedLibrary
}

// loadedLibrary is a library and its address range.
type loadedLibrary struct {
	name string // as the rank sees it
	inferior.Span
}

// objectsOf parses the answer to -file-list-shared-libraries.
func objectsOf(program string, result mi.Tuple) objects {
	o := objects{program: program}
	for _, f := range result.Path("shared-libraries").Fields {
		l := f.Value.Fields
		for _, r := range l.Path("ranges").Fields {
			o.libraries = append(o.libraries, loadedLibrary{
				name: strings.Clone(inferior.AsSeen(l.Str("target-name"))),
				Span: inferior.Span{First: gdbtext.Address(r.Value.Fields.Str("from")), End: gdbtext.Address(r.Value.Fields.Str("to"))},
			})
		}
	}
	return o
}

// of returns the library of a frame, "" for the program and for code in no file. gdb
// names the library of a frame only if it has no lines for it.
func (o objects) of(f Frame) string {
	if f.library != "" {
		return inferior.AsSeen(f.library)
	}
	for _, l := range o.libraries {
		if l.Holds(gdbtext.Address(f.Addr)) {
			return l.name
		}
	}
	return ""
}

// paths returns the names of the files.
func (o objects) paths() backend.Objects {
	p := backend.Objects{Program: o.program}
	for _, l := range o.libraries {
		p.Libraries = append(p.Libraries, l.name)
	}
	return p
}
