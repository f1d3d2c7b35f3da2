// Separate debug files.

package probe

import (
	"fmt"
	"path/filepath"

	"sdm/backend/probe/hold"
	"sdm/backend/probe/image"
)

// DebugFiles is where distributions install separate debug files.
const DebugFiles = "/usr/lib/debug"

// readSeparate reads the symbols of the separate debug file of a module, if such files are to be read: the
// file that the process sees, or else the one that this program sees. The build-id is its name (GDB manual,
// Separate Debug Files).
func (s *shared) readSeparate(m *image.Module, pid int) {
	if s.debugFiles == "" || s.symbols == nil || len(m.BuildID) < 4 {
		return
	}
	path := filepath.Join(s.debugFiles, ".build-id", m.BuildID[:2], m.BuildID[2:]+".debug")
	for _, path := range []string{fmt.Sprintf("/proc/%d/root%s", pid, path), path} {
		b, err := hold.MapFile(path)
		if err != nil {
			continue
		}
		more, err := image.ReadSeparate(b, m.BuildID)
		if err != nil {
			hold.Unmap(b)
			continue
		}
		s.symbols.Join(more)
		s.separate = b
		return
	}
}

// readLines reads the lines of the file, or of the separate debug file if the file has none. An error means
// that there are no lines: then only symbols are shown.
func (s *shared) readLines() {
	if s.lined {
		return
	}
	s.lined = true
	for _, b := range [][]byte{s.file, s.separate} {
		if b != nil && s.lines == nil {
			s.lines, _ = image.ReadLines(b)
		}
	}
}

// unmap unmaps the files. Symbols and lines must not be used afterwards.
func (s *shared) unmap() {
	for _, b := range [][]byte{s.file, s.separate} {
		if b != nil {
			hold.Unmap(b)
		}
	}
}
