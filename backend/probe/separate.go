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

// readSeparate reads the names of the separate debug file of a module, if such files were asked for: as the
// process sees it, or as this program does. Its name is the build-id (GDB manual, Separate Debug Files).
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

// readLines reads the lines of the file, or where that has none, of the separate one. Without them there are
// still the symbols.
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

// unmap ends the use of the files.
func (s *shared) unmap() {
	for _, b := range [][]byte{s.file, s.separate} {
		if b != nil {
			hold.Unmap(b)
		}
	}
}
