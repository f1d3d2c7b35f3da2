package hangfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/userfile"
	"sdm/protocol/wait"
)

func event(kind protocol.Kind, ranks rank.Set, body string) session.Event {
	return session.NewEvent(protocol.Group{Kind: kind, Ranks: ranks, Body: []byte(body)})
}

// sample returns a file with everything: rank 1 does not come to a barrier, rank 3 has crashed, rank 4 is silent.
func sample() *File {
	when := time.Date(2026, 11, 24, 9, 30, 0, 5000, time.UTC)
	f := New(when, "1.2", Reason{Kind: Stall, Text: "no progress for 2m0s", Ranks: rank.Of(3)},
		Job{Command: []string{"mpirun", "-n", "5", "./a b", "<x>"}, Launcher: "mpir", ID: "77", Host: "login", Cwd: "/tmp"}, rank.Range(0, 4))
	code := 3
	f.States = []State{
		{rank.Of(0, 1, 2, 4), session.Status{State: session.Watched}},
		{rank.Of(3), session.Status{State: session.Exited, Code: &code}},
	}
	in := wait.Of(rank.Of(0, 2), wait.Rank{
		Doing: wait.Doing{State: wait.Running, Frames: "relax w.c:9"},
		Comms: []wait.Comm{{Key: "w", Name: "MPI_COMM_WORLD", Members: f.Ranks}},
		Calls: []wait.Call{{Function: "MPI_Barrier", Comm: "w", Root: wait.No, Bytes: wait.No}},
	})
	in = in.Merge(wait.Of(rank.Of(1), wait.Rank{Doing: wait.Doing{State: wait.Sleeping, Frames: "nap w.c:4"}}))
	reply := event(protocol.KindResult, rank.Range(0, 2), `{"samples":4,"every":"150ms"}`)
	reply.Command = "stacks"
	reply.Group.Stack = stack.Of(rank.Of(0, 2), []stack.Frame{{Func: "main", File: "w.c", Line: 20}, {Func: "MPI_Barrier", From: "libmpi.so"}}).
		Merge(stack.Of(rank.Of(1), []stack.Frame{{Func: "main", File: "w.c", Line: 21}, {Func: "nap<int>"}}))
	reply.Group.Waits = in
	f.Stacks = []session.Event{reply, event(protocol.KindMissing, rank.Of(4), `{"cause":"no answer in 10s","host":"n2"}`)}
	print := event(protocol.KindResult, rank.Range(0, 2), `{"expr":"x"}`)
	print.Command = "print"
	print.Group.Columns = []column.Column{column.Of("value", rank.Range(0, 2), "7", column.DefaultLimit)}
	f.Values = []Value{{Line: "print x", Command: "print", Args: protocol.Args{Expr: "x"}, Answers: []session.Event{print}}}
	f.Hosts = []session.Event{event(protocol.KindResult, f.Ranks, `{"hosts":["n1","n2"]}`)}
	f.Versions = []Version{{Of: "MPI", Text: "Open MPI 4.1.4"}}
	f.Output.Events = []session.Event{
		event(protocol.KindStdout, rank.Of(0), "step 1\n"),
		event(protocol.KindStderr, rank.Of(3), "bad \x1b[31m <b>\xff\n"),
	}
	f.Judge()
	return f
}

func written(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// On disk a file has no character that changes what a terminal shows; what is read is what was written.
func TestNothingHiddenOnDisk(t *testing.T) {
	f := sample()
	f.Reason.Text = "in f\x1b[31m\u009b\u202e\x7f\nforged"
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	hidden := func(r rune) bool {
		return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || protocol.ChangesDirection(r))
	}
	if i := bytes.IndexFunc(b.Bytes(), hidden); i >= 0 {
		t.Errorf("hidden: %q", b.Bytes()[max(0, i-20):i+8])
	}
	if again, err := Read(&b); err != nil || again.Reason.Text != f.Reason.Text {
		t.Errorf("%v: %q", err, again.Reason.Text)
	}
}

func TestRoundTrip(t *testing.T) {
	f := sample()
	b := written(t, f)
	g, err := Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(b), string(written(t, g))); diff != "" {
		t.Errorf("changed by reading and writing:\n%s", diff)
	}
	for _, want := range []string{
		"{\n\"format\": \"sdm hang file\",\n\"version\": \"1.0\",\n\"when\": \"2026-11-24T09:30:00.000005Z\",\n",
		`{"kind":"cause","certain":false,"ranks":"0-4",`,
		`0,2 wait in MPI_Barrier on MPI_COMM_WORLD for some of 1,3-4`,
		"\"states\": [\n{\"ranks\":\"0-2,4\",\"state\":\"watched\"},\n{\"ranks\":\"3\",\"state\":\"exited\",\"code\":3}\n]",
		`{"event":"missing","ranks":"4","n":1,"waited":"10s","hosts":["n2"]}`,
		`"data":"YmFkIBtbMzFtIDxiPv8K"`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the file does not contain %s:\n%s", want, b)
		}
	}
	if !g.Ended().Equal(rank.Of(3)) {
		t.Errorf("ended: %v", g.Ended())
	}
}

