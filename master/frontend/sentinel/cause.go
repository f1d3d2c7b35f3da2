// Why a job has ended before its time.

package sentinel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"syscall"

	"sdm/master/hangfile"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// End is what is known about the end of a job besides the ends of its ranks.
type End struct {
	// Status is the exit status of the starter, as a shell gives it: 128 and the number of the signal; -1: not known.
	Status int
	// Asked: the user or the batch system has sent the job a signal.
	Asked bool
	// Tail is the end of the job's output.
	Tail string
}

// crashes are the signals by which a program ends because of an error.
var crashes = map[string]syscall.Signal{
	"SIGSEGV": syscall.SIGSEGV, "SIGBUS": syscall.SIGBUS, "SIGFPE": syscall.SIGFPE, "SIGILL": syscall.SIGILL, "SIGABRT": syscall.SIGABRT,
	"SIGTRAP": syscall.SIGTRAP, "SIGSYS": syscall.SIGSYS, "SIGXCPU": syscall.SIGXCPU, "SIGXFSZ": syscall.SIGXFSZ,
}

// abortMessage matches what Open MPI (ompi/errhandler, help-mpi-api.txt: mpi-abort) and MPICH (src/mpi/init,
// MPI_Abort) say of a rank that calls MPI_Abort.
const abortMessage = `(?:MPI_ABORT was invoked on rank |application called MPI_Abort\([^)\n]*\) - process )(\d+)`

// CauseOf returns why a job has ended before its time. ok is false if it has ended by itself, whatever its exit
// status is, or because it was told to.
func CauseOf(ends []Ending, all rank.Set, e End) (reason hangfile.Reason, ok bool) {
	if e.Status == 0 || e.Asked {
		return hangfile.Reason{}, false
	}
	for _, judge := range []func([]Ending, rank.Set, End) (hangfile.Reason, bool){crashed, aborted, fatal, killed, failed,
		byStatus} {
		if reason, ok := judge(ends, all, e); ok {
			return reason, true
		}
	}
	return hangfile.Reason{}, false
}

// crashed looks for ranks that were ended by a signal because of an error.
func crashed(ends []Ending, _ rank.Set, _ End) (hangfile.Reason, bool) {
	by := map[string]rank.Set{}
	var order []string // signals, the one of the first end first
	var all rank.Set
	for i := range ends {
		x := &ends[i].Exit
		if crashes[x.Signal] == 0 {
			continue
		}
		text := signalText(x)
		if by[text].IsEmpty() {
			order = append(order, text)
		}
		by[text], all = by[text].Union(ends[i].Ranks), all.Union(ends[i].Ranks)
	}
	if all.IsEmpty() {
		return hangfile.Reason{}, false
	}
	said := were(by[order[0]]) + " ended by " + order[0]
	for _, text := range order[1:] {
		said += ", and " + named(by[text]) + " by " + text
	}
	return hangfile.Reason{Kind: hangfile.Crash, Ranks: all, Text: said}, true
}

func signalText(x *protocol.Exit) string {
	if x.Meaning == "" {
		return x.Signal
	}
	return x.Signal + " (" + x.Meaning + ")"
}

// aborted looks for the message of MPI_Abort.
func aborted(ends []Ending, all rank.Set, e End) (hangfile.Reason, bool) {
	var ranks rank.Set
	for _, m := range regexp.MustCompile(abortMessage).FindAllStringSubmatch(e.Tail, -1) {
		if r, err := strconv.Atoi(m[1]); err == nil && r <= int(rank.MaxID) {
			ranks = ranks.Union(rank.Of(rank.ID(r)))
		}
	}
	if !all.IsEmpty() { // else no rank was watched
		ranks = ranks.Intersect(all)
	}
	if ranks.IsEmpty() {
		return hangfile.Reason{}, false
	}
	return hangfile.Reason{Kind: hangfile.Abort, Ranks: ranks, Text: have(ranks) + " called MPI_Abort" + e.statusText()}, true
}

