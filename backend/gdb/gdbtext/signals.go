// gdb's table of signals, and the words of the command handle.

package gdbtext

import (
	"fmt"
	"sdm/protocol"
	"slices"
	"strconv"
	"strings"
)

// SignalsIn parses gdb's table:
//
//	Signal        Stop\tPrint\tPass to program\tDescription
//	SIGUSR1       No\tNo\tYes\t\tUser defined signal 1
func SignalsIn(text string) []protocol.SignalInfo {
	list := []protocol.SignalInfo{}
	for line := range strings.Lines(text) {
		cells := strings.FieldsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r == '\t' })
		if len(cells) < 3 {
			continue
		}
		first := strings.Fields(cells[0])
		if len(first) != 2 || first[0] == "Signal" {
			continue
		}
		i := protocol.SignalInfo{Signal: first[0], Stop: first[1] == "Yes", Print: cells[1] == "Yes", Pass: cells[2] == "Yes"}
		if len(cells) > 3 {
			i.Meaning = cells[3]
		}
		list = append(list, i)
	}
	return list
}

// ApplyHandling applies one word of handle, which may be abbreviated, to the handling of a signal
// (GDB manual, Signals). It returns false for an unknown word.
func ApplyHandling(h *protocol.SignalInfo, word string) bool {
	if len(word) < 1 {
		return false
	}
	is := func(whole string, least int) bool { return len(word) >= least && strings.HasPrefix(whole, word) }
	switch {
	case is("stop", 1):
		h.Stop, h.Print = true, true
	case is("ignore", 1):
		h.Pass = false
	case is("print", 2):
		h.Print = true
	case is("pass", 2):
		h.Pass = true
	case is("nostop", 3):
		h.Stop = false
	case is("noignore", 3):
		h.Pass = true
	case is("noprint", 4):
		h.Print, h.Stop = false, false
	case is("nopass", 4):
		h.Pass = false
	default:
		return false
	}
	return true
}

// numberedSignals are those that gdb knows by number, from 1 on.
var numberedSignals = []string{
	"SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGEMT", "SIGFPE",
	"SIGKILL", "SIGBUS", "SIGSEGV", "SIGSYS", "SIGPIPE", "SIGALRM", "SIGTERM",
}

// HandleLine returns the command that sets the handling of a signal.
func HandleLine(h protocol.SignalInfo) string {
	no := func(want bool, word string) string {
		if want {
			return word
		}
		return "no" + word
	}
	return fmt.Sprintf("handle %s %s %s %s", h.Signal, no(h.Stop, "stop"), no(h.Print, "print"), no(h.Pass, "pass"))
}

// IsSignal reports whether a text is one word that may name a signal in a line for gdb.
// gdb decides whether it does.
func IsSignal(text string) bool {
	for i := range len(text) {
		if c := text[i] | 0x20; !(c >= 'a' && c <= 'z' || text[i] >= '0' && text[i] <= '9') {
			return false
		}
	}
	return text != ""
}

// MeansSignal reports whether a word of handle ("SIGUSR1", "14", "1-15", "all") means a signal. "all" leaves out the
// signals that debuggers use.
func MeansSignal(word, signal string) bool {
	low, high, ranged := strings.Cut(word, "-")
	if !ranged {
		high = low
	}
	first, err1 := strconv.Atoi(low)
	last, err2 := strconv.Atoi(high)
	n := slices.Index(numberedSignals, signal) + 1
	return signal == word || word == "all" && signal != "SIGTRAP" && signal != "SIGINT" ||
		err1 == nil && err2 == nil && n > 0 && n >= first && n <= last
}
