// Package hangfile defines the hang file: what a job was doing when it stalled, crashed or was looked at, in one file
// that can be read where the job is not.
package hangfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sdm/master/session"
	"sdm/master/verdict"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// File is the content of a hang file. Answers and output are events of the session, in the form of docs/protocol.md,
// with ID 0 and without done. Read checks all bounds; Write cuts what is beyond them. The comment of a field becomes
// its row in docs/hang-files.md.
type File struct {
	// Format is always "sdm hang file".
	Format string `json:"format"`
	// Version is the version of the format, "1.0". A reader refuses a higher number before the point; a higher one after
	// it has fields that older readers ignore.
	Version string `json:"version"`
	// When is the time at which the stacks were taken.
	When time.Time `json:"when"`
	// Sdm is the version of sdm that has written the file.
	Sdm string `json:"sdm"`
	// Reason tells why the file was written.
	Reason Reason `json:"reason"`
	// Job tells what was started.
	Job Job `json:"job"`
	// Ranks are the ranks of the job.
	Ranks rank.Set `json:"ranks"`
	// Verdict are the sentences that tell why ranks do not go on, the most important first.
	Verdict []Finding `json:"verdict,omitempty"`
	// Calls are rows for reading: what which ranks do and wait for. The graph itself is "waits" of the answers in stacks.
	Calls []Row `json:"calls,omitempty"`
	// States are the states of all ranks: running, ended and how, lost and why.
	States []State `json:"states,omitempty"`
	// Stacks are the answers to the command "stacks", with the merged trees ("stack") and the wait graph ("waits"). Ranks
	// without stacks are named, with the reason, by events "missing", "lost" and "error".
	Stacks []session.Event `json:"stacks,omitempty"`
	// Values are other commands that were given to the ranks, with their answers.
	Values []Value `json:"values,omitempty"`
	// Hosts are the answers to the command "info hosts": hosts, their ranks, engines, programs and process ids.
	Hosts []session.Event `json:"hosts,omitempty"`
	// Versions are the versions of MPI, gdb, the kernel and others.
	Versions []Version `json:"versions,omitempty"`
	// Output is the end of what the job has written.
	Output Output `json:"output,omitzero"`
}

// Values of Format and Version.
const (
	FormatName    = "sdm hang file"
	FormatVersion = "1.0"
)

// TimeFormat is how texts about a file tell its time.
const TimeFormat = "2006-01-02 15:04:05 -0700"

// Reason is why a file was written.
type Reason struct {
	// Kind is "stall", "crash", "abort" or "asked"; newer versions may have others.
	Kind ReasonKind `json:"kind"`
	// Text says more, in one line: "no progress for 2m0s".
	Text string `json:"text,omitempty"`
	// Ranks are those that crashed or aborted.
	Ranks rank.Set `json:"ranks,omitzero"`
}

// String returns "stall, no progress for 2m0s".
func (r Reason) String() string {
	if r.Text == "" {
		return string(r.Kind)
	}
	return string(r.Kind) + ", " + r.Text
}

// ReasonKind is the kind of a Reason.
type ReasonKind string

// The kinds of reasons.
const (
	Stall ReasonKind = "stall" // no progress
	Crash ReasonKind = "crash" // a rank was ended by a signal, or stands at one
	Abort ReasonKind = "abort" // a rank called MPI_Abort or abort
	Asked ReasonKind = "asked" // a user wanted it
)

// Job is what was started, as far as known.
type Job struct {
	// Command are the words of the command line of the starter or the program; of sdm if a user asked for the file.
	Command []string `json:"command,omitempty"`
	// Launcher is what has started the ranks, as far as known: "mpirun", "srun", "slurm", "flux".
	Launcher string `json:"launcher,omitempty"`
	// ID is the number of the job at its resource manager.
	ID string `json:"id,omitempty"`
	// Host is the host on which sdm ran.
	Host string `json:"host,omitempty"`
	// Cwd is the directory in which sdm ran.
	Cwd string `json:"cwd,omitempty"`
}

