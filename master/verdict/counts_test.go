// Tests of verdicts from counts of collectives.

package verdict

import (
	"flag"
	"fmt"
	"math/rand"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"sdm/launch/nccl"
	"sdm/launch/nccl/nccltest"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

var schedules = flag.Int("schedules", 200, "number of random schedules of counts, and the seed of the last")

// count is a communicator of 0xa in which some have begun AllReduce number 7.
func count(in, behind string) wait.Count {
	c := wait.Count{Comm: "0xa", Name: "communicator 0xa (4)", Function: "AllReduce number 7", In: set(in)}
	if behind != "" {
		c.Behind = set(behind)
	}
	return c
}

func TestCounts(t *testing.T) {
	load := wait.Rank{Doing: wait.Doing{State: wait.Sleeping, Does: "waits in open of /data/shard-17", Frames: "load data.py:42"}}
	spin := wait.Rank{Doing: wait.Doing{State: wait.Running, Frames: "synchronize x.py:9"}, Moved: true}
	all := wait.Rank{Doing: spin.Doing, Calls: []wait.Call{{Function: "barrier", Comm: "torch", Root: wait.No, Bytes: wait.No}},
		Comms: []wait.Comm{{Key: "torch", Name: "the default process group", Members: set("0-3")}}}
	stopped := wait.Rank{Doing: wait.Doing{State: wait.Stopped, Frames: "step x.py:3"}}
	for name, c := range map[string]struct {
		graph  *wait.Graph
		counts []wait.Count
		want   string
	}{
		"one is behind": {wait.Of(set("0-2"), spin).Merge(wait.Of(set("3"), load)), []wait.Count{count("0-2", "3")},
			"so far: 0-2 wait in AllReduce number 7 on communicator 0xa (4) for 3; 3 waits in open of /data/shard-17 in load (data.py:42)"},
		"one that waits is stopped": {wait.Of(set("0-1"), spin).Merge(wait.Of(set("2"), stopped)).Merge(wait.Of(set("3"), load)), []wait.Count{count("0-2", "3")},
			"certain: 2 is stopped by a signal in step (x.py:3)\nso far: 0-1 wait in AllReduce number 7 on communicator 0xa (4) for 3; 3 waits in open of /data/shard-17 in load (data.py:42)"},
		"some are on other hosts": {wait.Of(set("3"), load), []wait.Count{count("0-2", "3")},
			"so far: 0-2 wait in AllReduce number 7 on communicator 0xa (4) for 3; 3 waits in open of /data/shard-17 in load (data.py:42)"},
		"the one is on another host": {wait.Of(set("0-2"), spin), []wait.Count{count("0-2", "3")},
			"so far: 0-2 wait in AllReduce number 7 on communicator 0xa (4) for 3; 3 was not looked at"},
		"through two communicators": {wait.Of(set("0-2"), spin).Merge(wait.Of(set("3"), load)), []wait.Count{count("0-1", "2"), {Comm: "0xb", Name: "communicator 0xb (2)", Function: "Broadcast number 1", In: set("2"), Behind: set("3")}},
			"so far: 0-1 wait in AllReduce number 7 on communicator 0xa (4) for 2; 2 waits in Broadcast number 1 on communicator 0xb (2) for 3; 3 waits in open of /data/shard-17 in load (data.py:42)"},
		"with a call of torch": {wait.Of(set("0-1"), all).Merge(wait.Of(set("2"), spin)).Merge(wait.Of(set("3"), load)), []wait.Count{count("0-2", "3")},
			"so far: 0-1 wait in barrier on the default process group for 2-3; 0-2 wait in AllReduce number 7 on the default process group, communicator 0xa (4) for 3; 3 waits in open of /data/shard-17 in load (data.py:42)"},
		"different collectives": {wait.Of(set("0-3"), spin), []wait.Count{count("0-2", ""), {Comm: "0xa", Name: "communicator 0xa (4)", Function: "Broadcast number 1", In: set("3")}},
			"so far: on communicator 0xa (4): AllReduce number 7 by 0-2, Broadcast number 1 by 3"},
		"ranks that are numbered in another way": {wait.Of(set("0"), wait.Rank{Number: 1, Numbered: true}), []wait.Count{count("0", "1")}, ""},
	} {
		g := c.graph.WithCounts(c.counts, rank.Range(0, 3).Minus(c.graph.Ranks()))
		var lines []string
		for _, f := range Of(g, 4) {
			if f.Kind != Progress {
				lines = append(lines, Label(f.Kind.String(), f.Certain)+": "+f.Text)
			}
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if _, rest, err := wait.Decode(g.AppendWire(nil)); err != nil || len(rest) > 0 {
			t.Errorf("%s: the graph cannot be decoded: %v", name, err)
		}
	}
	g := wait.Of(set("0-2"), spin).Merge(wait.Of(set("3"), load)).WithCounts([]wait.Count{count("0-2", "3")}, rank.Set{})
	var rows []string
	for _, r := range Rows(g) {
		rows = append(rows, r.Ranks.String()+" "+r.Text)
	}
	if want := []string{"0-2 AllReduce number 7 on communicator 0xa (4)", "0-2 computes in synchronize (x.py:9)", "3 waits in open of /data/shard-17 in load (data.py:42)"}; !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
}

// Programs run in random order until a rank stands, and RAS is asked meanwhile: no other rank is ever accused.
func TestSchedules(t *testing.T) {
	blamed := 0
	for seed := range *schedules {
		s := newSchedule(rand.New(rand.NewSource(int64(seed) + 1)))
		found, bad := s.play(t)
		if bad != "" {
			t.Fatalf("seed %d: %s\n%+v", seed+1, bad, s)
		}
		if found {
			blamed++
		}
	}
	if blamed < *schedules/4 {
		t.Errorf("only %d of %d schedules have a cause", blamed, *schedules)
	}
}

// schedule is a job whose ranks begin the same collectives in the same order. Each may have begun some that are not
// complete.
type schedule struct {
	random  *rand.Rand
	size    int
	comms   [][]int // members
	program []counting
	begun   []int // of each rank, the place in the program that it has reached
	ahead   int   // collectives that a rank may have begun while they are not complete
	stands  []int // the place in the program before which a rank stands for ever; len(program): it does not
}

// counting is a collective of the program.
type counting struct{ comm, kind int }

func newSchedule(r *rand.Rand) *schedule {
	s := &schedule{random: r, size: 2 + r.Intn(15), ahead: 1 + r.Intn(4)}
	s.comms = [][]int{r.Perm(s.size)}
	for range r.Intn(4) {
		s.comms = append(s.comms, r.Perm(s.size)[:2+r.Intn(s.size-1)])
	}
	kinds := 1 + r.Intn(3)
	for range 10 + r.Intn(60) {
		s.program = append(s.program, counting{r.Intn(len(s.comms)), r.Intn(kinds)})
	}
	s.begun, s.stands = make([]int, s.size), make([]int, s.size)
	for i := range s.stands {
		s.stands[i] = len(s.program)
	}
	for range r.Intn(3) {
		s.stands[r.Intn(s.size)] = r.Intn(len(s.program))
	}
	return s
}

// isIn reports whether a rank has a part in a collective of the program.
func (s *schedule) isIn(r, at int) bool { return slices.Contains(s.comms[s.program[at].comm], r) }

// isComplete reports whether all have begun a collective of the program.
func (s *schedule) isComplete(at int) bool {
	return !slices.ContainsFunc(s.comms[s.program[at].comm], func(r int) bool { return s.begun[r] <= at })
}

// step lets a rank begin its next collective, if it can.
func (s *schedule) step(r int) bool {
	at := s.begun[r]
	for at < len(s.program) && !s.isIn(r, at) {
		at++
	}
	if at >= s.stands[r] || at == len(s.program) {
		return false
	}
	open := 0
	for i := range at {
		if s.isIn(r, i) && !s.isComplete(i) {
			open++
		}
	}
	if open >= s.ahead {
		return false
	}
	s.begun[r] = at + 1
	return true
}

// ask returns what RAS answers. Before the counts of each rank are read, other ranks may go on.
func (s *schedule) ask(t *testing.T, steps int) *nccl.Reply {
	job := &nccltest.Job{}
	for i, members := range s.comms {
		c := nccltest.Comm{Hash: fmt.Sprintf("0x%x", i+1)}
		for range members {
			c.Ranks = append(c.Ranks, nccltest.Rank{Host: "10.0.0.1"})
		}
		job.Comms = append(job.Comms, c)
	}
	for r := range s.size {
		for range steps {
			s.step(s.random.Intn(s.size))
		}
		for i, members := range s.comms {
			if k := slices.Index(members, r); k >= 0 {
				x := &job.Comms[i].Ranks[k]
				x.PID = 100 + r
				for at := range s.begun[r] {
					if s.program[at].comm == i {
						x.Counts[s.program[at].kind]++
					}
				}
			}
		}
	}
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		_ = job.Serve(theirs)
		theirs.Close()
	}()
	r, err := nccl.Ask(ours, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// play runs the schedule. found: a cause was found.
func (s *schedule) play(t *testing.T) (found bool, bad string) {
	rest := s.random.Intn(4) > 0 // all that can goes on before RAS is asked
	steps := s.random.Intn(400)
	for n := 0; n < steps || rest; n++ {
		went := false
		for _, r := range s.random.Perm(s.size)[:1+s.random.Intn(s.size)] {
			went = s.step(r) || went
		}
		if rest && !went && !s.canStep() {
			break
		}
	}
	moving := 0
	if !rest {
		moving = 1 + s.random.Intn(3)
	}
	var replies []*nccl.Reply
	for range 3 {
		replies = append(replies, s.ask(t, moving))
	}
	numbers := replies[0].Numbers()
	var g *wait.Graph
	culprits := map[rank.ID]bool{}
	for p, id := range numbers {
		r := p.PID - 100
		what := wait.Rank{Doing: wait.Doing{State: wait.Running, Frames: "step x.py:1"}}
		if s.stands[r] < len(s.program) {
			culprits[id] = true
			what.Doing = wait.Doing{State: wait.Sleeping, Does: "sleeps", Frames: "load x.py:2"}
		}
		g = g.Merge(wait.Of(rank.Of(id), what))
	}
	counts := nccl.Behind(replies, numbers)
	for _, f := range Of(g.WithCounts(counts, rank.Set{}), 2) {
		found = true
		switch {
		case f.Certain || f.Kind == Mismatch || f.Kind == Cycle:
			return true, f.Kind.String() + ": " + f.Text
		case rest && strings.Contains(f.Text, "computes"), rest && strings.Contains(f.Text, "compute "):
			return true, "another rank is accused: " + f.Text
		}
	}
	if rest && len(counts) > 0 && !found {
		return false, "there is no finding"
	}
	if len(culprits) == 0 && rest && found {
		return true, "a job that goes on is said to stand"
	}
	return found, ""
}

// canStep reports whether some rank can go on.
func (s *schedule) canStep() bool {
	for r := range s.size {
		if before := s.begun[r]; s.step(r) {
			s.begun[r] = before
			return true
		}
	}
	return false
}