// killed looks for ranks that were killed while the others ran. Starters end ranks by SIGTERM and SIGKILL, so only
// the first end counts, and only if the starter's exit status tells of it: as a shell gives it, or as the number
// of the signal (MPICH). The starter of MPICH kills all ranks, also the one that has aborted the job.
func killed(ends []Ending, _ rank.Set, e End) (hangfile.Reason, bool) {
	if len(ends) == 0 || ends[0].Exit.Signal != "SIGKILL" {
		return hangfile.Reason{}, false
	}
	if e.Status < 0 || e.Status == int(syscall.SIGKILL) || e.Status == 128+int(syscall.SIGKILL) {
		text := were(ends[0].Ranks) + " ended by SIGKILL, which the kernel sends when memory is short"
		return hangfile.Reason{Kind: hangfile.Crash, Ranks: ends[0].Ranks, Text: text}, true
	}
	if slices.ContainsFunc(ends, func(x Ending) bool { return x.Exit.Signal != "SIGKILL" }) {
		return hangfile.Reason{}, false
	}
	text := "a rank has aborted the job, by MPI_Abort or MPI's error handler: the starter has killed all ranks" + e.statusText()
	return hangfile.Reason{Kind: hangfile.Abort, Text: text}, true
}

// failed looks for ranks that have ended with an exit code, after which the others were ended by signals. If the
// ends were noticed in another order, as on a busy host, the code must be the exit status of the starter.
func failed(ends []Ending, _ rank.Set, e End) (hangfile.Reason, bool) {
	first := slices.IndexFunc(ends, func(x Ending) bool { return x.Exit.Signal != "" })
	if first < 0 {
		return hangfile.Reason{}, false
	}
	if ranks, code := withCode(ends[:first], 0); !ranks.IsEmpty() {
		text := fmt.Sprintf("%s ended with exit code %d, by MPI_Abort or otherwise, and the starter has ended the others", have(ranks), code)
		return hangfile.Reason{Kind: hangfile.Abort, Ranks: ranks, Text: text}, true
	}
	ranks, code := withCode(ends, e.Status)
	if ranks.IsEmpty() {
		return hangfile.Reason{}, false
	}
	text := fmt.Sprintf("%s ended with exit code %d, which is that of the starter, and %s by %s", have(ranks), code,
		named(ends[first].Ranks), ends[first].Exit.Signal)
	return hangfile.Reason{Kind: hangfile.Abort, Ranks: ranks, Text: text}, true
}

// withCode returns the ranks that have ended with an exit code; 0: with any but 0. Of several, the first counts.
func withCode(ends []Ending, code int) (ranks rank.Set, found int) {
	for _, x := range ends {
		if x.Exit.Signal == "" && x.Exit.Code != 0 && !x.Exit.Unknown && (code == 0 || code == x.Exit.Code) {
			ranks, code = ranks.Union(x.Ranks), x.Exit.Code
		}
	}
	return ranks, code
}

// byStatus looks at the status of the starter if it is not known how the ranks have ended.
func byStatus(ends []Ending, all rank.Set, e End) (hangfile.Reason, bool) {
	signal := ""
	for name, number := range crashes {
		if e.Status == 128+int(number) {
			signal = name
		}
	}
	if e.Status == 128+int(syscall.SIGKILL) {
		signal = "SIGKILL"
	}
	if signal == "" || slices.ContainsFunc(ends, func(x Ending) bool { return !x.Exit.Unknown }) {
		return hangfile.Reason{}, false
	}
	r := hangfile.Reason{Kind: hangfile.Crash, Text: fmt.Sprintf("the starter's exit status %d tells of %s", e.Status, signal)}
	if len(ends) > 0 && !ends[0].Ranks.Equal(all) {
		r.Ranks = ends[0].Ranks
		r.Text += fmt.Sprintf("; %s ended first", have(r.Ranks))
	}
	return r, true
}

// were returns a set as the subject of a sentence in the passive voice: "rank 2 was".
func were(ranks rank.Set) string { return subject(ranks, "was", "were") }

// have returns a set as the subject of a sentence: "rank 2 has".
func have(ranks rank.Set) string { return subject(ranks, "has", "have") }

func subject(ranks rank.Set, one, several string) string {
	if ranks.Len() == 1 {
		return named(ranks) + " " + one
	}
	return named(ranks) + " " + several
}

// named returns a set in words: "rank 2", "ranks 2-3".
func named(ranks rank.Set) string {
	if ranks.Len() == 1 {
		return "rank " + ranks.String()
	}
	return "ranks " + ranks.String()
}
