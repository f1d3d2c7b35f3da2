// Descendants of a process (proc(5), /proc/PID/stat).

package reaper

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"sdm/launch"
)

// Left is a process that has not ended.
type Left struct {
	PID   int
	Name  string
	State string // a letter, as in ps

	parent int
}

// String returns the process in words: "4711 (app, state D)".
func (l Left) String() string { return fmt.Sprintf("%d (%s, state %s)", l.PID, l.Name, l.State) }

// below returns the descendants of a process that have not ended.
func below(top int) (all []Left) {
	for _, pid := range launch.FamilyOf(top).Descendants() {
		if p, ok := readProcess(pid); ok && p.State != "Z" && p.State != "X" {
			all = append(all, p)
		}
	}
	return all
}

// isBelow reports whether a process is a descendant of another one now.
func isBelow(pid, top int) bool {
	for pid > 1 {
		p, ok := readProcess(pid)
		if !ok || p.parent == top {
			return ok
		}
		pid = p.parent
	}
	return false
}

func readProcess(pid int) (Left, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Left{}, false
	}
	p, ok := parseStat(string(text))
	p.PID = pid
	return p, ok
}

// parseStat reads "PID (NAME) STATE PARENT …"; the name may have any characters.
func parseStat(text string) (p Left, ok bool) {
	from, to := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if from < 0 || to < from {
		return p, false
	}
	fields := strings.Fields(text[to+1:])
	if len(fields) < 2 {
		return p, false
	}
	parent, err := strconv.Atoi(fields[1])
	return Left{parent: parent, Name: text[from+1 : to], State: fields[0]}, err == nil
}
