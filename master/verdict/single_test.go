package verdict

import (
	"strings"
	"testing"

	"sdm/protocol/wait"
)

// TestLocksOfOneSample has what one sample says of locks, and of functions with the names of others.
func TestLocksOfOneSample(t *testing.T) {
	owner := func(s wait.State, does string) wait.Rank {
		return doing("waits for a mutex", inLibc+"update x.c:71", lock(2), other(wait.Thread{Number: 2, State: s, Does: does, Frames: "holder x.c:66"}))
	}
	named := func(s wait.State, frames string) wait.Rank {
		return doing("", frames, func(d *wait.Doing) { d.State = s })
	}
	absent := func(r wait.Rank) *job { return jobOf(3).in("0-1", "MPI_Barrier", "w").add("2", r) }
	const waiting = "so far: 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for 2; 2 "
	for _, c := range []struct {
		name string
		job  *job
		want string
	}{
		{"the owner runs", jobOf(2).add("0", owner(wait.Running, "")), ""},
		{"the owner waits", jobOf(2).add("0", owner(wait.Sleeping, "sleeps")), "so far: 0 waits for a mutex in update (x.c:71) that thread 2 holds; thread 2 sleeps in holder (x.c:66)"},
		{"a function of the program named sleep", absent(named(wait.Running, "sleep x.c:3|main x.c:9")), waiting + "computes in sleep (x.c:3)"},
		{"it waits in an unknown call", absent(named(wait.Sleeping, "read x.c:3|main x.c:9")), waiting + "waits in the kernel in read (x.c:3)"},
		{"between two system calls", absent(named(wait.Running, "read from libc.so.6|load x.c:3")), waiting + "computes in load (x.c:3)"},
	} {
		if got := texts(Of(c.job.graph, 1)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestPanic(t *testing.T) {
	got := guarded(func() []Finding { panic("x") })
	if len(got) != 1 || got[0].Kind != NoVerdict || !strings.Contains(got[0].Text, "a defect of sdm in verdict/single_test.go") || !strings.HasSuffix(got[0].Text, ": x; please report it") {
		t.Errorf("%+v", got)
	}
}

func TestDOTOfOneSample(t *testing.T) {
	cycle := doing("", "save x.c:3")
	g := jobOf(2).add("0", withEdge(cycle, object(1, "lock of /tmp/x"))).add("1", withEdge(cycle, object(0, "lock of /tmp/y"))).graph
	for samples, want := range map[int]string{1: ", style=dashed]", 4: ", color=red]"} {
		if dot := DOT(g, Of(g, samples)); strings.Count(dot, want) != 2 || strings.Contains(dot, "red") == (samples == 1) {
			t.Errorf("%d samples: %s", samples, dot)
		}
	}
}
