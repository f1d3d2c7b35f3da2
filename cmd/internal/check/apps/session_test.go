package apps

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// patience is the time limit of a session (--timeout).
	patience = 2 * time.Minute
	// ranks is the number of ranks of each job.
	ranks = "8"
)

// A session is a list of commands. Those that do not begin with "sdm:" are also given to a plain
// gdb that debugs rank 0 of another job, and the answers for that rank must be equal.
type session []string

// moves are the commands after which the session asks for the position of rank 0. The last one ends
// the program.
var moves = regexp.MustCompile(`^(continue|next|step|finish|until|advance|up|down)\b`)

// ours returns the session for sdm. Values of rank 0 are asked separately, since values of other
// ranks may differ.
func (s session) ours() string {
	var b strings.Builder
	for i, line := range s {
		line, alone := strings.CutPrefix(line, "sdm:")
		line = strings.TrimSpace(line)
		if !alone && strings.HasPrefix(line, "print ") {
			line = "[0] " + line
		}
		b.WriteString(line + "\n")
		if !alone && moves.MatchString(line) && i < len(s)-1 {
			b.WriteString("[0] frame\n")
		}
	}
	return b.String()
}

// theirs returns the session for gdb, in which the first "continue" starts the program.
func (s session) theirs() string {
	b := strings.Builder{}
	b.WriteString("set pagination off\nset confirm off\nset breakpoint pending off\nset width 0\n")
	runs := false
	for i, line := range s {
		if strings.HasPrefix(line, "sdm:") {
			continue
		}
		if line == "continue" && !runs {
			line, runs = "run", true
		}
		b.WriteString(line + "\n")
		selects := line == "up" || line == "down" // they show the frame themselves
		if (line == "run" || moves.MatchString(line)) && !selects && i < len(s)-1 {
			b.WriteString("frame\n")
		}
	}
	return b.String()
}

var (
	ourPlace   = regexp.MustCompile(`^\[0\] #(\d+) +(\S.*?) ?\(.*\) (?:at|from) (\S+)$`)
	theirPlace = regexp.MustCompile(`^#(\d+) +(?:0x[0-9a-f]+ in )?(\S.*?) ?\(.*\) (?:at|from) (\S+)$`)
	ourValue   = regexp.MustCompile(`^\[0\] [^#].*? = (.*)$`)
	theirValue = regexp.MustCompile(`^\$\d+ = (.*)$`)
)

// said returns the frames and values in a transcript that belong to rank 0, in order.
func said(transcript string, place, value *regexp.Regexp) []string {
	var all []string
	for line := range strings.Lines(transcript) {
		line = strings.TrimRight(line, "\r\n")
		if at := place.FindStringSubmatch(line); at != nil {
			all = append(all, "frame "+strings.Join(at[1:], " "))
		} else if is := value.FindStringSubmatch(line); is != nil {
			all = append(all, "value "+is[1])
		}
	}
	return all
}

// run runs a command in the directory of the programs and keeps its output in a file.
func run(t *testing.T, transcript string, line ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir, cmd.WaitDelay = bench, 10*time.Second
	out, err := cmd.CombinedOutput()
	path := filepath.Join(bench, transcript+".txt")
	if err := os.WriteFile(path, out, 0o644); err != nil {
		t.Error(err)
	}
	t.Logf("transcript: %s", path)
	if err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(line, " "), err, out)
	}
	if strings.Contains(string(out), "panic") || strings.Contains(string(out), "goroutine ") {
		t.Errorf("a panic:\n%s", out)
	}
	return string(out)
}

// results returns the output of a program that is run without a debugger.
func results(t *testing.T, name string, program ...string) []string {
	t.Helper()
	out := run(t, name+".alone", append([]string{"mpirun.openmpi", "-n", ranks}, program...)...)
	var all []string
	for line := range strings.Lines(out) {
		all = append(all, strings.TrimRight(line, "\r\n"))
	}
	return all
}

// unchanged checks that a transcript contains all results.
func unchanged(t *testing.T, transcript string, results []string) {
	t.Helper()
	lines := strings.Split(transcript, "\n")
	for _, want := range results {
		if !slices.ContainsFunc(lines, func(line string) bool { return alike(line, want) }) {
			t.Errorf("with sdm the program has not written %q", want)
		}
	}
}

// alike reports whether two lines have equal words, and numbers that differ by at most a hundredth,
// since the order in which MPI sums up the parts of the ranks may differ.
func alike(a, b string) bool {
	return slices.EqualFunc(strings.Fields(a), strings.Fields(b), func(x, y string) bool {
		n, bad := strconv.ParseFloat(x, 64)
		m, worse := strconv.ParseFloat(y, 64)
		return x == y || bad == nil && worse == nil && math.Abs(n-m) <= 0.01*math.Abs(m)
	})
}

// debug runs a session on a program, by sdm on all ranks and by gdb on rank 0, and returns sdm's
// transcript. name is part of the names of the transcripts.
func debug(t *testing.T, name string, s session, program ...string) string {
	t.Helper()
	want := results(t, name, program...)
	script := func(kind, text string) string {
		path := filepath.Join(bench, name+kind)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine := run(t, name, append([]string{"sdm", "run", "--timeout", patience.String(), "--wait", "30s", "--echo", "-b",
		"-x", script(".sdm", s.ours()), "--", "mpirun.openmpi", "-n", ranks}, program...)...)
	unchanged(t, mine, want)
	beside := `if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then exec gdb -nx -q -batch -x "$0" --args "$@" </dev/null; else exec "$@" >/dev/null; fi`
	theirs := run(t, name+".gdb", append([]string{"mpirun.openmpi", "-n", ranks, "sh", "-c", beside, script(".gdb", s.theirs())}, program...)...)
	compare(t, said(mine, ourPlace, ourValue), said(theirs, theirPlace, theirValue))
	return mine
}

func compare(t *testing.T, ours, theirs []string) {
	t.Helper()
	if len(theirs) == 0 {
		t.Error("gdb says nothing of rank 0")
	}
	for i := range max(len(ours), len(theirs)) {
		a, b := "nothing", "nothing"
		if i < len(ours) {
			a = ours[i]
		}
		if i < len(theirs) {
			b = theirs[i]
		}
		if a != b {
			t.Errorf("%d. of what is said of rank 0: sdm says %q, gdb %q", i+1, a, b)
			return
		}
	}
}

// has checks that lines of a transcript match the patterns, in this order.
func has(t *testing.T, transcript string, patterns ...string) {
	t.Helper()
	rest := transcript
	for _, p := range patterns {
		at := regexp.MustCompile(`(?m)` + p).FindStringIndex(rest)
		if at == nil {
			t.Errorf("no line is %q", p)
			continue
		}
		rest = rest[at[1]:]
	}
}
