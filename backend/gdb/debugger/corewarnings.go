// gdb's warnings about a core file, which it repeats.

package debugger

import (
	"fmt"
	"path"
	"sdm/protocol/pattern"
	"slices"
	"strings"
)

// coreWarnings are the warnings about a core file that have been reported.
type coreWarnings []string

// sections matches sections of registers in a core file, one for each thread:
// "`.reg-xstate/12942'".
var sections = pattern.New(`(\.reg[a-z0-9-]*/)\d+`)

// withoutProcess removes the thread numbers, so that all ranks give the same text.
func withoutProcess(line string) string { return sections.ReplaceAllString(line, "${1}PID") }

// repeats reports whether a line is a warning about the core file, which gdb repeats
// when it reads registers.
func (w coreWarnings) repeats(line string) bool {
	return slices.Contains(w, withoutProcess(strings.TrimSpace(line)))
}

// withoutRepeats removes such lines.
func (w coreWarnings) withoutRepeats(text string) string {
	if len(w) == 0 || text == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !w.repeats(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// maxWarnings bounds the warnings about one core file.
const maxWarnings = 5

// warnings returns the first warnings in a text, each once: about a program that has not written
// the core file, missing libraries, a truncated file.
func warnings(text string) []string {
	var all []string
	text, directories := unmapped(text)
	if len(directories) > 0 {
		all = append(all, "warning: Can't open files that were mapped, in "+strings.Join(directories, ", "))
	}
	for line := range strings.Lines(text) {
		if line = withoutProcess(strings.TrimSpace(line)); strings.HasPrefix(line, "warning: ") && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	if more := len(all) - maxWarnings; more > 0 {
		all = append(all[:maxWarnings], fmt.Sprintf("warning: %d more", more))
	}
	return all
}

// lostMapping matches the warning about a mapped file that does not exist any more.
// Files of shared memory have different names in each rank.
var lostMapping = pattern.New(`(?m)^warning: Can't open file (.*) during file-backed mapping note processing\n*`)

// unmapped removes such warnings, and returns the directories of the files.
func unmapped(text string) (rest string, directories []string) {
	for _, m := range lostMapping.FindAllStringSubmatch(text, -1) {
		directories = append(directories, path.Dir(m[1]))
	}
	slices.Sort(directories)
	return lostMapping.ReplaceAllString(text, ""), slices.Compact(directories)
}
