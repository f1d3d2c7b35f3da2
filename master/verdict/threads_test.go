package verdict

import (
	"strings"
	"testing"

	"sdm/protocol/wait"
)

// doing is a row of ranks outside of MPI.
func doing(does, frames string, change ...func(*wait.Doing)) wait.Rank {
	d := wait.Doing{State: wait.Sleeping, Does: does, Frames: strings.ReplaceAll(frames, "|", "\n")}
	for _, f := range change {
		f(&d)
	}
	return wait.Rank{Doing: d}
}

// lock makes the first thread wait for a lock that another one holds.
func lock(number int) func(*wait.Doing) {
	return func(d *wait.Doing) { d.For, d.Lock = number, true }
}

func detail(text string) func(*wait.Doing) { return func(d *wait.Doing) { d.Detail = text } }

// other adds a thread.
func other(t wait.Thread) func(*wait.Doing) {
	t.Frames = strings.ReplaceAll(t.Frames, "|", "\n")
	return func(d *wait.Doing) { d.Others = append(d.Others, t) }
}

// object makes an edge that is not of MPI.
func object(peer int, text string) wait.Message {
	return wait.Message{Edge: wait.Edge{Function: "lock", Object: text, Tag: wait.Unknown}, Peer: peer}
}

func withEdge(r wait.Rank, all ...wait.Message) wait.Rank {
	r.Waits = all
	return r
}

const inLibc = "futex_wait from libc.so.6|pthread_mutex_lock from libc.so.6|"

