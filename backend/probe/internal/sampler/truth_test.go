package sampler

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/mpi"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol/stack"
)

// counts are the arguments that were compared.
type counts struct{ right, unknown, wrong, cases, left int }

// snapshots returns processes as they were while all of them were held together.
func snapshots(t *testing.T, c *Sampler, pids []int) (all []*snapshot.Process) {
	t.Helper()
	var known []*process
	for _, pid := range pids {
		p, err := c.look(pid)
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, p)
	}
	held := hold.Together(pids, hold.Defaults, hold.Steps{StackEnd: func(i int, sp uint64) uint64 { return known[i].stackEnd(sp) }})
	for i := range held {
		all = append(all, known[i].snapshot(&held[i]))
	}
	return all
}

// compare plays the whole job. c and kept may come from other jobs.
func (j *truth) compare(t *testing.T, c *Sampler, kept *mpi.Cache) (n counts) {
	t.Helper()
	for number := 1; ; number++ {
		claims := j.of(number)
		for r := range 3 {
			for claims[r].text == "" && !claims[r].left {
				j.hear(t, true)
			}
		}
		if claims[0].text == "end" {
			return n
		}
		var calls [3]*mpi.Call
		var libraries [3]*mpi.Library
		for end := time.Now().Add(patience); !j.inCalls(t, c, kept, claims, &libraries, &calls); {
			if time.Now().After(end) {
				t.Fatalf("case %d: %+v, but calls are %s", number, *claims, called(calls))
			}
		}
		for r := range 3 {
			if claims[r].left {
				n.left++
				t.Logf("rank %d, %s: left", r, claims[r].text)
				continue
			}
			n.cases++
			n.check(t, r, claims[r].text, libraries[r], calls[r])
		}
		if strings.HasPrefix(claims[0].text, "Recv count=5 type=MPI_INT source=3 tag=11 ") && n.right > 0 {
			j.stacks(t, c)
		}
		j.allow(t)
		switch name, _, _ := strings.Cut(claims[0].text, " "); name {
		case "Finalize", "Comm_accept", "Comm_connect", "Comm_spawn": // the last one
			return n
		}
	}
}

// inCalls reports whether all ranks are where they say, or have left.
func (j *truth) inCalls(t *testing.T, c *Sampler, kept *mpi.Cache, claims *[4]claim, libraries *[3]*mpi.Library, calls *[3]*mpi.Call) bool {
	t.Helper()
	all := snapshots(t, c, j.pids[:3])
	j.hear(t, false)
	for r, s := range all {
		if claims[r].left {
			continue
		}
		calls[r] = nil
		for i := range s.Threads {
			if libraries[r] = mpi.Open(s, kept, s.Threads[i].Pointer); libraries[r] == nil {
				return false
			}
			if calls[r] = mpi.Find(libraries[r], &s.Threads[i]); calls[r] != nil {
				break
			}
		}
		name, _, _ := strings.Cut(claims[r].text, " ")
		if calls[r] == nil || !slices.Contains(strings.Split(name, "|"), calls[r].Function) || hasNoPeer(calls[r]) {
			return false
		}
	}
	return true
}

// hasNoPeer reports whether a call is with MPI_PROC_NULL: it does not wait, and precedes the one that does.
func hasNoPeer(c *mpi.Call) bool {
	return slices.ContainsFunc(c.Args, func(a mpi.Argument) bool { return a.Kind == mpi.Peer && a.Known && a.Value == mpi.NoPeer })
}

func called(calls [3]*mpi.Call) (all []string) {
	for _, c := range calls {
		if c == nil {
			all = append(all, "none")
		} else {
			all = append(all, c.Function)
		}
	}
	return all
}

// stacks checks that stacks tell what the first receive waits for. On a machine with too much to do, a
// thread does not stop in time, and is read again.
func (j *truth) stacks(t *testing.T, c *Sampler) {
	t.Helper()
	for _, explain := range []bool{false, true} {
		tells := func(f stack.Frame) bool {
			text, evidence, _ := strings.Cut(f.Call, ";")
			return strings.HasSuffix(f.Func, "MPI_Recv") && text == "from 3 tag 11" && strings.Contains(evidence, "comm: ") == explain
		}
		var all []Sample
		for end := time.Now().Add(patience); time.Now().Before(end); {
			all = c.Take(j.pids[:3], Options{By: "function", Explain: explain}).Samples
			if !slices.ContainsFunc(all, func(s Sample) bool { return strings.Contains(fmt.Sprint(s.Threads), "(thread not read") }) {
				break
			}
		}
		for r, s := range all {
			if !slices.ContainsFunc(s.Threads, func(frames []stack.Frame) bool { return slices.ContainsFunc(frames, tells) }) {
				t.Errorf("rank %d: %v", r, s.Threads)
			}
		}
	}
}

