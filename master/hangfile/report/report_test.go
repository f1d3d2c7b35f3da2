package report

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"sdm/master/hangfile"
	"sdm/master/hangfile/compare"
	"sdm/master/hangfile/offline"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

func event(kind protocol.Kind, ranks rank.Set, body string) session.Event {
	return session.NewEvent(protocol.Group{Kind: kind, Ranks: ranks, Body: []byte(body)})
}

// evil is markup, and what a terminal would execute.
const evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`${1}\x1b[31m\xff</pre></style>"

// file returns a file in which every text is evil.
func file() *hangfile.File {
	f := hangfile.New(time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC), evil, hangfile.Reason{Kind: hangfile.Crash, Text: evil, Ranks: rank.Of(3)},
		hangfile.Job{Command: []string{"mpirun", evil}, Launcher: evil, ID: evil, Host: evil, Cwd: evil}, rank.Range(0, 3))
	f.Verdict = []hangfile.Finding{{Kind: "deadlock", Certain: true, Ranks: rank.Range(0, 1), Text: evil}, {Kind: evil, Ranks: rank.Of(2), Text: "two"}}
	f.Calls = []hangfile.Row{{Ranks: rank.Of(0), Text: evil, For: rank.Of(1)}, {Ranks: rank.Of(1), Text: "b " + evil, For: rank.Of(0)}, {Ranks: rank.Of(2), Text: "computes"}}
	f.States = []hangfile.State{{Ranks: rank.Of(3), Status: session.Status{State: session.Stopped, Signal: "SIGSEGV", Func: evil, Where: evil}}}
	reply := event(protocol.KindResult, rank.Range(0, 2), `{"samples":4,"every":"150ms"}`)
	reply.Group.Stack = stack.Of(rank.Of(0, 2), []stack.Frame{{Func: "main", File: "/src/w.c", Line: 20}, {Func: evil, From: evil, Call: evil, Mark: evil}}).
		Merge(stack.Of(rank.Of(1), []stack.Frame{{Func: "main", File: "/src/w.c", Line: 20}, {Addr: "0x7"}}))
	f.Stacks = []session.Event{reply, event(protocol.KindMissing, rank.Of(3), `{"cause":"<script>no answer in 10s","host":"n<2>"}`)}
	value := event(protocol.KindResult, rank.Range(0, 2), `{"expr":"x"}`)
	value.Group.Columns = []column.Column{column.Of("value", rank.Range(0, 2), evil, 64)}
	f.Values = []hangfile.Value{{Line: "print " + evil, Command: "print", Answers: []session.Event{value}}}
	f.Output.Events = []session.Event{event(protocol.KindStderr, rank.Of(1), evil+"\n"), {Name: "output", From: evil, Group: protocol.Group{Kind: protocol.KindStdout, Body: []byte("x\n")}}}
	f.Output.DroppedStderr = 99
	f.Hosts = []session.Event{event(protocol.KindResult, rank.Range(0, 3), `{"hosts":["n<1>"],"servers":"1","engine":"gdb 13","program":"<script>"}`)}
	f.Versions = []hangfile.Version{{Of: "MPI", Text: evil}}
	return f
}

func written(t *testing.T, f *hangfile.File) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, Live{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestEscaped: the page has the elements of the template and no others, whatever is in the file, and refers to nothing outside.
func TestEscaped(t *testing.T) {
	got := written(t, file())
	if n := strings.Count(got, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	for _, bad := range []string{"<img", "\x1b", "\xff", "${1}</", "http:", "https:", "src=x onerror=alert(2)>\"", "@import", "url(http"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for _, want := range []string{
		"&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;&#34;&#39;`${1}^[[31m",
		`<span class="func">main</span> <span class="place">w.c:20</span>`,
		"never moved in 4 samples, 150ms apart", "&lt;script&gt;no answer in 10s", "99 bytes of standard error", "n&lt;1&gt;: server 1, gdb 13", "Content-Security-Policy",
		"prefers-color-scheme: dark", "@media print", "stopped in ", ", SIGSEGV</td>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// TestWellFormed: elements are closed in order.
func TestWellFormed(t *testing.T) {
	got := written(t, file())
	body := got[strings.Index(got, "<body>"):strings.Index(got, "<script>\n")]
	body = regexp.MustCompile(`<input [^>]*>`).ReplaceAllString(body, "") + "</body>"
	body = strings.ReplaceAll(body, " open>", ">")
	d := xml.NewDecoder(strings.NewReader(body))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLarge: a page is bounded; many rows and frames are counted.
func TestLarge(t *testing.T) {
	f := file()
	f.Calls = nil
	for r := rank.ID(0); r < 900; r++ {
		f.Calls = append(f.Calls, hangfile.Row{Ranks: rank.Of(r), Text: fmt.Sprintf("MPI_Recv from %d tag 3 in f%c", r+1, 'a'+r%2), For: rank.Of(r + 1)})
	}
	var all []stack.RankedPath
	for r := range rank.ID(4100) {
		all = append(all, stack.RankedPath{Ranks: rank.Of(r), Path: stack.PathOf([]stack.Frame{{Func: "main"}, {Func: fmt.Sprint("f", r)}})})
	}
	var odd []rank.ID
	for r := rank.ID(1); r < 100_000; r += 2 {
		odd = append(odd, r)
	}
	f.Stacks[0].Group.Stack = stack.OfPaths(all)
	f.Stacks[1].Group.Stack = stack.Of(rank.Of(odd...), []stack.Frame{{Func: "far"}})
	got := written(t, f)
	if len(got) > 2_000_000 || !strings.Contains(got, `data-ranks="*"`) {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"MPI_Recv from N tag 3 in fa <span class=\"count\">450 rows, N differs</span>", "101 more frames are in the hang file", "Rows whose texts differ in numbers only are one box."} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
}

// FuzzUses: any file that can be read can be shown, compared with itself, and asked.
func FuzzUses(f *testing.F) {
	var b bytes.Buffer
	if err := file().Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	old, err := os.ReadFile("../testdata/ring-1.0")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(old)
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := hangfile.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		if err := Write(io.Discard, x, Live{}); err != nil {
			t.Error(err)
		}
		if c := compare.Of(x, x); !c.Equal {
			c.WriteText(os.Stderr)
			t.Error("it differs from itself")
		}
		s := offline.New(x)
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the events are not read
		defer s.Close(ctx)
		for _, c := range []string{"stacks", "ranks", "info file", "info output", "info hosts", "print"} {
			s.Do(ctx, session.Call{Command: c, Args: protocol.Args{By: map[string]string{"stacks": "function"}[c]}})
		}
	})
}

func TestShortRanks(t *testing.T) {
	var odd []rank.ID
	for r := rank.ID(1001); r < 1100; r += 2 {
		odd = append(odd, r)
	}
	got := shortRanks(rank.Of(odd...))
	if got.Text != "1001,1003,1005,1007,1009,1011,1013,…" || !strings.HasPrefix(got.Title, got.Text[:30]) || got.Count != 50 {
		t.Errorf("%+v", got)
	}
	if got := shortRanks(rank.Range(0, 999_999)); got.Text != "0-999999" || got.Title != "" {
		t.Errorf("%+v", got)
	}
}

func TestNothing(t *testing.T) {
	f := hangfile.New(time.Time{}, "1", hangfile.Reason{Kind: hangfile.Asked}, hangfile.Job{}, rank.Of(0))
	got := written(t, f)
	for _, want := range []string{"<h1>state of a job</h1>", "Nothing is known about who waits for whom.", "There are no stacks.", "1 rank<"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if strings.Contains(got, "<svg") {
		t.Error("a drawing of nothing")
	}
}

func rows(text ...string) *hangfile.File {
	f := &hangfile.File{Verdict: []hangfile.Finding{{Kind: "deadlock", Certain: true, Ranks: rank.Range(0, 2)}}}
	for i, to := range text {
		r := hangfile.Row{Ranks: rank.Of(rank.ID(i)), Text: "row " + fmt.Sprint(i)}
		if err := r.For.UnmarshalText([]byte(to)); err != nil {
			panic(err)
		}
		f.Calls = append(f.Calls, r)
	}
	return f
}

// TestDraw: arrows lead to the right, but within cycles, and boxes do not overlap.
func TestDraw(t *testing.T) {
	for name, c := range map[string]struct {
		f       *hangfile.File
		columns []int
		classes string
	}{
		"chain":              {rows("1", "2", ""), []int{0, 1, 2}, ",,cause"},
		"all for one":        {rows("3", "3", "3", ""), []int{0, 0, 0, 1}, ",,,cause"},
		"ring":               {rows("1", "2", "0"), []int{0, 0, 0}, "cycle,cycle,cycle"},
		"one waits for ring": {rows("1", "2", "0", "0"), []int{1, 1, 1, 0}, "cycle,cycle,cycle,"},
		"ring and cause":     {rows("1", "0,2", ""), []int{0, 0, 1}, "cycle,cycle,cause"},
		"itself":             {rows("0"), []int{0}, "cycle"},
		"two ways":           {rows("1,2", "2", ""), []int{0, 1, 2}, ",,cause"},
	} {
		d := Draw(c.f.Calls, c.f.Verdict)
		left := d.Boxes[0].X
		for _, b := range d.Boxes {
			left = min(left, b.X)
		}
		var columns []int
		var classes []string
		for i, b := range d.Boxes {
			columns, classes = append(columns, (b.X-left)/(boxWidth+columnGap)), append(classes, b.Class)
			if b.X < 0 || b.X+b.W > d.Width || b.Y < 0 || b.Y+b.H > d.Height {
				t.Errorf("%s: box %d is outside", name, i)
			}
			for _, o := range d.Boxes[:i] {
				if b.X == o.X && b.Y < o.Y+o.H && o.Y < b.Y+b.H {
					t.Errorf("%s: boxes overlap", name)
				}
			}
		}
		if fmt.Sprint(columns) != fmt.Sprint(c.columns) || strings.Join(classes, ",") != c.classes {
			t.Errorf("%s: columns %v, classes %v; want %v, %s", name, columns, classes, c.columns, c.classes)
		}
	}
	many := rows(make([]string, 100)...)
	for i := range many.Calls {
		many.Calls[i].Text = strings.Repeat("x", i+1)
		many.Calls[i].For = rank.Of(0)
	}
	if d := Draw(many.Calls, many.Verdict); len(d.Boxes) != maxBoxes || d.More != 100-maxBoxes || !d.Grouped {
		t.Errorf("%d boxes, %d more", len(d.Boxes), d.More)
	}
}

func TestWrapped(t *testing.T) {
	for in, want := range map[string]string{
		"short":                 "short",
		strings.Repeat("é", 50): strings.Repeat("é", 38) + "|" + strings.Repeat("é", 12),
		"MPI_Recv from 1..5 tag 3, called by receive (hang.c:38)": "MPI_Recv from 1..5 tag 3, called by|receive (hang.c:38)",
		strings.Repeat("word ", 100):                              strings.Repeat("word word word word word word word|", 3) + "word word word word word word word wo…",
	} {
		if got := strings.Join(wrapped(in), "|"); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
