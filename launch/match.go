// Processes that are found by their command lines, where no starter knows them.

package launch

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Match describes command lines: "python train.py". Its first word is the program, and the others
// are among the arguments, in this order, whatever is between them. A word is an argument that is
// equal or, without directories, has the same name; * ? and [...] are as in the shell. A program
// matches also without the version at its end: python is python3.11.
//
// Therefore neither a shell nor a starter whose arguments contain the command line matches.
type Match struct{ words []string }

// maxMatch bounds the text of a Match, in bytes.
const maxMatch = 4096

// ParseMatch reads a Match.
func ParseMatch(text string) (Match, error) {
	m := Match{strings.Fields(text)}
	switch {
	case len(m.words) == 0:
		return m, errors.New("give the program and perhaps arguments, as in 'python train.py'")
	case len(text) > maxMatch:
		return m, fmt.Errorf("%d bytes are too many", len(text))
	}
	for _, w := range m.words {
		if _, err := path.Match(w, ""); err != nil {
			return m, fmt.Errorf("%q is no pattern (a [ without its ]; \\[ stands for itself)", w)
		}
	}
	return m, nil
}

// matches reports whether a command line is described.
func (m Match) matches(argv []string) bool {
	if len(argv) == 0 || len(m.words) == 0 {
		return false
	}
	if w := m.words[0]; !like(w, argv[0]) && !like(w, strings.TrimRight(argv[0], "0123456789.-")) {
		return false
	}
	rest := argv[1:]
	for _, w := range m.words[1:] {
		i := slices.IndexFunc(rest, func(arg string) bool { return like(w, arg) })
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

// like reports whether a word describes an argument.
func like(word, arg string) bool {
	if word == arg {
		return true
	}
	whole, _ := path.Match(word, arg) // checked by ParseMatch
	name, _ := path.Match(word, path.Base(arg))
	return arg != "" && (whole || name)
}

// Processes returns the processes of our user on this host that match, numbered from 0 in the order
// of their ids. This process, what it was started by, and other parts of this sdm are left out.
func (m Match) Processes(host string) (table protocol.Proctable, err error) {
	entries, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, dir := range entries {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && ownedByUs(dir) && m.matches(commandLine(pid)) && !isAbove(pid, os.Getpid(), parentOf) &&
			RefuseOurselves(pid) == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	for i, pid := range pids {
		table = append(table, protocol.Process{Rank: rank.ID(i), Host: host, PID: pid})
	}
	if len(table) == 0 {
		return nil, fmt.Errorf("no process of user %d matches %q", os.Geteuid(), strings.Join(m.words, " "))
	}
	return table, nil
}

func ownedByUs(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