// Line returns the command line, with quotes for a shell where they are needed.
func (j Job) Line() string {
	words := make([]string, len(j.Command))
	for i, w := range j.Command {
		words[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Finding is one sentence of the verdict; see verdict.Finding.
type Finding struct {
	// Kind is "deadlock", "mismatch", "cause", "progress" or "none".
	Kind string `json:"kind"`
	// Certain tells that several samples were compared; else it was so at one instant.
	Certain bool `json:"certain"`
	// Ranks are those that wait, and those for which they wait.
	Ranks rank.Set `json:"ranks"`
	// Text is the sentence, without a full stop.
	Text string `json:"text"`
}

// Label returns how sure the finding is; see verdict.Label.
func (f Finding) Label() string { return verdict.Label(f.Kind, f.Certain) }

// String returns the sentence with its label: "certain: deadlock: 0 waits for 1".
func (f Finding) String() string { return f.Label() + ": " + f.Text }

// Row is something that several ranks do.
type Row struct {
	// Ranks are those that do it.
	Ranks rank.Set `json:"ranks"`
	// Text tells what: "MPI_Recv from 1..63 tag 3".
	Text string `json:"text"`
	// For are the ranks for which they wait.
	For rank.Set `json:"for,omitzero"`
}

// State is the state of some ranks.
type State struct {
	// Ranks are those in the state.
	Ranks rank.Set `json:"ranks"`
	session.Status
}

// Value is a command and its answers.
type Value struct {
	// Line is the command as it was typed: "print x".
	Line string `json:"line"`
	// Command is the command of the session: "print".
	Command string `json:"command"`
	// Args are its arguments.
	Args protocol.Args `json:"args,omitzero"`
	// Answers are the events, including events of missing ranks.
	Answers []session.Event `json:"answers,omitempty"`
}

// Version is the version of something that ranks use.
type Version struct {
	// Of is its name: "MPI".
	Of string `json:"of"`
	// Text is the version: "Open MPI 4.1.4".
	Text string `json:"text"`
	// Ranks are those that use it; empty: all.
	Ranks rank.Set `json:"ranks,omitzero"`
}

// Output is the end of what a job has written: of each stream at most TailBytes.
type Output struct {
	// Events are the events with output, in their order.
	Events []session.Event `json:"events,omitempty"`
	// DroppedStdout is the number of bytes of standard output that came before and are not kept.
	DroppedStdout int64 `json:"dropped_stdout,omitempty"`
	// DroppedStderr is the same for standard error.
	DroppedStderr int64 `json:"dropped_stderr,omitempty"`
}

// TailBytes bounds what is kept of each stream.
const TailBytes = 64 << 10

// Dropped says how much of each stream is not kept: "99 bytes of standard error".
func (o Output) Dropped() (texts []string) {
	if o.DroppedStdout > 0 {
		texts = append(texts, fmt.Sprintf("%d bytes of standard output", o.DroppedStdout))
	}
	if o.DroppedStderr > 0 {
		texts = append(texts, fmt.Sprintf("%d bytes of standard error", o.DroppedStderr))
	}
	return texts
}

// New returns a file without answers, for ranks of a job at a time.
func New(when time.Time, sdm string, reason Reason, job Job, ranks rank.Set) *File {
	return &File{Format: FormatName, Version: FormatVersion, When: when, Sdm: sdm, Reason: reason, Job: job, Ranks: ranks}
}

// StatesOf returns the states of all ranks of a table. Ranks that were attached to without a debugger, to read their
// stacks, are watched: they ran on.
func StatesOf(s *session.States) (states []State) {
	for _, g := range s.Groups(s.All()) {
		if g.Status.State == session.Stopped && g.Status.Reason == "attached" && g.Status.Func == "" {
			g.Status = session.Status{State: session.Watched}
		}
		states = append(states, State{g.Ranks, g.Status})
	}
	return states
}

// Answers returns events as they are in a file: without done, and without the number of the request.
func Answers(events []session.Event) (kept []session.Event) {
	for _, e := range events {
		if e.Done == nil {
			e.ID = 0
			kept = append(kept, e)
		}
	}
	return kept
}

// Groups returns what events tell of the ranks.
func Groups(events []session.Event) []protocol.Group {
	groups := make([]protocol.Group, len(events))
	for i, e := range events {
		groups[i] = e.Group
	}
	return groups
}

// Ended returns the ranks that had ended, or were lost.
func (f *File) Ended() (ended rank.Set) {
	for _, s := range f.States {
		if s.State.Ended() {
			ended = ended.Union(s.Ranks)
		}
	}
	return ended
}

// Graph returns what the ranks wait for, and how many samples were compared. It is nil if nothing is known.
func (f *File) Graph() (g *wait.Graph, samples int) {
	return verdict.GraphOf(Groups(f.Stacks), f.Ended())
}

// maxSaid bounds Verdict and Calls. The graph has all of it.
const maxSaid = 1000

// Judge sets Verdict and Calls from Stacks and States, and adds the versions of MPI and gdb to Versions. Of many calls,
// those that differ in numbers only are one.
func (f *File) Judge() {
	f.addVersions(slices.Concat(f.Stacks, f.Hosts))
	g, samples := f.Graph()
	f.Verdict, f.Calls = nil, nil
	if g.IsEmpty() {
		return
	}
	found := verdict.Sentences(g, samples)
	for _, x := range found[:min(len(found), maxSaid)] {
		f.Verdict = append(f.Verdict, Finding(x))
	}
	f.Calls = fewRows(RowsOf(g), maxSaid)
	if more := len(found) - maxSaid; more > 0 {
		rest := Finding{Kind: verdict.NoVerdict.String(), Text: fmt.Sprintf("and %d more", more)}
		for _, x := range found[maxSaid:] {
			rest.Ranks = rest.Ranks.Union(x.Ranks)
		}
		f.Verdict = append(f.Verdict, rest)
	}
}

// addVersions adds the versions of MPI and gdb that answers to stacks and info hosts tell.
func (f *File) addVersions(answers []session.Event) {
	ranks := map[Version]rank.Set{}
	add := func(of, text string, some rank.Set) {
		v := Version{Of: of, Text: text}
		ranks[v] = ranks[v].Union(some)
	}
	for _, g := range Groups(answers) {
		versions, _ := g.Column(protocol.MPIVersion)
		for _, v := range versions.Values() {
			add("MPI", v.Value, v.Ranks)
		}
		var h protocol.HostInfo
		if version, is := "", json.Unmarshal(g.Body, &h) == nil; is {
			if version, is = strings.CutPrefix(h.Engine, "gdb "); is {
				add("gdb", version, g.Ranks)
			}
		}
	}
	order := func(a, b Version) int { return cmp.Or(strings.Compare(a.Of, b.Of), strings.Compare(a.Text, b.Text)) }
	for _, v := range slices.SortedFunc(maps.Keys(ranks), order) {
		if some := ranks[v]; !some.Equal(f.Ranks) { // of all it is not said
			v.Ranks = some
		}
		if !slices.ContainsFunc(f.Versions, func(x Version) bool { return x.Of == v.Of && x.Text == v.Text }) {
			f.Versions = append(f.Versions, v)
		}
	}
}

// RowsOf returns what the ranks of a graph do and wait for.
func RowsOf(g *wait.Graph) (rows []Row) {
	for _, r := range verdict.Rows(g) {
		rows = append(rows, Row(r))
	}
	return rows
}

// fewRows joins rows if they are more than some, and returns so many at most; one more tells which ranks the others
// are about.
func fewRows(rows []Row, some int) (few []Row) {
	alike := Alike(rows, some)
	for _, r := range alike[:min(len(alike), some)] {
		r.Text = r.String()
		few = append(few, r.Row)
	}
	if more := len(alike) - some; more > 0 {
		rest := Row{Text: fmt.Sprintf("and %d more", more)}
		for _, r := range alike[some:] {
			rest.Ranks = rest.Ranks.Union(r.Ranks)
		}
		few = append(few, rest)
	}
	return few
}
