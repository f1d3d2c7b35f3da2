// Attaching to running ranks.

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// attachRanks is the number of ranks of the MPI job, attachTimes how often each way attaches to
// them.
const (
	attachRanks = 16
	attachTimes = 7
)

// benchAttach measures attaching to processes of no job, and to the ranks of an MPI job.
func benchAttach(b *bench) {
	b.progress("%d ranks of a small program, %d times each way", manyRanks, attachTimes)
	pids, end := b.startAlone()
	b.attach("ranks of a small program", pids, limit{})
	end()
	if b.hasStarter() {
		b.progress("%d ranks of mpirun, %d times each way", attachRanks, attachTimes)
		_, pids, end = b.startMPI(starter, compiler)
		b.attach("MPI ranks", pids, limit{most: 250})
		end()
	}
}

// attach measures how long it takes to attach, against bare gdbs that have as many ranks each as
// sdm's.
func (b *bench) attach(what string, pids []int, l limit) {
	_, _, gdbs := b.attachBySDM(pids)
	per := (len(pids) + gdbs - 1) / gdbs
	var worked [2][]time.Duration // processor time of the gdbs and the process that has started them
	c := compare(attachTimes, 1, func(int) time.Duration {
		took, work, _ := b.attachBySDM(pids)
		worked[0] = append(worked[0], work)
		return took
	}, func(int) time.Duration {
		took, work := attachByGDBs(pids, per)
		worked[1] = append(worked[1], work)
		return took
	})
	what = fmt.Sprintf("attach to %d %s, %d to a gdb", len(pids), what, per)
	b.table.add(row{what: what, unit: "ms", ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: l})
	b.table.add(row{what: what + ", processor time", unit: "ms", ours: ms(median(worked[0])), floor: ms(median(worked[1]))})
}

// attachBySDM attaches with sdm and measures the time until the last stop. The ranks run on
// afterwards.
func (b *bench) attachBySDM(pids []int) (took, work time.Duration, gdbs int) {
	j := startJob(b.server, 1, len(pids), "--backend", "gdb")
	var args protocol.Args
	for i, pid := range pids {
		args.Pids = append(args.Pids, protocol.Pid{Rank: rank.ID(i), PID: pid})
	}
	began := time.Now()
	j.call(session.Call{Command: "attach", Args: args})
	j.stopped(j.all())
	took = time.Since(began)
	server := j.servers.PIDs()[0]
	work, gdbs = cpuTime(family(server)), len(gdbsOf(server))
	j.close()
	return took, work, gdbs
}

// attachByGDBs attaches with bare gdbs, with at most per ranks each, and lets them leave.
func attachByGDBs(pids []int, per int) (took, work time.Duration) {
	before, began := ownTime(), time.Now()
	gdbs := attachBare(pids, per)
	took = time.Since(began)
	work = ownTime() - before
	for _, g := range gdbs {
		work += cpuTime([]int{g.cmd.Process.Pid})
		g.leave()
	}
	return took, work
}

// startAlone starts processes of a small program that belong to no job.
func (b *bench) startAlone() (pids []int, end func()) {
	program := b.compile("spin")
	cmds := make([]*exec.Cmd, manyRanks)
	for i := range cmds {
		cmds[i] = exec.Command(program)
		if err := cmds[i].Start(); err != nil {
			fatal(program, err)
		}
		pids = append(pids, cmds[i].Process.Pid)
	}
	return pids, func() {
		for _, c := range cmds {
			c.Process.Kill()
			c.Wait()
		}
	}
}

// startMPI starts an MPI job and waits until all of its ranks have returned from MPI_Init. top is
// the process of the starter.
func (b *bench) startMPI(starter, compiler string) (top int, pids []int, end func()) {
	program := filepath.Join(b.dir, "mpiwait"+filepath.Ext(starter))
	finish := program + "-go"
	b.run(compiler, "-g", "-O0", "-o", program, sources+"mpiwait.c")
	cmd := exec.Command(starter, "-n", strconv.Itoa(attachRanks), program, finish)
	cmd.Env = b.starterEnv()
	out := startPiped(cmd, starter)
	lines := bufio.NewReader(out)
	for range attachRanks {
		if _, err := lines.ReadString('\n'); err != nil {
			fatal("the MPI job has ended", err)
		}
	}
	for _, pid := range family(cmd.Process.Pid) {
		pids = append(pids, named(family(pid), filepath.Base(program))...) // of Hydra they are children of a proxy
	}
	slices.Sort(pids)
	pids = slices.Compact(pids)
	if len(pids) != attachRanks {
		cmd.Process.Signal(os.Interrupt)
		fatal("the MPI job", fmt.Errorf("%d ranks were found", len(pids)))
	}
	return cmd.Process.Pid, pids, func() {
		if err := os.WriteFile(finish, nil, 0o600); err != nil {
			fatal(finish, err)
		}
		io.Copy(io.Discard, lines)
		if err := cmd.Wait(); err != nil {
			fatal("the MPI job, after it was debugged", err)
		}
		os.Remove(finish)
	}
}
