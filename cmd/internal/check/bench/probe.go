// Stacks without a debugger, beside gdb and eu-stack.

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

const (
	probeRanks   = 6    // of the hung MPI job
	probeThreads = 1000 // of one process
	probeImages  = 316  // of each rank that has many
	probeTimes   = 9    // how often stacks are shown from nothing
	probeRounds  = 100  // later samples of one server
)

// aims are the targets of a job, in ms and MB; 0: none.
type aims struct {
	whole    float64 // the whole command
	cold     float64 // the first sample of a server
	warm     float64 // a later one
	held     float64 // how long a process is held, the median of samples
	heldMost float64 // of 99 samples of 100
	memory   float64 // of the server
}

// benchProbe measures sdm stacks of jobs that hang.
func benchProbe(b *bench) {
	sdm := filepath.Join(b.dir, "sdm")
	b.build(sdm)
	b.besideServer(sdm)
	if b.hasStarter() {
		pids, starter, end := b.startHung(probeRanks)
		b.probe(sdm, fmt.Sprintf("%d hung MPI ranks", probeRanks), strconv.Itoa(starter), pids,
			aims{whole: 60, cold: 25, warm: 5, held: 0.7, heldMost: 5, memory: 15})
		b.verdicts(sdm, strconv.Itoa(starter))
		end()
		b.manyHung(sdm)
	}
	many := b.compile("manythreads")
	small, end := startReady(manyRanks, many)
	b.probe(sdm, fmt.Sprintf("%d small processes", manyRanks), listed(small), small, aims{whole: 60, warm: 8, held: 2, memory: 15})
	end()
	one, end := startReady(1, many, strconv.Itoa(probeThreads))
	b.probe(sdm, "a process of 1,000 threads", listed(one), one, aims{whole: 60, held: 25})
	end()
	imaged, end := startReady(4, b.compile("manyimages"), b.manyLibraries()...)
	b.probe(sdm, fmt.Sprintf("4 processes of 6 threads and %d images (not torch)", probeImages), listed(imaged), imaged, aims{whole: 115, warm: 15, memory: 50})
	end()
}

// besideServer puts the server to measure beside sdm, which starts the one there.
func (b *bench) besideServer(sdm string) {
	binary, err := os.ReadFile(b.server)
	if err == nil {
		path := filepath.Join(filepath.Dir(sdm), "sdm-server")
		if path != b.server {
			err = os.WriteFile(path, binary, 0o700)
		}
	}
	if err != nil {
		fatal("sdm-server", err)
	}
}

// listed returns processes as sdm stacks takes them.
func listed(pids []int) string {
	words := make([]string, len(pids))
	for i, pid := range pids {
		words[i] = strconv.Itoa(pid)
	}
	return "pids:" + strings.Join(words, ",")
}

// probe measures one job. target is how sdm stacks is told of it.
func (b *bench) probe(sdm, what, target string, pids []int, a aims) {
	b.progress("%s", what)
	ours := b.command(sdm, "stacks", target)
	beside := func(name string, blocks int, l limit, line []string) {
		c := compare(blocks, 1, ours, b.command(line...))
		b.table.add(row{what: "sdm stacks of " + what + ", beside " + name, unit: "ms", ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1],
			limit: l})
	}
	ours(1) // so that the files are in memory
	if _, err := exec.LookPath("eu-stack"); err == nil {
		beside("eu-stack, one after another", probeTimes, limit{most: a.whole}, oneByOne("eu-stack -p $p", pids))
	} else {
		took := compare(probeTimes, 1, ours).times[0]
		b.table.add(row{what: "sdm stacks of " + what + ", without eu-stack, which is not installed", unit: "ms", ours: ms(took), limit: limit{most: a.whole}})
	}
	beside("sdm stacks --engine gdb", 1, limit{}, []string{sdm, "stacks", "--engine", "gdb", target})
	beside("gdb, one after another", 1, limit{}, oneByOne("gdb -nx -batch -ex 'thread apply all backtrace' -p $p", pids))
	b.probeServer(what, pids, a)
	b.probeHeld(what, pids, a)
}