// TestThreadsAndLocks has a job for each rule of docs/hangs.md about threads and locks, looked at four times.
func TestThreadsAndLocks(t *testing.T) {
	mutex := "waits for a mutex"
	holder := wait.Thread{Number: 2, State: wait.Sleeping, Does: mutex, Frames: inLibc + "holder x.c:5", For: 1, Lock: true}
	spins := wait.Thread{Number: 2, Name: "io", State: wait.Running, Frames: "spin x.py:21"}
	cycle := doing(mutex, inLibc+"update x.c:71|main x.c:9", lock(2), other(holder))
	held := doing("waits for the lock of Python", "take_gil|step x.py:3", lock(2), other(spins))
	joins := doing("waits for the end of thread 3", "pthread_join from libc.so.6|main x.c:5", func(d *wait.Doing) { d.For = 3 },
		other(wait.Thread{Number: 3, State: wait.Running, Frames: "work k.f90:310"}))
	chained := joins
	chained.Doing.Others = []wait.Thread{{Number: 2, State: wait.Sleeping, Does: mutex, Frames: "f x.c:1", For: 3, Lock: true},
		{Number: 3, State: wait.Sleeping, Does: mutex, Frames: "g x.c:2", For: 2, Lock: true}}
	file := doing("waits for a lock of /tmp/x", "flock from libc.so.6|save x.c:3", func(d *wait.Doing) { d.Lock = true }, detail("process 7 (backup) holds it"))
	const waiting = "certain: 0-1,3-4 wait in MPI_Allreduce on MPI_COMM_WORLD for 2; "
	in := func(r wait.Rank) *job { return jobOf(5).in("0-1,3-4", "MPI_Allreduce", "w").add("2", r) }
	sleep := "clock_nanosleep from libc.so.6|nanosleep from libc.so.6|sleep from libc.so.6|"
	for _, c := range []struct {
		name string
		job  *job
		want string
	}{
		{"no MPI, nothing held", jobOf(2).add("0-1", joins), ""},
		{"no MPI, cycle", jobOf(2).add("0-3", cycle),
			"certain: deadlock of threads of 0-3: thread 1 waits for a mutex in update (x.c:71) that thread 2 holds, thread 2 waits for a mutex in holder (x.c:5) that thread 1 holds"},
		{"no MPI, a cycle that moves", jobOf(2).add("0-3", cycle).moved("0-3"), ""},
		{"no MPI, lock of Python", jobOf(2).add("0-3", held),
			"so far: 0-3 wait for the lock of Python in step (x.py:3) that thread 2 holds; thread 2 (io) computes still in spin (x.py:21)"},
		{"no MPI, a lock that another process holds", jobOf(2).add("1", file),
			"certain: 1 waits for a lock of /tmp/x in save (x.c:3): process 7 (backup) holds it"},
		{"no MPI, a lock that a rank holds", jobOf(3).add("0-1", withEdge(doing("waits for a lock of /tmp/x", "flock from libc.so.6|save x.c:3"), object(2, "lock of /tmp/x"))).add("2", doing("sleeps", sleep+"main x.c:9", func(d *wait.Doing) { d.Left = 60 })),
			"so far: 0-1 wait for 2 (lock of /tmp/x); 2 sleeps for up to 60 s in main (x.c:9)"}, // it may have taken it again
		{"no MPI, a lock that a waiting rank holds", jobOf(3).add("0-1", withEdge(doing("waits for a lock of /tmp/x", "flock from libc.so.6|save x.c:3"), object(2, "lock of /tmp/x"))).add("2", doing("waits for a signal", "pause from libc.so.6|main x.c:9")),
			"certain: 0-1 wait for 2 (lock of /tmp/x); 2 waits for a signal in main (x.c:9)"},
		{"a stopped rank explains waits for unknown peers", jobOf(3).waits("0-1", wait.Message{Edge: wait.Edge{Function: "MPI_Finalize", Tag: wait.Unknown}, Peer: wait.Unknown}).
			add("2", doing("is stopped by SIGSTOP", "f x.c:1", func(d *wait.Doing) { d.State = wait.Stopped })),
			"certain: 2 is stopped by SIGSTOP in f (x.c:1)"},
		{"locks of two ranks", jobOf(2).add("0", withEdge(doing("", "save x.c:3"), object(1, "lock of /tmp/x"))).add("1", withEdge(doing("", "load x.c:4"), object(0, "lock of /tmp/y"))),
			"certain: deadlock: 0 waits for 1 (lock of /tmp/x), 1 waits for 0 (lock of /tmp/y)"},
		{"the holder of a lock is in MPI", jobOf(3).in("0,2", "MPI_Barrier", "w").add("1", withEdge(doing("", "save x.c:3"), object(0, "lock of /tmp/x"))),
			"certain: deadlock: 0,2 wait in MPI_Barrier on MPI_COMM_WORLD for 1, 1 waits for 0 (lock of /tmp/x)"},
		{"absent, mutex", in(doing(mutex, inLibc+"update x.c:71", lock(2), other(wait.Thread{Number: 2, State: wait.Sleeping, Does: "waits for a signal", Frames: "pause from libc.so.6|holder x.c:66"}))),
			waiting + "2 waits for a mutex in update (x.c:71) that thread 2 holds; thread 2 waits for a signal in holder (x.c:66)"},
		{"absent, waits for a child process", in(doing("waits in Pool.map (pool.py)", "main x.py:14", func(d *wait.Doing) { d.For = wait.FirstProcess + 4712 }, other(wait.Thread{Number: wait.FirstProcess + 4712, Name: "python3", State: wait.Sleeping, Does: "waits for a lock of threading", Frames: "work x.py:5"}))),
			waiting + "2 waits in Pool.map (pool.py) in main (x.py:14); process 4712 (python3) waits for a lock of threading in work (x.py:5)"},
		{"absent, waits for a child process that computes", in(doing("waits in Pool.map (pool.py)", "main x.py:14", func(d *wait.Doing) { d.For = wait.FirstProcess + 4712 }, other(wait.Thread{Number: wait.FirstProcess + 4712, State: wait.Running, Frames: "work x.py:5"}))),
			"so far" + strings.TrimPrefix(waiting, "certain") + "2 waits in Pool.map (pool.py) in main (x.py:14); process 4712 computes still in work (x.py:5)"},
		{"absent, waits for a mutex that it holds itself", in(doing(mutex, inLibc+"update x.c:71", lock(1))),
			waiting + "2 waits for a mutex in update (x.c:71) that the thread itself holds"},
		{"absent, cycle", in(cycle),
			waiting + "2 is in a deadlock of threads: thread 1 waits for a mutex in update (x.c:71) that thread 2 holds, thread 2 waits for a mutex in holder (x.c:5) that thread 1 holds"},
		{"absent, waits for a thread in a deadlock", in(chained),
			waiting + "2 waits for the end of thread 3 in main (x.c:5); thread 3 is in a deadlock of threads: thread 3 waits for a mutex in g (x.c:2) that thread 2 holds, thread 2 waits for a mutex in f (x.c:1) that thread 3 holds"},
		{"a rank in a collective call whose other threads deadlock", jobOf(5).in("0-1,3-4", "MPI_Allreduce", "w").add("2", wait.Rank{Comms: []wait.Comm{jobOf(5).comm("w")}, Calls: []wait.Call{{Function: "MPI_Allreduce", Comm: "w", Root: wait.No, Bytes: wait.No}}, Doing: chained.Doing}),
			"certain: deadlock of threads of 2: thread 2 waits for a mutex in f (x.c:1) that thread 3 holds, thread 3 waits for a mutex in g (x.c:2) that thread 2 holds"},
		{"absent, waits in open", in(doing("waits in open of /tmp/f", "open64 from libc.so.6|fifo x.c:3", detail("no process has opened the FIFO for writing"))),
			waiting + "2 waits in open of /tmp/f in fifo (x.c:3): no process has opened the FIFO for writing"},
		{"absent, in a signal handler", in(doing("", sleep+"on_signal x.c:87|"+wait.HandlerFrame+" SIGUSR1|raise from libc.so.6|handler x.c:93")),
			waiting + "2 sleeps in on_signal (x.c:87), in a handler of SIGUSR1 that has interrupted handler (x.c:93)"},
		{"absent, in a library that Python has called", in(doing("", "burn from libburn.so|?? from _ctypes.so|run x.py:3", func(d *wait.Doing) { d.State = wait.Running })),
			"so far" + strings.TrimPrefix(waiting, "certain") + "2 computes still in burn from libburn.so, called in run (x.py:3)"},
		{"absent, stopped by a known signal", in(doing("is stopped by SIGTTIN", "read from libc.so.6|ask x.c:7", func(d *wait.Doing) { d.State = wait.Stopped })),
			waiting + "2 is stopped by SIGTTIN in ask (x.c:7)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := texts(Of(c.job.graph, 4)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRowsOfLocks(t *testing.T) {
	j := jobOf(3).add("0-1", withEdge(doing("waits for a lock of /tmp/x", "flock from libc.so.6|save x.c:3"), object(2, "lock of /tmp/x"))).
		add("2", doing("waits in read of /dev/pts/1", "read from libc.so.6|ask x.c:9"))
	var got []string
	for _, r := range Rows(j.graph) {
		got = append(got, "["+Ranks(r.Ranks)+"] "+r.Text)
	}
	const want = "[0-1] waits for 2 (lock of /tmp/x) in save (x.c:3)\n[2] waits in read of /dev/pts/1 in ask (x.c:9)"
	if strings.Join(got, "\n") != want {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
