// Taking hold of a starter's job.

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"sdm/backend/gdb"
	"sdm/launch/mpir"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// heldRanks is how many ranks the job has, heldStarts how often it is started,
// each way.
const (
	heldRanks  = 8
	heldStarts = 5
)

// The starter and the compiler of Open MPI, which offers MPIR.
const (
	starter  = "mpirun.openmpi"
	compiler = "mpicc.openmpi"
)

// benchHeld is sdm run of mpirun until all ranks are held and attached, against
// mpirun itself to MPIR_Breakpoint and as many bare gdbs that attach at the same
// time.
func benchHeld(b *bench) {
	for _, name := range []string{starter, compiler} {
		if _, err := exec.LookPath(name); err != nil {
			b.progress("left out: %v", err)
			return
		}
	}
	b.progress("%d ranks of mpirun, %d times each way", heldRanks, heldStarts)
	program, sdm := filepath.Join(b.dir, "ring"), filepath.Join(b.dir, "sdm")
	b.run(compiler, "-g", "-O0", "-o", program, "testdata/programs/ring.c")
	b.run("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", sdm, "./cmd/sdm")
	line := []string{starter, "-n", strconv.Itoa(heldRanks), program}
	env := append(os.Environ(), "OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MPIR_DO_NOT_WARN=1", "SDM_NO_RC=true", "HOME="+b.dir,
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	c := compare(heldStarts, 1,
		func(int) time.Duration { return heldBySDM(sdm, line, env) },
		func(int) time.Duration { return heldByGDBs(line, env) })
	b.table.add(row{what: fmt.Sprintf("%d ranks of mpirun held and attached", heldRanks), unit: "ms",
		ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: limit{ratio: 1.3}})
}

// heldBySDM runs sdm until it has told that all ranks are attached.
func heldBySDM(sdm string, line, env []string) time.Duration {
	began := time.Now()
	cmd := exec.Command(sdm, append([]string{"run", "--format", "ndjson", "--"}, line...)...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		fatal("sdm", err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fatal("sdm", err)
	}
	var attached rank.Set
	lines := bufio.NewReader(out)
	for attached.Len() < heldRanks {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			fatal("sdm ended before its ranks were attached", err)
		}
		var e struct {
			Event  string
			Reason string
			Ranks  rank.Set
		}
		if json.Unmarshal(text, &e) == nil && e.Event == "stopped" && e.Reason == "attached" {
			attached = attached.Union(e.Ranks)
		}
	}
	took := time.Since(began)
	io.WriteString(in, "quit\n")
	in.Close()
	io.Copy(io.Discard, lines)
	cmd.Wait() // how it ends is no matter here
	return took
}

// heldByGDBs brings mpirun to its breakpoint and then attaches to its ranks.
func heldByGDBs(line, env []string) time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	began := time.Now()
	l := mpir.New(mpir.Spec{Argv: line, Env: env})
	table, err := l.Acquire(ctx, func(string) {})
	if err != nil {
		fatal(starter, err)
	}
	gdbs := make([]*exec.Cmd, len(table))
	var all sync.WaitGroup
	for i, p := range table {
		all.Go(func() { gdbs[i] = attachLean(p) })
	}
	all.Wait()
	took := time.Since(began)
	l.Stop()
	for _, g := range gdbs {
		syscall.Kill(-g.Process.Pid, syscall.SIGKILL)
		g.Wait()
	}
	if err := l.End(ctx); err != nil {
		fatal(starter, err)
	}
	return took
}

// attachLean is a gdb with the settings of ours that attaches to a process.
func attachLean(p protocol.Process) *exec.Cmd {
	args := gdb.Config{}.CommandLine()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		fatal("bare gdb", err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fatal("bare gdb", err)
	}
	fmt.Fprintf(in, "-target-attach %d\n-thread-info\n", p.PID)
	lines := bufio.NewReader(out)
	for stopped, done := false, 0; !stopped || done < 2; {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			fatal("bare gdb ended", err)
		}
		stopped = stopped || bytes.HasPrefix(text, []byte("*stopped"))
		if bytes.HasPrefix(text, []byte("^done")) {
			done++
		}
	}
	return cmd
}