// oneByOne returns a command that executes another for each process.
func oneByOne(command string, pids []int) []string {
	return []string{"sh", "-c", "for p in " + strings.ReplaceAll(strings.TrimPrefix(listed(pids), "pids:"), ",", " ") + "; do " + command + "; done"}
}

// command measures a whole command, which must show a stack.
func (b *bench) command(line ...string) way {
	return b.saying(func(out []byte) bool { return bytes.Contains(out, []byte("main")) }, line...)
}

// saying measures a whole command, of which the output must be right.
func (b *bench) saying(right func(out []byte) bool, line ...string) way {
	return timed(func() {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = append(os.Environ(), "SDM_NO_RC=true", "HOME="+b.dir)
		out, err := cmd.Output()
		if line[0] == "sh" { // eu-stack and gdb fail at a frame that they do not understand
			err = nil
		}
		if err != nil || !right(out) {
			fatal(line[0], fmt.Errorf("%w\n%s", err, out))
		}
	})
}

// probeServer measures the first and later samples of a running server, and its memory.
func (b *bench) probeServer(what string, pids []int, a aims) {
	var first []time.Duration
	for i := range probeTimes {
		j := startJob(b.server, 1, len(pids), "--backend", "probe")
		var args protocol.Args
		for i, pid := range pids {
			args.Pids = append(args.Pids, protocol.Pid{Rank: rank.ID(i), PID: pid})
		}
		j.call(session.Call{Command: "attach", Args: args})
		j.stopped(j.all())
		stacks := timed(func() { j.ask(session.Call{Command: "stacks"}) })
		first = append(first, stacks(1))
		if i == probeTimes-1 {
			b.table.add(row{what: "first sample of a server, " + what, unit: "ms", ours: ms(median(first)), limit: limit{most: a.cold}})
			b.table.add(row{what: "later samples, " + what, unit: "ms", ours: ms(stacks(probeRounds)), limit: limit{most: a.warm}})
			// until it has given back what it needs for a sample only, and the first time what its start needs
			time.Sleep(2 * settle)
			stacks(1)
			time.Sleep(2 * settle)
			b.table.add(row{what: "memory (PSS) of that server, 2 s after another sample", unit: "MB", ours: mb(pss(j.servers.PIDs()[0])), limit: limit{most: a.memory}})
		}
		j.close()
	}
}

// startReady starts processes that write a line when they are ready, and end with their standard
// input.
func startReady(n int, program string, args ...string) (pids []int, end func()) {
	var cmds []*exec.Cmd
	for range n {
		cmd := exec.Command(program, args...)
		cmd.Stderr = os.Stderr
		_, err := cmd.StdinPipe()
		var out io.Reader
		if err == nil {
			out, err = cmd.StdoutPipe()
		}
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			_, err = out.Read(make([]byte, 64))
		}
		if err != nil {
			fatal(program, err)
		}
		cmds, pids = append(cmds, cmd), append(pids, cmd.Process.Pid)
	}
	return pids, func() {
		for _, c := range cmds {
			c.Process.Kill()
			c.Wait()
		}
	}
}

// startHung starts an MPI job that hangs. It returns its ranks and its starter.
func (b *bench) startHung(ranks int) (pids []int, starterPID int, end func()) {
	program := filepath.Join(b.dir, "mpihung")
	b.run(compiler, "-g", "-O0", "-o", program, sources+"mpihung.c")
	cmd := exec.Command(starter, "-n", strconv.Itoa(ranks), program)
	cmd.Env = b.starterEnv()
	out := startPiped(cmd, starter)
	for said := 0; said < ranks; {
		text := make([]byte, 4096)
		n, err := out.Read(text)
		if err != nil {
			fatal("the MPI job has ended", err)
		}
		said += bytes.Count(text[:n], []byte("\n"))
	}
	pids = named(family(cmd.Process.Pid), filepath.Base(program))
	slices.Sort(pids)
	if len(pids) != ranks {
		fatal("the MPI job", fmt.Errorf("%d ranks were found", len(pids)))
	}
	return pids, cmd.Process.Pid, func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait() // the exit status is that of a job that was ended
	}
}
