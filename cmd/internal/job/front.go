// Programs in front of a starter: env A=1 mpirun, timeout 100 mpirun, bash -c 'mpirun …'.

package job

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sdm/protocol"
)

// SplitFront splits a line into known wrappers with their arguments, and the line of the starter
// that they start. front is empty if there are none. isStarter reports whether a line begins with
// a starter, isProgram whether a word is the name of a program.
func SplitFront(argv []string, isStarter func([]string) bool, isProgram func(string) bool) (front, starter []string) {
	for at := 0; at < len(argv) && protocol.WrappingOf(argv[at]) != protocol.WrapsNothing; {
		at = programAfter(argv, at, isStarter, isProgram)
		if at < len(argv) && isStarter(argv[at:]) {
			return argv[:at], argv[at:]
		}
	}
	return nil, argv
}

// programAfter returns the index of the program that the wrapper at an index starts; len(argv): none. A word behind
// an option may be its value (timeout -s kill), unless it is a starter or has a slash.
func programAfter(argv []string, at int, isStarter func([]string) bool, isProgram func(string) bool) int {
	for i := at + 1; i < len(argv); i++ {
		word := argv[i]
		value := strings.HasPrefix(argv[i-1], "-") && !strings.Contains(word, "/")
		switch {
		case strings.HasPrefix(word, "-"), strings.Contains(word, "="):
		case isStarter(argv[i:]), !value && isProgram(word):
			return i
		}
	}
	return len(argv)
}

// IsProgram reports whether a word names a program that can be started.
func IsProgram(word string) bool {
	_, err := exec.LookPath(word)
	return err == nil
}

// IsShellOf reports whether a line runs a shell whose commands (sh -c COMMANDS) name a starter.
func IsShellOf(argv []string, isStarter func(word string) bool) bool {
	if len(argv) < 3 || !protocol.IsShell(argv[0]) {
		return false
	}
	at := slices.IndexFunc(argv, func(word string) bool {
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "c")
	})
	return at > 0 && at+1 < len(argv) && slices.ContainsFunc(strings.FieldsFunc(argv[at+1], isBetweenWords), isStarter)
}

func isBetweenWords(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"", r) }

// CheckFront returns what is wrong with programs in front of a starter.
func (s *Spec) CheckFront() error {
	for _, word := range s.Front {
		if protocol.WrappingOf(word) == protocol.WrapsTraced {
			return fmt.Errorf("%s traces what it starts, and a process has one tracer (leave it out: sdm run -- %s)", word, s.Argv[0])
		}
	}
	name := ""
	if len(s.Front) > 0 {
		name = filepath.Base(s.Front[0])
	}
	switch {
	case name != "" && (s.NeedsPMIx || isFlux(s.Argv)):
		return fmt.Errorf("%s in front of %s: not where it holds the ranks itself (leave it out: sdm run -- %s)", name, s.Argv[0], s.Argv[0])
	case protocol.IsShell(s.Argv[0]) && !s.TriesMPIR:
		return fmt.Errorf("%s: sdm does not see what it starts (give the line of the starter: sdm run -- mpirun -n 4 PROGRAM)", s.Argv[0])
	}
	return nil
}
