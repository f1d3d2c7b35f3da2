// Lines of gdb's command line that make gdb write a file.

package gdbtext

import (
	"strconv"
	"strings"

	"sdm/protocol/pattern"
	"sdm/protocol/rank"
)

// RankFile is a file that each rank has of its own, where its user has named one for all.
type RankFile struct {
	Name    string // of the rank: number in place of %r, or at the end
	Pattern string // of all ranks: with %r
}

// NewRankFile returns the file of a rank.
func NewRankFile(name string, r rank.ID) RankFile {
	if !strings.Contains(name, "%r") {
		name += ".%r"
	}
	return RankFile{Name: strings.ReplaceAll(name, "%r", strconv.Itoa(int(r))), Pattern: name}
}

// writers match lines that write a file: the line up to its name, the name, and the rest (GDB manual, Core File
// Generation; Dump/Restore Files; Save Breakpoints; Logging Output). gdb takes words in any length that is
// unambiguous.
var writers = []*pattern.Pattern{
	pattern.New(`^((?:gc(?:o|or|ore)?|gen[a-z-]*)\s+)(\S.*?)()$`),
	pattern.New(`^((?:dum?p?|app?e?n?d?)\s+(?:(?:b(?:i[a-z]*)?|s(?:r[a-z]*)?|ih[a-z]*|t(?:e[a-z]*)?|ver[a-z]*)\s+)?(?:m(?:e[a-z]*)?|va[a-z]*)\s+)(\S+)(\s.*)$`),
	pattern.New(`^(sa(?:v|ve)?\s+(?:b[a-z]*|t[a-z]*)\s+)(\S.*?)()$`),
	pattern.New(`^(set\s+log[a-z]*\s+fi[a-z]*\s+)(\S.*?)()$`),
	pattern.New(`^(rec[a-z]*\s+s(?:av?e?)?\s+)(\S.*?)()$`),
}

// console matches a line of GDB/MI that executes one of the command line: what precedes it, the line, what follows.
var console = pattern.New(`^(-interpreter-exec\s+(?:--\S+\s+\S+\s+)*"?console"?\s+")([^"\\]*)("\s*)$`)

// FileOfRank returns a line of gdb's command line, or of GDB/MI, with a file of the rank in place of one that is named
// for all ranks; ok is false if it writes no file that is named.
func FileOfRank(line string, r rank.ID) (changed string, f RankFile, ok bool) {
	if m := console.FindStringSubmatch(line); m != nil {
		changed, f, ok = FileOfRank(m[2], r)
		return m[1] + changed + m[3], f, ok
	}
	for _, w := range writers {
		if m := w.FindStringSubmatch(line); m != nil {
			f = NewRankFile(m[2], r)
			return m[1] + f.Name + m[3], f, true
		}
	}
	return line, RankFile{}, false
}

// Shown replaces the file of the rank in gdb's text by the common file of all ranks, so that these
// answer the same.
func (f RankFile) Shown(text string) string {
	if f.Name == "" {
		return text
	}
	return strings.ReplaceAll(text, f.Name, f.Pattern)
}
