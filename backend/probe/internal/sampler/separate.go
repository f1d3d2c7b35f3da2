// Separate debug files.

package sampler

import (
	"fmt"
	"path/filepath"
	"strings"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
)

// readSeparate reads the symbols of the separate debug file of a module: the file that the process sees, or else the
// one that this program sees. One beside the module is always read, one of a distribution if such files are to be read.
// Its name is in the module, or is the build-id (GDB manual, Separate Debug Files).
func (s *shared) readSeparate(m *image.Module, pid int) {
	if s.symbols == nil {
		return
	}
	var paths []string
	link := image.ReadDebugLink(s.file)
	if link.Name != "" && strings.HasPrefix(m.Path, "/") {
		dir := filepath.Dir(m.Path)
		paths = append(paths, filepath.Join(dir, link.Name), filepath.Join(dir, ".debug", link.Name))
	}
	if s.debugFiles != "" && len(m.BuildID) >= 4 {
		paths = append(paths, filepath.Join(s.debugFiles, ".build-id", m.BuildID[:2], m.BuildID[2:]+".debug"))
	}
	for _, path := range paths {
		seen := fmt.Sprintf("/proc/%d/root%s", pid, path)
		if s.readSeparateFile(seen, m.BuildID, link) || s.readSeparateFile(path, m.BuildID, link) {
			return
		}
	}
}

// readSeparateFile reads the symbols of a separate debug file. It returns whether the file belongs to the image.
func (s *shared) readSeparateFile(path, id string, link image.DebugLink) bool {
	b, err := hold.MapFile(path)
	if err != nil {
		return false
	}
	more, err := image.ReadSeparate(b, id, link)
	if err != nil {
		hold.Unmap(b)
		return false
	}
	s.symbols.Join(more)
	s.separate = b
	return true
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
