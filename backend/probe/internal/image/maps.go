// The mappings of a process.

package image

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"
)

// Mapping is a line of /proc/PID/maps (proc(5)).
type Mapping struct {
	Start, End uint64
	Offset     uint64 // in the file
	Executable bool
	Writable   bool
	File       string // device and inode; "": no file
	Path       string // or a name such as [vdso]
}

// Names are the files and paths of mappings: many processes have equal ones, and each is kept once. One goroutine
// uses them at a time.
type Names map[string]string

// of returns the name with these bytes.
func (n Names) of(b []byte) string {
	name, known := n[string(b)]
	if !known {
		name = string(b)
		n[name] = name
	}
	return name
}

// ParseMaps returns the mappings in the text of /proc/PID/maps, ascending. Lines that cannot be parsed are
// left out.
func ParseMaps(text []byte, names Names) []Mapping {
	all := make([]Mapping, 0, bytes.Count(text, []byte{'\n'}))
	for line := range bytes.Lines(text) {
		if m, ok := parseMapping(bytes.TrimSuffix(line, []byte{'\n'}), names); ok {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b Mapping) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

func parseMapping(line []byte, names Names) (m Mapping, ok bool) {
	space := []byte{' '}
	place, line, _ := bytes.Cut(line, space)
	rights, line, _ := bytes.Cut(line, space)
	offset, line, _ := bytes.Cut(line, space)
	device, rest, _ := bytes.Cut(line, space)
	inode, path, _ := bytes.Cut(rest, space)
	if len(inode) == 0 {
		return m, false
	}
	first, end, _ := bytes.Cut(place, []byte{'-'})
	var err [3]error
	m.Start, err[0] = strconv.ParseUint(string(first), 16, 64)
	m.End, err[1] = strconv.ParseUint(string(end), 16, 64)
	m.Offset, err[2] = strconv.ParseUint(string(offset), 16, 64)
	m.Executable = bytes.IndexByte(rights, 'x') >= 0
	m.Writable = bytes.IndexByte(rights, 'w') >= 0
	if string(inode) != "0" {
		m.File = names.of(line[:len(device)+1+len(inode)])
	}
	m.Path = names.of(bytes.TrimSpace(path))
	return m, err == [3]error{} && m.Start < m.End
}

// At returns the mapping of an address in ascending mappings; nil: there is none.
func At(maps []Mapping, addr uint64) *Mapping {
	i := sort.Search(len(maps), func(i int) bool { return maps[i].End > addr })
	if i == len(maps) || addr < maps[i].Start {
		return nil
	}
	return &maps[i]
}
