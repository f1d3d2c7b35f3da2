// The job shell of the stand-in for Flux: the tasks of one node.

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// task is one task of a node, as the manager tells the shell of the node.
type task struct {
	Rank, Local int
	Argv, Env   []string
	Cwd         string
	Held        bool
}

// report is what a shell tells the manager about a task.
type report struct {
	Rank    int
	PID     int    // it runs, or is held
	Err     bool   // Data is of standard error
	Data    []byte // output
	Over    bool   // it has ended
	Status  int    // as a shell gives it
	Refused string // why it could not be started
}

// shell starts the tasks of one node: the job shell of Flux. Its standard input has the tasks in
// one line, then what all tasks are to read.
func shell() error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var tasks []task
	if err := json.Unmarshal(line, &tasks); err != nil {
		return err
	}
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	tell := func(r report) { mu.Lock(); out.Encode(r); mu.Unlock() }
	var group sync.WaitGroup
	var inputs []io.WriteCloser
	for _, t := range tasks {
		input, err := start(t, tell, &group)
		if err != nil {
			tell(report{Rank: t.Rank, Over: true, Status: 127, Refused: err.Error()})
			continue
		}
		inputs = append(inputs, input)
	}
	go broadcast(in, inputs)
	group.Wait()
	return nil
}

// start starts a task; a held one is stopped by SIGSTOP after its exec, as src/shell/mpir/ptrace.c
// does: the exec stops the traced child, SIGSTOP is sent, and the trace ends.
func start(t task, tell func(report), group *sync.WaitGroup) (io.WriteCloser, error) {
	path, err := exec.LookPath(t.Argv[0])
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: t.Argv, Env: t.Env, Dir: t.Cwd}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Ptrace: t.Held}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, _ := cmd.StdoutPipe()
	stderr, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	if t.Held {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			return nil, fmt.Errorf("task %d unexpectedly exited", t.Rank)
		}
		syscall.Kill(pid, syscall.SIGSTOP)
		if err := syscall.PtraceDetach(pid); err != nil {
			return nil, err
		}
	}
	tell(report{Rank: t.Rank, PID: pid})
	var streams sync.WaitGroup
	for _, s := range []struct {
		from io.Reader
		err  bool
	}{{stdout, false}, {stderr, true}} {
		streams.Go(func() {
			b := make([]byte, 32<<10)
			for {
				n, err := s.from.Read(b)
				if n > 0 {
					tell(report{Rank: t.Rank, Err: s.err, Data: b[:n]})
				}
				if err != nil {
					return
				}
			}
		})
	}
	group.Go(func() {
		streams.Wait()
		cmd.Wait()
		tell(report{Rank: t.Rank, Over: true, Status: statusOf(cmd.ProcessState)})
	})
	return input, nil
}

// statusOf returns an exit status as a shell gives it.
func statusOf(s *os.ProcessState) int {
	if w := s.Sys().(syscall.WaitStatus); w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// broadcast writes all that it reads to all writers, and closes them.
func broadcast(from io.Reader, to []io.WriteCloser) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		for _, w := range to {
			w.Write(b[:n]) // one that has ended does not count
		}
		if err != nil {
			break
		}
	}
	for _, w := range to {
		w.Close()
	}
}

// taskEnv returns the environment of a task (flux-environment(7)). There is no variable with the
// number of tasks of the node.
func (in *instance) taskEnv(s *spec, node, rank, local int) []string {
	tmp := filepath.Join(in.jobDir(s.ID), "tmp")
	os.MkdirAll(tmp, 0o700)
	return append(in.withURI(s.Env, node), "FLUX_JOB_ID="+f58(s.ID), fmt.Sprint("FLUX_JOB_SIZE=", s.Tasks), fmt.Sprint("FLUX_JOB_NNODES=", len(s.Hosts)),
		fmt.Sprint("FLUX_TASK_RANK=", rank), fmt.Sprint("FLUX_TASK_LOCAL_ID=", local), "FLUX_JOB_TMPDIR="+tmp, "FLUX_KVS_NAMESPACE=job-"+strings.TrimPrefix(f58(s.ID), "ƒ"))
}

// nodeOf returns the node of a rank: in blocks, larger ones first, or cyclic.
func (s *spec) nodeOf(rank int) int {
	n := len(s.Hosts)
	if s.Cyclic {
		return rank % n
	}
	big, rest := s.Tasks/n+1, s.Tasks%n
	if rank < big*rest {
		return rank / big
	}
	return rest + (rank-big*rest)/(big-1)
}
