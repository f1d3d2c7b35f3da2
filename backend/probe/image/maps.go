// The mappings of a process.

package image

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unique"
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

// ParseMaps returns the mappings in the text of /proc/PID/maps, ascending. Lines that cannot be parsed are
// left out.
func ParseMaps(text string) []Mapping {
	all := make([]Mapping, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		if m, ok := parseMapping(strings.TrimSuffix(line, "\n")); ok {
			if n := len(all) - 1; n >= 0 && all[n].File == m.File && all[n].Path == m.Path {
				m.File, m.Path = all[n].File, all[n].Path
			} else { // many processes have equal ones, and the text is not to be kept
				m.File, m.Path = unique.Make(m.File).Value(), unique.Make(m.Path).Value()
			}
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b Mapping) int { return cmp.Compare(a.Start, b.Start) })
	return all
}

func parseMapping(line string) (m Mapping, ok bool) {
	place, line, _ := strings.Cut(line, " ")
	rights, line, _ := strings.Cut(line, " ")
	offset, line, _ := strings.Cut(line, " ")
	device, rest, _ := strings.Cut(line, " ")
	inode, path, _ := strings.Cut(rest, " ")
	if inode == "" {
		return m, false
	}
	first, end, _ := strings.Cut(place, "-")
	var err [3]error
	m.Start, err[0] = strconv.ParseUint(first, 16, 64)
	m.End, err[1] = strconv.ParseUint(end, 16, 64)
	m.Offset, err[2] = strconv.ParseUint(offset, 16, 64)
	m.Executable = strings.Contains(rights, "x")
	m.Writable = strings.Contains(rights, "w")
	if inode != "0" {
		m.File = line[:len(device)+1+len(inode)]
	}
	m.Path = strings.TrimSpace(path)
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
