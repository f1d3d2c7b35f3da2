// One file: its size, and what a hostile job can put into it.

package web

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/master/hangfile"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// evil ends a script, and begins another.
const evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>'\"`\u2028"

// hangFile returns the file of a job of n ranks, which differ in pairs and have evil names.
func hangFile(n rank.ID) *hangfile.File {
	f := hangfile.New(time.Unix(0, 0), "1", hangfile.Reason{Kind: hangfile.Stall, Text: evil}, hangfile.Job{Command: []string{evil}}, rank.Range(0, n-1))
	f.Verdict = []hangfile.Finding{{Kind: "deadlock", Certain: true, Ranks: rank.Range(0, n-1), Text: evil}}
	var paths []stack.RankedPath
	for r := rank.ID(0); r < n; r += 2 {
		f.Calls = append(f.Calls, hangfile.Row{Ranks: rank.Of(r, (r+n/2+1)%n), Text: fmt.Sprintf("MPI_Recv from %d tag 3 %s", r+1, evil), For: rank.Of(r + 1)})
		frames := []stack.Frame{{Func: "main", File: "/home/me/a/long/way/to/the/source.c", Line: 20}, {Func: "relax", File: "/home/me/a/long/way/to/the/source.c", Line: int(10 + r%8)}}
		for depth := range 6 {
			frames = append(frames, stack.Frame{Func: fmt.Sprint("PMPI_Layer", depth), From: "/usr/lib/libmpi.so.40" + evil})
		}
		paths = append(paths, stack.RankedPath{Ranks: rank.Of(r, r+1), Path: stack.PathOf(frames)})
		f.States = append(f.States, hangfile.State{Ranks: rank.Of(r, r+1), Status: session.Status{State: session.Stopped, Where: fmt.Sprintf("source.c:%d", 10+r), Func: evil}})
	}
	reply := session.NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: f.Ranks, Body: []byte("{}"), Stack: stack.OfPaths(paths)})
	f.Stacks = []session.Event{reply}
	return f
}

func TestOneFile(t *testing.T) {
	var b bytes.Buffer
	if err := WriteFile(&b, hangFile(4096)); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	t.Logf("%d bytes", len(got))
	if len(got) > 400_000 {
		t.Errorf("%d bytes", len(got))
	}
	if strings.Count(got, "<script") != 1 || strings.Contains(got, "<img") || strings.Count(got, "</script") != 1 {
		t.Error("there is more than the script of the page")
	}
	policy, _, _ := strings.Cut(got, "<title>")
	if strings.Count(policy, "'sha256-") != 2 || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy permits more than script and style of the page: %s", policy)
	}
	for _, want := range []string{"data-set=", `id="grid"`, "var sdmData = {", "const of_main = "} {
		if !strings.Contains(got, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}

// TestFrames bounds the frames of a page.
func TestFrames(t *testing.T) {
	var paths []stack.RankedPath
	for r := range rank.ID(maxFrames + 100) {
		paths = append(paths, stack.RankedPath{Ranks: rank.Of(r), Path: stack.PathOf([]stack.Frame{{Func: "main"}, {Func: fmt.Sprint("f", r)}})})
	}
	roots, left := framesOf([]protocol.Group{{Stack: stack.OfPaths(paths)}})
	if len(roots) != 1 || len(roots[0].Children) != maxFrames-1 || left != 101 || roots[0].N != maxFrames+100 {
		t.Errorf("%d roots, %d left", len(roots), left)
	}
	if roots, left := framesOf(nil); roots != nil || left != 0 {
		t.Errorf("%v", roots)
	}
}