// TestManyRanks: the size hardly depends on the number of ranks. Large files are compressed.
func TestManyRanks(t *testing.T) {
	f := sample()
	f.Ranks = rank.Range(0, 999_999)
	f.Stacks[0].Group.Stack = stack.Of(f.Ranks, []stack.Frame{{Func: "main"}})
	if n := len(written(t, f)); n > 10_000 {
		t.Errorf("%d bytes for a million ranks with equal stacks", n)
	}
	long := strings.Repeat("x", plainSize)
	f.Output.Events[0].Group.Body = []byte(long)
	b := written(t, f)
	if len(b) > 10_000 || !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		t.Errorf("%d bytes for a large file, beginning with %x", len(b), b[:2])
	}
	g, err := Read(bytes.NewReader(b))
	if err != nil || string(g.Output.Events[0].Group.Body) != long {
		t.Errorf("read again: %v", err)
	}
}

func TestRefused(t *testing.T) {
	whole := string(written(t, sample()))
	with := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("the file does not contain %s", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	long := strings.Repeat("x", MaxText+1)
	for name, c := range map[string]struct{ text, want string }{
		"empty":           {"", "not a hang file"},
		"a program":       {"\x7fELF", "not a hang file"},
		"other JSON":      {`{"a":1}`, "not a hang file"},
		"cut off":         {whole[:len(whole)/2], "not a hang file"},
		"newer":           {with(`"1.0"`, `"2.3"`), `a hang file of format 2, written by sdm "1.2"; this sdm reads format 1 (use a newer one)`},
		"no version":      {with(`"1.0"`, `"x"`), `its version "x" is no version`},
		"not gzip":        {"\x1f\x8bxx", "hang file: "},
		"long text":       {with(`"no progress`, `"`+long), "header: a text of"},
		"wrong set":       {with(`"ranks": "0-4"`, `"ranks": "0-99999999"`), "beyond 16777215"},
		"event as answer": {with(`"event":"missing"`, `"event":"stopped"`), `stacks: an event "stopped" is no answer`},
		"number":          {with(`"event":"missing"`, `"event":"missing","id":7`), "an answer has the number of a request"},
		"no output":       {with(`"event":"output"`, `"event":"exited"`), `output: an event "exited" is no output`},
		"long runs": {`{"format":"sdm hang file","version":"1.0","stacks":[{"event":"reply","ranks":"0","waits":{"edges":[{"function":"f","tag":1,"lanes":[[[0,16777216,1,0]]]},` +
			`{"function":"g","tag":1,"lanes":[[[0,16777216,1,0]]]}],"doing":[{"state":"running","ranks":"0-16777215"}]}}]}`, "stacks: ranks wait for more than 4194304 messages"},
	} {
		_, err := Read(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if foreign := strings.HasPrefix(c.want, "not a hang file"); errors.Is(err, ErrNotHangFile) != foreign {
			t.Errorf("%s: ErrNotHangFile: %v", name, !foreign)
		}
	}
}

// TestBounds: lists are bounded, and the size of the text after decompression.
func TestBounds(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write([]byte("{" + strings.Repeat(" ", 1<<16)))
	z.Close()
	if _, err := content(&bomb, 1<<16); err == nil || err.Error() != "hang file: more than 65536 bytes" {
		t.Errorf("a text that grows: %v", err)
	}
	for want, f := range map[string]*File{
		"versions: 65537 elements are more than 65536": {Versions: make([]Version, MaxList+1)},
		"states: 16385 elements are more than 16384":   {States: make([]State, maxStates+1)},
		"values: 1025 commands are more than 1024":     {Values: make([]Value, MaxValues+1)},
		"stacks: 65537 elements are more than 65536":   {Stacks: make([]session.Event, MaxList+1)},
		"output: 65537 elements are more than 65536":   {Output: Output{Events: make([]session.Event, MaxList+1)}},
	} {
		if err := f.check(); err == nil || err.Error() != "hang file: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestFitted: what is beyond the bounds is cut, and the file can be read.
func TestFitted(t *testing.T) {
	f := sample()
	long := strings.Repeat("é", MaxText)
	f.Reason.Text, f.Reason.Kind, f.Job.Command = "\xff"+long, ReasonKind(long), slices.Repeat([]string{"x"}, MaxList+1)
	f.States = append(slices.Repeat(f.States, maxStates/2), State{Ranks: rank.Of(1), Status: session.Status{State: session.Lost, Cause: long}})
	f.Calls = []Row{{Text: long}}
	f.Values = slices.Repeat(f.Values, MaxValues+1)
	f.Stacks = append(slices.Repeat(f.Stacks[1:], MaxList), event(protocol.KindResult, rank.Of(2, 3), "{}"))
	f.Output.Events = append(slices.Repeat(f.Output.Events[:1], MaxList), event(protocol.KindStdout, rank.Of(0), "last"))
	g := f.fitted()
	if err := g.check(); err != nil {
		t.Fatal(err)
	}
	last := g.Stacks[MaxList-1].Group
	if len(g.Stacks) != MaxList || last.Kind != protocol.KindFault || !last.Ranks.Equal(rank.Of(2, 3, 4)) {
		t.Errorf("%d answers, the last of %v", len(g.Stacks), last.Ranks)
	}
	for i := range 2 {
		g.Stacks[i].Group.Waits = wait.Shifted(0, 1<<21, 1, wait.Edge{Function: "f"}, wait.Rank{})
	}
	if x := g.fitted(); x.check() != nil || pairsOf(x.Stacks) != 0 || x.Stacks[0].Group.Waits.Cut().IsEmpty() {
		t.Errorf("%d pairs, %v", pairsOf(x.Stacks), x.check())
	}
	for i := range 2 { // messages that have come count, too
		x := wait.Rank{Unexpected: []wait.Message{{Edge: wait.Edge{Tag: 1}, Peer: 1}}}
		g.Stacks[i].Group.Waits = wait.Of(rank.Range(0, 1<<21), x)
	}
	if n := pairsOf(g.Stacks); n != 2<<21+2 {
		t.Errorf("%d pairs", n)
	}
	x := wait.Rank{Calls: []wait.Call{{Function: "MPI_Barrier", Comm: "0"}}}
	for i := range 4 {
		x.Comms = append(x.Comms, wait.Comm{Key: strconv.Itoa(i), Members: rank.Range(0, rank.MaxID)})
	}
	for i := range 2 {
		g.Stacks[i].Group.Waits = wait.Of(rank.Of(rank.ID(i)), x)
	}
	if n := inCallsOf(g.Stacks); n != maxInCalls+2 || g.check() == nil {
		t.Errorf("%d ranks in calls: %v", n, g.check())
	}
	if x := g.fitted(); x.check() != nil || !x.Stacks[0].Group.Waits.IsEmpty() || g.Stacks[0].Group.Waits.IsEmpty() {
		t.Errorf("too many ranks in calls: %v", x.check())
	}
	if o := g.Output.Events; len(o) != MaxList || string(o[MaxList-1].Group.Body) != "last" {
		t.Errorf("%d pieces of output", len(o))
	}
	if len(g.Values) != MaxValues || len(g.Reason.Text) != MaxText-1 || len(g.States) != maxStates {
		t.Errorf("%d values, a text of %d bytes, %d states", len(g.Values), len(g.Reason.Text), len(g.States))
	}
	if f.Reason.Text[0] != 0xff {
		t.Error("the file itself was changed")
	}
}

// TestTooLong: a file that is too long loses values and output, not stacks.
func TestTooLong(t *testing.T) {
	f := sample()
	whole := len(f.encode())
	f.Output.Events[0].Group.Body = bytes.Repeat([]byte("x"), 4*whole)
	b, err := f.within(2 * whole)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Read(bytes.NewReader(b))
	if err != nil || len(g.Output.Events) != 0 || len(g.Values) != 0 || len(g.Stacks) != 2 || g.Stacks[0].Group.Waits == nil {
		t.Errorf("read %v, %v", g, err)
	}
	if b, err := f.within(whole / 10); err == nil {
		t.Errorf("%d bytes", len(b))
	}
}

// TestFewRows: rows that differ in numbers only are one, and the ranks of those left out are told.
func TestFewRows(t *testing.T) {
	var rows []Row
	for r := range rank.ID(12) {
		rows = append(rows, Row{Ranks: rank.Of(r), Text: fmt.Sprintf("from %d tag 3%s", r+1, strings.Repeat("x", max(int(r)-5, 0)))})
	}
	want := "0-5 from N tag 3 (6 rows, N differs)|6 from 7 tag 3x|7 from 8 tag 3xx|8-11 and 4 more"
	var got []string
	for _, r := range fewRows(rows, 3) {
		got = append(got, r.Ranks.String()+" "+r.Text)
	}
	if strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", got, want)
	}
	few := fewRows([]Row{{Text: "/out/N"}, {Text: "/out/5"}, {Text: "/out/6"}}, 2)
	if len(few) != 2 || few[0].Text != "/out/N" || few[1].Text != "/out/N (2 rows, N differs)" {
		t.Errorf("a text with a letter N: %+v", few)
	}
	if few := fewRows(rows, 12); len(few) != 12 || few[3].Text != "from 4 tag 3" {
		t.Errorf("few rows are changed: %+v", few)
	}
}

// TestSentences: what all texts about a file say in the same words.
func TestSentences(t *testing.T) {
	for want, got := range map[string]string{
		"stall, no progress for 2m0s": Reason{Kind: Stall, Text: "no progress for 2m0s"}.String(),
		"asked":                       Reason{Kind: Asked}.String(),
		"certain: deadlock: 0 waits":  Finding{Kind: "deadlock", Certain: true, Text: "deadlock: 0 waits"}.String(),
		"so far: 0 waits":             Finding{Kind: "cause", Text: "0 waits"}.String(),
		"no verdict: and 5 more":      Finding{Kind: "none", Text: "and 5 more"}.String(),
		"from 1":                      Rows{Row{Text: "from 1"}, 1}.String(),
		"from N (7 rows, N differs)":  Rows{Row{Text: "from N"}, 7}.String(),
		"7 bytes of standard output, 99 bytes of standard error": strings.Join(Output{DroppedStdout: 7, DroppedStderr: 99}.Dropped(), ", "),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNewer: fields and events that are not known are ignored.
func TestNewer(t *testing.T) {
	text := strings.Replace(string(written(t, sample())), `"1.0"`, `"1.7"`, 1)
	text = strings.Replace(text, `"sdm":`, `"weather": {"wet": [1]}, "sdm":`, 1)
	text = strings.Replace(text, `"event":"missing"`, `"event":"guess"`, 1)
	f, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if e := f.Stacks[1]; e.Name != "guess" || e.Group.Kind != 0 {
		t.Errorf("read %+v", e)
	}
	if err := f.Write(io.Discard); err != nil {
		t.Error(err)
	}
}

// TestOldFile: a file of real ranks that format 1.0 was defined with can be read for ever, and says the same.
func TestOldFile(t *testing.T) {
	const path = "testdata/ring-1.0"
	f, err := ReadFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(written(t, f))); diff != "" {
		t.Errorf("written in another way:\n%s", diff)
	}
	const verdict = "deadlock: 0-4 wait for 1..5 (receive tag 3), 5 waits for 0 (receive tag 3)"
	if f.Judge(); len(f.Verdict) != 1 || f.Verdict[0].Text != verdict || !f.Verdict[0].Certain || len(f.Calls) != 2 {
		t.Errorf("verdict %+v, calls %+v", f.Verdict, f.Calls)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path, err := userfile.Create(filepath.Join(dir, "hang"), 0, sample().Write)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := ReadFile(t.Context(), path); err != nil || f.Job.ID != "77" {
		t.Errorf("read %v, %v", f, err)
	}
	if _, err := ReadFile(t.Context(), dir); err == nil || !strings.HasSuffix(err.Error(), ": is a directory (give the path of a hang file)") {
		t.Errorf("a directory: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, sample()))
	f.Add([]byte(`{"format":"sdm hang file","version":"1","stacks":[{"event":"reply","ranks":"0"},{"event":"reply","ranks":"0","waits":{"doing":[{"state":"running","ranks":"0"}]}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		x.Judge()
		var first bytes.Buffer
		if err := x.Write(&first); err != nil {
			return // the verdict may be longer than a file may be
		}
		again, err := Read(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, &first)
		}
		if second := written(t, again); !bytes.Equal(first.Bytes(), second) {
			t.Fatalf("written as\n%s\nthen as\n%s", &first, second)
		}
	})
}

// TestVersions adds what answers tell, of some ranks and of all, once.
func TestVersions(t *testing.T) {
	all := rank.Range(0, 3)
	f := New(time.Now(), "1", Reason{Kind: Stall}, Job{}, all)
	stacks := event(protocol.KindResult, all, `{"by":"line"}`)
	stacks.Group.Columns = []column.Column{column.OfValues(protocol.MPIVersion, []column.ValueCount{{Value: "MPICH 4.0.2", Ranks: rank.Of(3)}, {Value: "Open MPI 4.1.4", Ranks: rank.Range(0, 2)}}, 4)}
	f.Stacks = []session.Event{stacks}
	f.Hosts = []session.Event{event(protocol.KindResult, rank.Range(0, 1), `{"engine":"gdb 13.1"}`), event(protocol.KindResult, rank.Range(2, 3), `{"engine":"gdb 13.1"}`), event(protocol.KindFault, rank.Of(3), `"x"`)}
	f.Judge()
	f.Judge()
	got := fmt.Sprint(f.Versions)
	if want := "[{MPI MPICH 4.0.2 3} {MPI Open MPI 4.1.4 0-2} {gdb 13.1 }]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