// check compares the arguments of a call with what the rank has said.
func (n *counts) check(t *testing.T, r int, text string, l *mpi.Library, c *mpi.Call) {
	t.Helper()
	for _, f := range strings.Fields(text)[1:] {
		name, want, _ := strings.Cut(f, "=")
		if name == "requests" {
			n.requests(t, r, text, want, c.Requests)
			continue
		}
		a := c.Arg(name)
		switch got := shown(l, c, a); {
		case a == nil:
			t.Errorf("rank %d, %s: no argument %s", r, text, name)
		case !a.Known:
			n.unknown++
			t.Logf("rank %d, %s: %s unknown: %s", r, text, name, a.Why)
		case got != want:
			n.wrong++
			t.Errorf("rank %d, %s: %s is %s (grade %d)", r, text, name, got, a.Grade)
		default:
			n.right++
		}
	}
	n.peers(t, r, text, c.Wait(l))
}

// peers checks that a call waits for the last rank, or for the one in others (world ranks).
func (n *counts) peers(t *testing.T, r int, text string, w mpi.Wait) {
	t.Helper()
	others := map[string]int{"comm=even": 0}
	for _, m := range w.Messages {
		want := 3
		for said, peer := range others {
			if strings.Contains(text, said) {
				want = peer
			}
		}
		if m.Peer >= 0 && m.Peer != want {
			n.wrong++
			t.Errorf("rank %d, %s: waits for %d", r, text, m.Peer)
		}
	}
}

// shown returns an argument as the program says it.
func shown(l *mpi.Library, c *mpi.Call, a *mpi.Argument) string {
	if a == nil || !a.Known {
		return ""
	}
	switch a.Kind {
	case mpi.Comm, mpi.Window, mpi.CommAt, mpi.WindowAt:
		return commName(c.Comm)
	case mpi.File, mpi.FileAt:
		return strings.ReplaceAll(fmt.Sprint(c.Comm.World), " ", ",")
	case mpi.Datatype:
		return l.Type(uint64(a.Value)).Name
	case mpi.Op:
		return l.Operation(uint64(a.Value))
	}
	return wild(int(a.Value))
}

func wild(v int) string {
	if v == mpi.AnySource || v == mpi.AnyTag {
		return "any"
	}
	return strconv.Itoa(v)
}

// members are the members of the program's communicators, and of a remote group.
var members = map[string]string{
	"world": "[0 1 2 3] []", "first": "[0 1 2 3] []", "second": "[3 2 1 0] []", "twin": "[0 1 2 3] []", "copy": "[0 1 2 3] []", "graph": "[0 1 2 3] []", "reversed": "[3 2 1 0] []", "far": "[3 2 1 0] []",
	"odd": "[3 1] []", "even": "[2 0] []", "three": "[0 1 2] []", "inter": "[0 1 2] [3]",
}

// commName returns the name of a communicator if its members are right.
func commName(c *mpi.Communicator) string {
	if c == nil || c.Err != nil {
		return "?"
	}
	all := fmt.Sprint(c.World, " ", c.Remote)
	name := strings.TrimSuffix(strings.TrimPrefix(c.Name, "MPI_COMM_"), "")
	if name == "WORLD" {
		name = "world"
	}
	if members[name] == all {
		return name
	}
	return fmt.Sprintf("%s%s", c.Name, all)
}

// requests compares requests: kind:peer:tag:communicator, separated by commas.
func (n *counts) requests(t *testing.T, r int, text, want string, got []mpi.Request) {
	t.Helper()
	all := strings.Split(want, ",")
	if len(got) != len(all) {
		n.unknown += len(all)
		t.Logf("rank %d, %s: %d requests", r, text, len(got))
		return
	}
	for i, q := range got {
		s := fmt.Sprintf("%s:%s:%s:%s", q.Kind, wild(q.Peer), wild(q.Tag), commName(q.Comm))
		switch {
		case q.Why == "null":
			s = "null"
		case q.Done && all[i] == "complete":
			s = "complete"
		case q.Why != "":
			n.unknown++
			t.Logf("rank %d, %s: request %d unknown: %s", r, text, i, q.Why)
			continue
		case q.Kind == "collective":
			s = "collective:-:-:" + commName(q.Comm)
		}
		if s != all[i] {
			n.wrong++
			t.Errorf("rank %d, %s: request %d is %s", r, text, i, s)
			continue
		}
		n.right++
	}
}
