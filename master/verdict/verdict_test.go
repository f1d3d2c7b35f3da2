package verdict

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// TestEvidence checks on what a finding rests.
func TestEvidence(t *testing.T) {
	still := jobOf(3).in("0-1", "MPI_Barrier", "w").does("2", wait.Running, "f x.c:1").graph
	moved := jobOf(3).in("0-1", "MPI_Barrier", "w").does("2", wait.Running, "f x.c:1").moved("0,2").graph
	for _, c := range []struct {
		name    string
		g       *wait.Graph
		samples int
		want    string
		does    string
	}{
		{"one sample", still, 1, "1 sample: the next one may be another", "computes"},
		{"several", still, 4, "4 samples: 2 computes, and others may wait for its result; 0-1 are in the same call with the same arguments, registers and stack of the caller in all", "computes still"},
		{"one has moved", moved, 4, "4 samples: 2 computes, and others may wait for its result; 0,2 have moved; 1 is in the same call with the same arguments, registers and stack of the caller in all", "computes still"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := Of(c.g, c.samples)
			if len(found) != 1 {
				t.Fatal(found)
			}
			want := []string{"rule: a rank for which others wait, and that waits for none itself", c.want,
				"[0-1] MPI_Barrier on MPI_COMM_WORLD, called by exchange (h.c:9)", "[2] " + c.does + " in f (x.c:1)"}
			if got := Evidence(c.g, c.samples, found[0]); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestRules has a job for each rule of docs/hangs.md, looked at four times.
func TestRules(t *testing.T) {
	ring := jobOf(64)
	for r := range 64 {
		ring.waits(strconv.Itoa(r), receive((r+1)%64, 3))
	}
	for _, c := range []struct {
		name string
		job  *job
		want string
	}{
		{"absent, computes", jobOf(5).in("0-1,3-4", "MPI_Allreduce", "w").does("2", wait.Running, "relax hang.c:20", "main hang.c:90").moved("2"),
			"so far: 0-1,3-4 wait in MPI_Allreduce on MPI_COMM_WORLD for 2; 2 computes still in relax (hang.c:20)"},
		{"absent, sleeps at times", jobOf(3).in("0-1", "MPI_Barrier", "w").does("2", wait.Sleeping, "sleep from libc.so.6", "f x.c:1").moved("2"),
			"so far: 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for 2; 2 sleeps in f (x.c:1), with progress between the samples"},
		{"some ranks may have left a collective, and one computes", jobOf(3).in("0", "MPI_Reduce", "w", root(0)).does("1", wait.Running, "g x.c:1").does("2", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"so far: 0 waits in MPI_Reduce on MPI_COMM_WORLD for some of 1-2; 1 computes still in g (x.c:1), 2 sleeps in f (x.c:1)"},
		{"absent, sleeps", jobOf(5).in("0-1,3-4", "MPI_Allreduce", "w").does("2", wait.Sleeping, "clock_nanosleep from libc.so.6", "nanosleep from libc.so.6", "sleep from libc.so.6", "relax hang.c:20"),
			"certain: 0-1,3-4 wait in MPI_Allreduce on MPI_COMM_WORLD for 2; 2 sleeps in relax (hang.c:20)"},
		{"absent, stopped in a call", jobOf(3).in("0-1", "MPI_Barrier", "w").add("2", wait.Rank{Doing: wait.Doing{State: wait.Stopped, Frames: "f x.c:1"}, Waits: []wait.Message{receive(0, 1)}, Comms: []wait.Comm{jobOf(3).comm("w")}}),
			"certain: 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for 2; 2 is stopped by a signal in f (x.c:1)"},
		{"absent, dead", jobOf(3).in("0-1", "MPI_Barrier", "w").does("2", wait.Dead),
			"certain: 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for 2; 2 has ended"},
		{"ranks that could not be read or did not answer may be absent", jobOf(4).in("0-1", "MPI_Barrier", "w").does("2", wait.Unread).does("3", wait.Silent),
			"so far: 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for some of 2-3; 2 could not be read, 3 did not answer"},
		{"absent, several", jobOf(6).in("0-1", "MPI_Barrier", "w").does("2-3", wait.Running, "f x.c:1").does("4", wait.Disk, "write from libc.so.6", "save x.c:9"),
			"certain: 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for 2-5; 2-3 compute still in f (x.c:1), 4 waits for a device in save (x.c:9), 5 was not looked at"},
		{"followed", jobOf(6).in("0-2,4", "MPI_Barrier", "w").waits("3", receive(5, 99)).does("5", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"certain: 0-2,4 wait in MPI_Barrier on MPI_COMM_WORLD for 3,5; 3 waits for 5 (receive tag 99); 5 sleeps in f (x.c:1)"},
		{"the absent rank waits for a rank in the collective", jobOf(6).in("0-2,4-5", "MPI_Barrier", "w").waits("3", receive(2, 99)),
			"certain: deadlock: 0-2,4-5 wait in MPI_Barrier on MPI_COMM_WORLD for 3, 3 waits for 2 (receive tag 99)"},
		{"pair", jobOf(4).waits("0", receive(3, 8)).waits("3", receive(0, 9)).does("1-2", wait.Running, "f x.c:1"),
			"certain: deadlock: 0 waits for 3 (receive tag 8), 3 waits for 0 (receive tag 9)"},
		{"ring", ring,
			"certain: deadlock: 0-62 wait for 1..63 (receive tag 3), 63 waits for 0 (receive tag 3)"},
		{"sends", jobOf(2).waits("0", send(1, 1)).waits("1", send(0, 1)),
			"certain: deadlock: 0 waits for 1 (send tag 1), 1 waits for 0 (send tag 1)"},
		{"ranks wait for a cycle", jobOf(4).waits("0", receive(1, 8)).waits("1", receive(0, 8)).waits("2", receive(1, 5)).waits("3", receive(2, 5)),
			"certain: deadlock: 0 waits for 1 (receive tag 8), 1 waits for 0 (receive tag 8); behind them 2-3 wait"},
		{"functions differ", jobOf(5).in("0,2-4", "MPI_Allreduce", "w").in("1", "MPI_Barrier", "w"),
			"certain: calls that do not fit on MPI_COMM_WORLD: MPI_Allreduce by 0,2-4, MPI_Barrier by 1"},
		{"a rank waits for a rank of a mismatched call", jobOf(4).in("0-1", "MPI_Allreduce", "w:0-2").in("2", "MPI_Barrier", "w:0-2").waits("3", receive(2, 5)),
			"certain: calls that do not fit on w: MPI_Allreduce by 0-1, MPI_Barrier by 2; behind them 3 waits"},
		{"roots differ", jobOf(4).in("0-2", "MPI_Bcast", "w", root(0)).in("3", "MPI_Bcast", "w", root(3)),
			"certain: calls that do not fit on MPI_COMM_WORLD: roots of MPI_Bcast: 0 by 0-2, 3 by 3"},
		{"roots differ, and a rank is one call ahead", jobOf(5).in("0-1,3", "MPI_Bcast", "w", root(0)).in("2", "MPI_Bcast", "w", root(2)).in("4", "MPI_Barrier", "w"),
			"certain: calls that do not fit on MPI_COMM_WORLD: roots of MPI_Bcast: 0 by 0-1,3, 2 by 2"},
		{"sizes differ", jobOf(4).in("0-2", "MPI_Allreduce", "w", size(8)).in("3", "MPI_Allreduce", "w", size(16)),
			"certain: calls that do not fit on MPI_COMM_WORLD: sizes of MPI_Allreduce: 8 by 0-2, 16 by 3 (bytes)"},
		{"operations differ", jobOf(4).in("0-2", "MPI_Allreduce", "w", op("MPI_SUM")).in("3", "MPI_Allreduce", "w", op("MPI_MAX")),
			"certain: calls that do not fit on MPI_COMM_WORLD: operations of MPI_Allreduce: MPI_MAX by 3, MPI_SUM by 0-2"},
		{"unknown arguments match", jobOf(4).in("0-2", "MPI_Allreduce", "w", op("MPI_SUM"), size(8)).in("3", "MPI_Allreduce", "w"), ""},
		{"ranks that have left a collective wait for a rank in it", jobOf(5).in("0", "MPI_Gather", "w", root(0)).waits("1,3-4", receive(0, 5)).does("2", wait.Sleeping, "f x.c:1"),
			"so far: 1 waits for 0 (receive tag 5), 3-4 wait for 0 (receive tag 5); 0 waits in MPI_Gather on MPI_COMM_WORLD for 2; 2 waits in the kernel in f (x.c:1)"},
		{"ranks that may have left a collective all wait for a rank in it", jobOf(3).in("0", "MPI_Reduce", "w", root(0)).waits("1-2", receive(0, 5)),
			"certain: deadlock: 0 waits in MPI_Reduce on MPI_COMM_WORLD for some of 1-2, 1-2 wait for 0 (receive tag 5)"},
		{"one rank has not entered a collective that others may leave", jobOf(3).in("0", "MPI_Reduce", "w", root(0)).in("1", "MPI_Reduce", "w", root(0)).does("2", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"certain: 0-1 wait in MPI_Reduce on MPI_COMM_WORLD for 2; 2 sleeps in f (x.c:1)"},
		{"some ranks may have left a collective", jobOf(4).in("0", "MPI_Reduce", "w", root(0)).does("1-2", wait.Sleeping, "sleep from libc.so.6", "g x.c:1").does("3", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"certain: 0 waits in MPI_Reduce on MPI_COMM_WORLD for some of 1-3; 1-2 sleep in g (x.c:1), 3 sleeps in f (x.c:1)"},
		{"a collective without data", jobOf(3).in("0", "MPI_Allreduce", "w", size(0)).waits("1", receive(0, 5)).does("2", wait.Running, "f x.c:1"),
			"so far: 1 waits for 0 (receive tag 5); 0 waits in MPI_Allreduce on MPI_COMM_WORLD for 2; 2 computes still in f (x.c:1)"},
		{"ranks have left a collective in which one is stopped", jobOf(4).in("3", "MPI_Barrier", "w").in("0-1", "MPI_Barrier", "copy:0-3").
			add("2", wait.Rank{Doing: wait.Doing{State: wait.Stopped, Frames: "f x.c:1"}, Comms: []wait.Comm{jobOf(4).comm("w")}, Calls: []wait.Call{{Function: "MPI_Barrier", Comm: "w", Root: wait.No, Bytes: wait.No}}}),
			"so far: 0-1 wait in MPI_Barrier on copy for 2-3; 3 waits in MPI_Barrier on MPI_COMM_WORLD for 2; 2 is stopped by a signal in f (x.c:1)"},
		{"a receive from any rank of those that may have left a collective", jobOf(5).in("0", "MPI_Gather", "w", root(0)).waits("1", receive(0, 5)).waits("3", receive(wait.Any, 7)).does("2", wait.Sleeping, "f x.c:1").in("4", "MPI_Barrier", "copy:3-4"),
			"so far: 1 waits for 0 (receive tag 5); 0 waits in MPI_Gather on MPI_COMM_WORLD for 2; 2 waits in the kernel in f (x.c:1)\n" +
				"so far: 0 waits in MPI_Gather on MPI_COMM_WORLD for some of 3-4, 1 waits for 0 (receive tag 5); 4 waits in MPI_Barrier on copy for 3; 3 waits in MPI_Recv for a message of any rank (tag 7)"},
		{"a root may be ahead while others are absent", jobOf(4).in("0", "MPI_Barrier", "w").in("1-2", "MPI_Bcast", "w", root(0)).does("3", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"certain: 0 waits in MPI_Barrier and 1-2 wait in MPI_Bcast on MPI_COMM_WORLD for 3; 3 sleeps in f (x.c:1)"},
		{"collectives on two communicators", jobOf(4).in("0,2", "MPI_Barrier", "w").in("1,3", "MPI_Barrier", "odd:1,3"),
			"certain: 0,2 wait in MPI_Barrier on MPI_COMM_WORLD for 1,3; 1,3 are in MPI_Barrier on odd, which all members have entered"},
		{"a communicator and its parent", jobOf(4).in("0-1", "MPI_Barrier", "w").in("2", "MPI_Barrier", "a:1-2").waits("3", receive(2, 7)),
			"certain: deadlock: 0-1 wait in MPI_Barrier on MPI_COMM_WORLD for 2-3, 2 waits in MPI_Barrier on a for 1, 3 waits for 2 (receive tag 7)"},
		{"a send and a receive that match", jobOf(2).waits("0", receive(1, 8)).waits("1", send(0, 8)), ""},
		{"any tag matches", jobOf(2).waits("0", receive(1, wait.Any)).waits("1", send(0, 8)), ""},
		{"tags that do not match", jobOf(2).waits("0", receive(1, 8)).waits("1", send(0, 7)),
			"certain: deadlock: 0 waits for 1 (receive tag 8), 1 waits for 0 (send tag 7)"},
		{"stopped in a cycle", jobOf(3).waits("0", send(1, 1)).waits("2", send(1, 1)).add("1", wait.Rank{Doing: wait.Doing{State: wait.Stopped, Frames: "f x.c:1"}, Waits: []wait.Message{send(0, 1)}, Comms: []wait.Comm{jobOf(3).comm("w")}}),
			"certain: 0 waits for 1 (send tag 1), 2 waits for 1 (send tag 1); 1 is stopped by a signal in f (x.c:1)"},
		{"a receive from any rank", jobOf(3).in("1-2", "MPI_Barrier", "w").waits("0", receive(wait.Any, 5)),
			"certain: deadlock: 0 waits for any of 1-2 (receive tag 5), 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0"},
		{"a receive from any rank, and one rank may send", jobOf(4).in("1-2", "MPI_Barrier", "w").waits("0", receive(wait.Any, 5)).does("3", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"certain: 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0,3; 0 waits in MPI_Recv for a message of any rank (tag 5), 3 sleeps in f (x.c:1)"},
		{"a receive from any rank, and one rank is stopped", jobOf(3).in("1", "MPI_Barrier", "w").waits("0", receive(wait.Any, 5)).does("2", wait.Stopped, "f x.c:1"),
			"certain: 1 waits in MPI_Barrier on MPI_COMM_WORLD for 0,2; 0 waits in MPI_Recv for a message of any rank (tag 5), 2 is stopped by a signal in f (x.c:1)"},
		{"all ranks receive from any rank", jobOf(3).waits("0", receive(wait.Any, 5)).waits("1", receive(wait.Any, 6)).waits("2", receive(wait.Any, 7)),
			"certain: deadlock: 0 waits for any of 1-2 (receive tag 5), 1 waits for any of 0,2 (receive tag 6), 2 waits for any of 0-1 (receive tag 7)"},
		{"one of several messages is needed, and none can be sent", jobOf(3).waits("0", receive(1, 5, need(wait.One)), receive(2, 5, need(wait.One))).waits("1", receive(0, 6)).waits("2", receive(1, 7)),
			"certain: deadlock: 0 waits for any of 1-2 (receive tag 5), 1 waits for 0 (receive tag 6), 2 waits for 1 (receive tag 7)"},
		{"one of several messages is needed, and one can be sent", jobOf(3).waits("0", receive(1, 5, need(wait.One)), receive(2, 5, need(wait.One))).waits("1", receive(0, 6)).does("2", wait.Running, "f x.c:1"),
			"certain: 1 waits for 0 (receive tag 6); 0 waits in MPI_Recv for one of several messages"},
		{"a receive from any rank of two", jobOf(2).waits("0", receive(wait.Any, 5)).waits("1", receive(0, 6)),
			"certain: deadlock: 0 waits for 1 (receive tag 5), 1 waits for 0 (receive tag 6)"},
		{"a receive from any rank that matches a send", jobOf(2).waits("0", receive(wait.Any, 5)).waits("1", send(0, 5)), ""},
		{"a receive from an unknown rank", jobOf(3).in("1-2", "MPI_Barrier", "w").waits("0", receive(wait.Unknown, wait.Unknown)),
			"certain: 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0; 0 is in MPI_Recv, it is not known for whom"},
		{"messages may have arrived", jobOf(2).add("0", wait.Rank{Doubt: true, Comms: []wait.Comm{jobOf(2).comm("w")}, Waits: []wait.Message{receive(1, 8)}}).waits("1", receive(0, 8)),
			"so far: 0 waits for 1 (receive tag 8), 1 waits for 0 (receive tag 8)"},
		{"messages may have arrived from a rank that computes", jobOf(2).add("0", wait.Rank{Doubt: true, Comms: []wait.Comm{jobOf(2).comm("w")}, Waits: []wait.Message{receive(1, 8)}}).does("1", wait.Running, "f").moved("1"),
			"so far: 0 waits for 1 (receive tag 8); 1 computes still in f"},
		{"messages may have arrived, and the cause is stopped", jobOf(2).add("0", wait.Rank{Doubt: true, Comms: []wait.Comm{jobOf(2).comm("w")}, Waits: []wait.Message{receive(1, 8)}}).does("1", wait.Stopped, "f"),
			"certain: 0 waits for 1 (receive tag 8); 1 is stopped by a signal in f"},
		{"a half of Sendrecv may be complete, and the other waits for an absent rank", jobOf(4).in("0", "MPI_Barrier", "w").
			waits("1", send(2, 6, need(wait.Perhaps)), receive(0, 6, need(wait.Perhaps))).
			waits("3", send(0, 6, need(wait.Perhaps)), receive(2, 6, need(wait.Perhaps))).does("2", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"so far: 2 sleeps in f (x.c:1); 1 waits for 2 (send tag 6), 3 waits for 2 (receive tag 6); 0 waits in MPI_Barrier on MPI_COMM_WORLD for 1-3"},
		{"halves of Sendrecv may be complete, and one rank sleeps", jobOf(5).
			waits("0", send(4, 2, need(wait.Perhaps)), receive(1, 2, need(wait.Perhaps))).
			waits("1", send(0, 2, need(wait.Perhaps)), receive(2, 2, need(wait.Perhaps))).
			does("2", wait.Sleeping, "sleep from libc.so.6", "f x.c:1").
			waits("3", send(4, 1, need(wait.Perhaps)), receive(2, 1, need(wait.Perhaps))).
			waits("4", send(0, 1, need(wait.Perhaps)), receive(3, 1, need(wait.Perhaps))),
			"so far: 2 sleeps in f (x.c:1); 1 waits for 2 (receive tag 2), 3 waits for 2 (receive tag 1); 0 waits for 1 (receive tag 2), 4 waits for 3 (receive tag 1)"},
		{"halves of Sendrecv that match and may be complete", jobOf(2).
			waits("0", send(1, 2, need(wait.Perhaps)), receive(1, 2, need(wait.Perhaps))).
			waits("1", send(0, 2, need(wait.Perhaps)), receive(0, 2, need(wait.Perhaps))), ""},
		{"both halves of Sendrecv wait for one rank", jobOf(2).waits("0", send(1, 2), receive(1, 2)).does("1", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"certain: 0 waits for 1 (receive tag 2, send tag 2); 1 sleeps in f (x.c:1)"},
		{"in MPI_Finalize", jobOf(2).in("0", "MPI_Barrier", "w").add("1", wait.Rank{Waits: []wait.Message{{Edge: wait.Edge{Function: "MPI_Finalize"}, Peer: wait.Unknown}}}),
			"certain: 0 waits in MPI_Barrier on MPI_COMM_WORLD for 1; 1 is in MPI_Finalize"},
		{"a half of Sendrecv that may be complete", jobOf(2).waits("0", receive(1, 8, need(wait.Perhaps))).waits("1", receive(0, 8)),
			"so far: 0 waits for 1 (receive tag 8), 1 waits for 0 (receive tag 8)"},
		{"a call on an unknown communicator", jobOf(3).in("0-1", "MPI_Barrier", "w").add("2", wait.Rank{Waits: []wait.Message{{Edge: wait.Edge{Function: "MPI_Barrier", Tag: wait.Unknown}, Peer: wait.Unknown}}}), ""},
		{"waits for itself", jobOf(2).waits("0", receive(0, 8)).does("1", wait.Running),
			"certain: deadlock: 0 waits for 0 (receive tag 8)"},
		{"no calls", jobOf(2).does("0-1", wait.Running, "f x.c:1"), ""},
		{"all ranks move", jobOf(4).in("0-2", "MPI_Barrier", "w").does("3", wait.Running, "f x.c:1").moved("0-3"),
			"certain: no hang: all ranks have moved"},
		{"all ranks but one move, and it could not be read", jobOf(4).in("0-2", "MPI_Barrier", "w").does("3", wait.Unread).moved("0-3"), ""},
		{"all ranks but one move, and it did not answer", jobOf(4).in("0-2", "MPI_Barrier", "w").does("3", wait.Silent).moved("0-3"), ""},
		{"any source with ranks of another job", jobOf(3).in("1-2", "MPI_Barrier", "w").
			waits("0", receive(wait.Any, 5), receive(wait.Unknown, wait.Unknown)),
			"certain: 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0; 0 is in MPI_Recv, it is not known for whom"},
		{"any source of the other group", jobOf(4).linked("0", receive(wait.Any, 5)).linked("1", receive(wait.Any, 5)).linked("2", receive(0, 5)).linked("3", receive(0, 6)),
			"certain: deadlock: 0 waits for any of 2-3 (receive tag 5 on link), 2 waits for 0 (receive tag 5 on link), 3 waits for 0 (receive tag 6 on link); behind them 1 waits"},
		{"some of the waiting ranks move", jobOf(4).in("0-2", "MPI_Barrier", "w").does("3", wait.Running, "f x.c:1").moved("1,3"),
			"so far: 0-2 wait in MPI_Barrier on MPI_COMM_WORLD for 3; 3 computes still in f (x.c:1)"},
		{"torch, absent", jobOf(4).in("0-1,3", "all_reduce", "the default process group:0-3").does("2", wait.Sleeping, "clock_nanosleep from libc.so.6", "train train.py:9"),
			"certain: 0-1,3 wait in all_reduce on the default process group for 2; 2 sleeps in train (train.py:9)"},
		{"torch, members of two groups", jobOf(4).in("0-2", "all_reduce", "the default process group:0-3").in("3", "broadcast", "the process group of 1,3:1,3", root(1)),
			"certain: deadlock: 0-2 wait in all_reduce on the default process group for 3, 3 waits in broadcast on the process group of 1,3 for 1"},
		{"torch, a rank calls another collective", jobOf(4).in("0,2-3", "barrier", "the default process group:0-3").in("1", "all_reduce", "the default process group:0-3"),
			"certain: calls that do not fit on the default process group: all_reduce by 1, barrier by 0,2-3"},
		{"torch, ranks have left a collective", jobOf(4).in("0", "all_reduce", "the default process group:0-3").in("1-2", "broadcast", "the default process group:0-3").does("3", wait.Sleeping, "sleep from libc.so.6", "f train.py:1"),
			"certain: 0 waits in all_reduce and 1-2 wait in broadcast on the default process group for 3; 3 sleeps in f (train.py:1)"},
		{"torch, message under way", jobOf(3).add("0", wait.Rank{Comms: []wait.Comm{jobOf(3).comm("w")}, Waits: []wait.Message{torchMessage("send", 1)}}).add("1", wait.Rank{Comms: []wait.Comm{jobOf(3).comm("w")}, Waits: []wait.Message{torchMessage("recv", 0)}}).in("2", "barrier", "the default process group:0-2"),
			"certain: 2 waits in barrier on the default process group for 0-1; 0-1 are in torch.distributed, where its message is under way"},
		{"numbers of MPI_COMM_WORLD differ from ours", jobOf(2).number(0, 1).number(1, 0).waits("0", receive(0, 5)).in("1", "MPI_Barrier", "w"),
			"certain: deadlock: 0 waits for 1 (receive tag 5), 1 waits in MPI_Barrier on MPI_COMM_WORLD for 0"},
		{"numbers of two jobs", jobOf(2).number(0, 0).number(1, 0).in("0", "MPI_Barrier", "w").in("1", "MPI_Barrier", "w"),
			"so far: the numbers here are not those of MPI_COMM_WORLD, and several ranks say that they are its rank 0, as those of several jobs do"},
		{"a message with another tag has arrived", jobOf(4).in("0-2", "MPI_Barrier", "w").came("3", 2, 7, "w").waits("3", receive(2, 99)),
			"certain: deadlock: 0-2 wait in MPI_Barrier on MPI_COMM_WORLD for 3, 3 waits for 2 (receive tag 99, 2 has sent tag 7)"},
		{"messages with another tag have arrived in a chain", jobOf(3).came("0", 1, 7, "w").came("1", 2, 7, "w").waits("0", receive(1, 99)).waits("1", receive(2, 99)).in("2", "MPI_Barrier", "w"),
			"certain: deadlock: 0-1 wait for 1..2 (receive tag 99, 1..2 have sent tag 7), 2 waits in MPI_Barrier on MPI_COMM_WORLD for 0-1"},
		{"a message of another sender has arrived", jobOf(3).came("0", 2, 99, "w").waits("0", receive(1, 99)).in("1-2", "MPI_Barrier", "w"),
			"certain: deadlock: 0 waits for 1 (receive tag 99, 2 has sent tag 99), 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0"},
		{"a message on another communicator has arrived", jobOf(3).came("0", 1, 99, "copy:0-2").waits("0", receive(1, 99)).in("1-2", "MPI_Barrier", "w"),
			"certain: deadlock: 0 waits for 1 (receive tag 99, 1 has sent tag 99 on copy), 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0"},
		{"a message with another tag has arrived for a receive from any rank", jobOf(3).came("0", 1, 7, "w").waits("0", receive(wait.Any, 99)).in("1-2", "MPI_Barrier", "w"),
			"certain: deadlock: 0 waits for any of 1-2 (receive tag 99, 1 has sent tag 7), 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0"},
		{"a message of another sender has arrived at a receive of any tag", jobOf(4).came("0", 2, 5, "w").waits("0", receive(1, wait.Any)).in("1-3", "MPI_Barrier", "w"),
			"certain: deadlock: 0 waits for 1 (receive any tag, 2 has sent tag 5), 1-3 wait in MPI_Barrier on MPI_COMM_WORLD for 0"},
		{"another sender has sent it on another communicator", jobOf(3).came("0", 2, 0, "w").add("0", withEdge(wait.Rank{Comms: []wait.Comm{jobOf(3).comm("pair:0-1")}},
			receive(1, 0, func(e *wait.Edge) { e.Comm = "pair:0-1" }))).in("1-2", "MPI_Barrier", "w"),
			"certain: deadlock: 0 waits for 1 (receive tag 0 on pair, 2 has sent tag 0 on MPI_COMM_WORLD), 1-2 wait in MPI_Barrier on MPI_COMM_WORLD for 0"},
		{"requests of a collective", jobOf(4).in("0-1", "MPI_Wait", "w").in("3", "MPI_Waitall", "w").does("2", wait.Sleeping, "sleep from libc.so.6", "f x.c:1"),
			"certain: 0-1 wait in MPI_Wait (collective) and 3 waits in MPI_Waitall (collective) on MPI_COMM_WORLD for 2; 2 sleeps in f (x.c:1)"},
		{"a rank may have made the request of a collective", jobOf(4).in("0-1", "MPI_Wait", "w").waits("3", receive(0, 5)).does("2", wait.Running, "f x.c:1"),
			"so far: 3 waits for 0 (receive tag 5); 0-1 wait in MPI_Wait (collective) on MPI_COMM_WORLD for 2; 2 computes still in f (x.c:1)"},
		{"a lock of a window", jobOf(4).waits("0-2", receive(3, wait.Unknown, need(wait.Target), function("MPI_Win_lock"))).does("3", wait.Running, "f x.c:1"),
			"so far: 0-2 wait for 3 (its window in MPI_Win_lock); 3 computes still in f (x.c:1)"},
		{"stopped in an earlier call", jobOf(4).in("0-1", "MPI_Allreduce", "w", size(8)).in("3", "MPI_Allreduce", "w", size(152)).add("2", wait.Rank{
			Doing: wait.Doing{State: wait.Stopped, Frames: "exchange h.c:9"}, Calls: []wait.Call{{Function: "MPI_Allreduce", Comm: "w", Root: wait.No, Bytes: 152}}}),
			"certain: 0-1,3 wait in MPI_Allreduce on MPI_COMM_WORLD for 2; 2 is stopped by a signal in exchange (h.c:9)"},
		{"all ranks are debugged", jobOf(3).waits("0", receive(1, 5)).does("1", wait.Traced, "f x.c:1").does("2", wait.Traced, "f x.c:1").trace("0"),
			"so far: 0 waits for 1 (receive tag 5); 1 is stopped by a debugger in f (x.c:1)"},
		{"one rank is debugged", jobOf(2).waits("0", receive(1, 5)).waits("1", receive(0, 5)).trace("1"),
			"certain: 0 waits for 1 (receive tag 5); 1 is stopped by a debugger in exchange (h.c:9)"},
		{"request and barrier", jobOf(3).in("0-1", "MPI_Wait", "w").in("2", "MPI_Barrier", "w"),
			"certain: deadlock: 0-1 wait in MPI_Wait (collective) on MPI_COMM_WORLD for 2, 2 waits in MPI_Barrier on MPI_COMM_WORLD for 0-1"},
		{"torch, two ranks with one number", jobOf(2).number(0, 1).number(1, 1).in("0", "all_reduce", "w").in("1", "all_reduce", "w"),
			"so far: the numbers here are not those of the default process group of torch, and several ranks say that they are its rank 1, as those of several jobs do"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := texts(Of(c.job.graph, 4)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestOneSample: nothing is certain at one instant, and nothing is called a deadlock or an error.
func TestOneSample(t *testing.T) {
	for name, c := range map[string]struct {
		job  *job
		want string
	}{
		"pair":      {jobOf(4).waits("0", receive(3, 8)).waits("3", receive(0, 9)), "so far: 0 waits for 3 (receive tag 8), 3 waits for 0 (receive tag 9)"},
		"functions": {jobOf(2).in("0", "MPI_Allreduce", "w").in("1", "MPI_Barrier", "w"), "so far: on MPI_COMM_WORLD: MPI_Allreduce by 0, MPI_Barrier by 1"},
		"absent":    {jobOf(2).in("0", "MPI_Allreduce", "w").does("1", wait.Running, "f"), "so far: 0 waits in MPI_Allreduce on MPI_COMM_WORLD for 1; 1 computes in f"},
	} {
		if got := texts(Of(c.job.graph, 1)); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

func TestRows(t *testing.T) {
	j := jobOf(8).in("0-2,4", "MPI_Bcast", "w", root(1), size(8)).waits("3", receive(5, 99), send(6, wait.Any, need(wait.One))).
		waits("5", receive(wait.Any, 1)).does("6-7", wait.Sleeping, "sleep from libc.so.6", "f x.c:1")
	const want = `0-2,4: MPI_Bcast root 1, 8 bytes on MPI_COMM_WORLD, called by exchange (h.c:9) -> 3,5-7
3: MPI_Recv from 5 tag 99, called by exchange (h.c:9) -> 5
3: MPI_Send to 6 any tag, one of several, called by exchange (h.c:9) -> 6
5: MPI_Recv from any tag 1, called by exchange (h.c:9) -> 
6-7: sleeps in f (x.c:1) -> 
`
	got := ""
	for _, r := range Rows(j.graph) {
		got += r.Ranks.String() + ": " + r.Text + " -> " + r.For.String() + "\n"
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestCallers checks who is said to have called.
func TestCallers(t *testing.T) {
	at := func(frames string) wait.Rank {
		return wait.Rank{Doing: wait.Doing{Frames: frames}, Comms: []wait.Comm{jobOf(5).comm("w")}, Waits: []wait.Message{receive(0, 1)}}
	}
	for _, c := range []struct {
		name    string
		callers []string // of ranks from 1 on
		want    string
	}{
		{"the same", []string{"f x.c:1", "f x.c:1"}, "[1-2] MPI_Recv from 0 tag 1, called by f (x.c:1)"},
		{"several", []string{"f x.c:1", "f x.c:2", "g x.c:1"}, "[1-3] MPI_Recv from 0 tag 1, called by f (x.c:1, x.c:2) and g (x.c:1)"},
		{"many", []string{"f x.c:1", "f x.c:2", "f x.c:3", "f x.c:4"}, "[1-4] MPI_Recv from 0 tag 1, called by f (x.c:1, x.c:2, x.c:3, x.c:4)"},
		{"many functions", []string{"f x.c:1", "g x.c:2", "h x.c:3", "i x.c:4"}, "[1-4] MPI_Recv from 0 tag 1, called by f (x.c:1), g (x.c:2), h (x.c:3) and others"},
		{"many lines", []string{"f x.c:1", "f x.c:2", "f x.c:3", "f x.c:4", "f x.c:5", "f x.c:6", "f x.c:7"},
			"[1-7] MPI_Recv from 0 tag 1, called by f (x.c:1, x.c:2, x.c:3, x.c:4, x.c:5, x.c:6, others)"},
		{"one that is not known", []string{"f x.c:1", "?? from x"}, "[1-2] MPI_Recv from 0 tag 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := jobOf(5)
			for i, frames := range c.callers {
				j.add(strconv.Itoa(i+1), at(frames))
			}
			rows := Rows(j.graph)
			if got := "[" + Ranks(rows[0].Ranks) + "] " + rows[0].Text; len(rows) != 1 || got != c.want {
				t.Errorf("got %s and %d rows, want %s", got, len(rows), c.want)
			}
		})
	}
}

// TestForOtherPrograms looks at a pair in both forms.
func TestForOtherPrograms(t *testing.T) {
	g := jobOf(2).waits("0", receive(1, 8)).waits("1", receive(0, 9)).graph
	const dot = `digraph waits {
	node [shape=box];
	n1 [label="[0] MPI_Recv from 1 tag 8, called by exchange (h.c:9)", color=red];
	n2 [label="[1] MPI_Recv from 0 tag 9, called by exchange (h.c:9)", color=red];
	n1 -> n2 [label="1"];
	n2 -> n1 [label="0"];
}
`
	if got := DOT(g, Of(g, 4)); got != dot {
		t.Errorf("got\n%s\nwant\n%s", got, dot)
	}
	const head = `{"verdict":[{"kind":"deadlock","certain":true,"ranks":"0-1","text":"deadlock: 0 waits for 1 (receive tag 8), 1 waits for 0 (receive tag 9)"}],"waits":{"comms":[`
	if got := JSON(g, Of(g, 4)); !strings.HasPrefix(got, head) {
		t.Errorf("got\n%s\nwant\n%s", got, head)
	}
}

// TestManyWaitForAny: a deadlock of so many ranks that not all pairs can be arcs is one finding.
func TestManyWaitForAny(t *testing.T) {
	const n = 1200 // squared more than maxAny
	world := wait.Comm{Key: "w", Name: "MPI_COMM_WORLD", Members: rank.Range(0, n-1)}
	of := func(first, last rank.ID, peer int) *wait.Graph {
		return wait.Of(rank.Range(first, last), wait.Rank{Comms: []wait.Comm{world}, Waits: []wait.Message{receive(peer, 3)}})
	}
	found := Of(of(0, n-1, wait.Any), 4)
	if len(found) != 1 || !found[0].Certain || !strings.HasPrefix(found[0].Text, "deadlock: 0 waits for any of 1-1199 (receive tag 3), ") || !strings.Contains(found[0].Text, "; behind them ") {
		t.Errorf("%d findings: %v", len(found), texts(found[:min(len(found), 2)]))
	}
	if found := Of(of(0, n-2, wait.Any).Merge(of(n-1, n-1, wait.Unknown)), 4); len(found) != 0 {
		t.Errorf("one may go on: %v", texts(found[:min(len(found), 2)]))
	}
}

// BenchmarkVerdict is of a million ranks: in a ring, in a barrier with one absent, and in receives from one of which
// it is not known for whom it waits.
func BenchmarkVerdict(b *testing.B) {
	const n = 1 << 20
	world := wait.Comm{Key: "w", Name: "MPI_COMM_WORLD", Members: rank.Range(0, n-1)}
	var ring *wait.Graph
	for first, step := rank.ID(0), rank.ID(1); first < n; first += step {
		m := receive((int(first)+1)%n, 3)
		ring = ring.Merge(wait.Of(rank.Range(first, first), wait.Rank{Comms: []wait.Comm{world}, Waits: []wait.Message{m}}))
	}
	barrier := wait.Of(rank.Range(1, n-1), wait.Rank{Comms: []wait.Comm{world}, Calls: []wait.Call{{Function: "MPI_Barrier", Comm: "w", Root: wait.No, Bytes: wait.No}}}).
		Merge(wait.Of(rank.Of(0), wait.Rank{Doing: wait.Doing{State: wait.Running}}))
	unknown := wait.Message{Edge: wait.Edge{Function: "MPI_Send", Tag: wait.Unknown}, Peer: wait.Unknown}
	open := wait.Of(rank.Of(0), wait.Rank{Comms: []wait.Comm{world}, Waits: []wait.Message{unknown}}).
		Merge(wait.Of(rank.Range(1, n-1), wait.Rank{Comms: []wait.Comm{world}, Waits: []wait.Message{receive(0, 3)}}))
	for name, g := range map[string]*wait.Graph{"ring": ring, "barrier": barrier, "open": open} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if len(Of(g, 4)) != 1 {
					b.Fatal(texts(Of(g, 4)))
				}
			}
		})
	}
}
