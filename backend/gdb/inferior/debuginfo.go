// Debug information of a process's files.

package inferior

import (
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// globalDebug is where distributions put separate debug files.
const globalDebug = "/usr/lib/debug"

// WithoutDebugInfo returns the program of a process if it has neither line numbers nor types,
// neither in itself nor in a separate file that gdb finds (GDB manual, Separate Debug Files). With
// global it also looks where distributions have such files. It returns "" if that cannot be
// decided.
func WithoutDebugInfo(pid int, global bool) string {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	program, err := os.Readlink(exe)
	if err != nil {
		return ""
	}
	f, err := elf.Open(exe)
	if err != nil {
		return ""
	}
	defer f.Close()
	if hasDebugInfo(f) || hasSeparate(f, fmt.Sprintf("/proc/%d/root", pid), program, global) {
		return ""
	}
	return strings.TrimSuffix(program, " (deleted)")
}

func hasDebugInfo(f *elf.File) bool {
	for _, s := range f.Sections {
		switch s.Name {
		case ".debug_info", ".zdebug_info", ".debug_line", ".stab":
			return true
		}
	}
	return false
}

// hasSeparate looks for the separate debug file: the file in .gnu_debuglink in the program's
// directory and in .debug below that, or, with global, in globalDebug by that name or by build ID.
func hasSeparate(f *elf.File, root, program string, global bool) bool {
	dir := filepath.Dir(program)
	var files []string
	if name := link(f); name != "" {
		files = append(files, filepath.Join(dir, name), filepath.Join(dir, ".debug", name))
		if global {
			files = append(files, filepath.Join(globalDebug, dir, name))
		}
	}
	if id := buildID(f); len(id) > 2 && global {
		files = append(files, filepath.Join(globalDebug, ".build-id", id[:2], id[2:]+".debug"))
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(root, file)); err == nil && file != program {
			return true
		}
	}
	return false
}

// link returns the name in .gnu_debuglink.
func link(f *elf.File) string {
	b := sectionOf(f, ".gnu_debuglink")
	name, _, _ := strings.Cut(string(b), "\x00")
	return name
}

// buildID returns the build ID in .note.gnu.build-id, in hexadecimal digits. It follows the header
// of the note and its name, "GNU".
func buildID(f *elf.File) string {
	if b := sectionOf(f, ".note.gnu.build-id"); len(b) > 16 {
		return hex.EncodeToString(b[16:])
	}
	return ""
}

// maxSection bounds the sections that are read, in bytes.
const maxSection = 4 << 10

func sectionOf(f *elf.File, name string) []byte {
	s := f.Section(name)
	if s == nil || s.Size > maxSection {
		return nil
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}
