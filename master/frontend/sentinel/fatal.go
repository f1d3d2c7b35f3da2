// What libraries of MPI write before they end a job.

package sentinel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sdm/master/hangfile"
	"sdm/protocol/rank"
)

// failure is a call in which MPI's own error handler (MPI_ERRORS_ARE_FATAL) has ended a rank.
type failure struct {
	rank          int // -1: the message does not name it
	function, why string
}

// text returns the call and the reason: "MPI_Recv (MPI_ERR_TRUNCATE: message truncated)".
func (f *failure) text() string {
	if f.why == "" {
		return f.function
	}
	return f.function + " (" + f.why + ")"
}

// fatal looks for the messages of MPI's own error handler.
func fatal(ends []Ending, all rank.Set, e End) (hangfile.Reason, bool) {
	in := map[string]rank.Set{}
	var order []string // texts, the first message's first
	var ranks rank.Set
	for _, f := range append(failuresOfOpenMPI(e.Tail), failuresOfMPICH(e.Tail)...) {
		var one rank.Set
		if f.rank >= 0 && f.rank <= int(rank.MaxID) {
			one = rank.Of(rank.ID(f.rank))
		}
		if f.rank >= 0 && !all.IsEmpty() && !one.Intersects(all) { // of another job
			continue
		}
		if text := f.text(); !slices.Contains(order, text) {
			order = append(order, text)
		}
		in[f.text()], ranks = in[f.text()].Union(one), ranks.Union(one)
	}
	if len(order) == 0 {
		return hangfile.Reason{}, false
	}
	if ranks.IsEmpty() { // the first to end with a code has most probably written the message
		ranks, _ = withCode(ends, 0)
	}
	said := "a rank was"
	if who := in[order[0]]; !who.IsEmpty() {
		said = were(who)
	} else if !ranks.IsEmpty() {
		said = were(ranks)
	}
	said += " ended by MPI's error handler in " + order[0]
	for _, text := range order[1:min(len(order), maxFailures)] {
		if who := in[text]; !who.IsEmpty() {
			said += ", and " + named(who) + " in " + text
		}
	}
	return hangfile.Reason{Kind: hangfile.Abort, Ranks: ranks, Text: said + e.statusText()}, true
}

const (
	// maxFailures bounds the different messages in a reason.
	maxFailures = 4
	// maxFailureText bounds the bytes of a text from the output.
	maxFailureText = 200
)

// plain returns a text from the output for a sentence: without control characters, and not too long.
func plain(s string) string {
	s = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s), "")
	if len(s) > maxFailureText {
		s = strings.ToValidUTF8(s[:maxFailureText], "") + "…"
	}
	return strings.TrimSpace(s)
}

var (
	// reportedBy matches how Open MPI names a process: the number of its job, and of the rank in it.
	reportedBy = regexp.MustCompile(`^reported by process \[\d+,(\d+)\]`)
	// calledOutside matches what Open MPI says of a call before MPI_Init or after MPI_Finalize.
	calledOutside = regexp.MustCompile(`^The (\w+)\(\) function was called (before MPI_INIT|after MPI_FINALIZE) was invoked`)
)

// failuresOfOpenMPI returns the failures that Open MPI has told (ompi/errhandler, help-mpi-errors.txt). Each line of
// a message begins with stars, after a prefix that is the same in all lines of a message and names its process.
// Messages of several processes may be mixed.
func failuresOfOpenMPI(tail string) (all []failure) {
	open := map[string]*failure{} // by prefix, messages whose end has not come
	for line := range strings.Lines(tail) {
		prefix, said, ok := strings.Cut(line, "*** ")
		if !ok {
			continue
		}
		said = plain(said)
		function, begins := strings.CutPrefix(said, "An error occurred in ")
		f := open[prefix]
		switch {
		case begins:
			open[prefix] = &failure{-1, function, ""}
		case calledOutside.MatchString(said):
			m := calledOutside.FindStringSubmatch(said)
			all = append(all, failure{-1, m[1], "it was called " + m[2]})
		case f == nil:
		case reportedBy.MatchString(said):
			if n, err := strconv.Atoi(reportedBy.FindStringSubmatch(said)[1]); err == nil {
				f.rank = n
			}
		case strings.HasPrefix(said, "MPI_ERRORS_"):
			all = append(all, *f)
			delete(open, prefix)
		case f.why == "" && !strings.HasPrefix(said, "on "): // a communicator, a window or a file
			f.why = said
		}
	}
	return all
}

var (
	// fatalError matches the first line of a message of MPICH and its relatives (src/mpi/errhan): the world rank,
	// which is the number after "node", the function, and the class of the error.
	fatalError = regexp.MustCompile(`(?:Abort\(-?\d+\) on node (\d+)[^:\n]*: )?Fatal error in (?:internal_|P?MPI_)(\w+):\s*([^\n]*)`)
	// outsideMPICH matches what MPICH says of a call before MPI_Init or after MPI_Finalize.
	outsideMPICH = regexp.MustCompile(`Attempting to use an MPI routine \((?:internal_|P?MPI_)(\w+)\) (before initializing or after finalizing)`)
	// errorStack matches the lines that follow: a function of MPICH with its line, and what it says.
	errorStack = regexp.MustCompile(`^[^\n]*?[\w)]\(\d*\)\.*: ([^\n]*)\n?`)
)

// failuresOfMPICH returns the failures that MPICH and its relatives have told.
func failuresOfMPICH(tail string) (all []failure) {
	for _, at := range fatalError.FindAllStringSubmatchIndex(tail, -1) {
		f := failure{-1, "MPI_" + tail[at[4]:at[5]], plain(tail[at[6]:at[7]])}
		if at[2] >= 0 {
			if n, err := strconv.Atoi(tail[at[2]:at[3]]); err == nil {
				f.rank = n
			}
		}
		f.why, _ = strings.CutSuffix(f.why, ", error stack:")
		if rest := strings.TrimPrefix(tail[at[1]:], "\n"); f.why == "Other MPI error" { // the innermost function says more
			for m := errorStack.FindStringSubmatchIndex(rest); m != nil; m = errorStack.FindStringSubmatchIndex(rest) {
				f.why, rest = plain(rest[m[2]:m[3]]), rest[m[1]:]
			}
		}
		all = append(all, f)
	}
	for _, m := range outsideMPICH.FindAllStringSubmatch(tail, -1) {
		all = append(all, failure{-1, "MPI_" + m[1], "it was called " + m[2]})
	}
	return all
}

// statusText returns the end of a sentence, with the exit status of the starter if it is known.
func (e *End) statusText() string {
	if e.Status <= 0 {
		return ""
	}
	return fmt.Sprintf(", and the starter's exit status is %d", e.Status)
}
