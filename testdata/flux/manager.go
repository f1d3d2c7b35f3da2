// The process that runs one job of the stand-in for Flux.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// request is what a command asks the manager of a job.
type request struct {
	Op     string // hostpids, held, kill, cancel, tool, stdin
	Signal syscall.Signal
	PID    int // of a process that flux exec has started
}

// answer is empty, a text, or an error.
type answer struct{ Text, Err string }

// manager is the process that runs one job.
type manager struct {
	in   *instance
	dir  string
	spec spec

	mu       sync.Mutex
	pids     []int // by rank; 0: not there yet
	living   int
	status   int
	tools    []int
	started  chan struct{}    // closed when all tasks are there, or the job has failed
	isOver   chan struct{}    // closed when all tasks have ended
	begun    chan struct{}    // closed when inputs is complete
	inputs   []io.WriteCloser // of the shells
	out, err *os.File
}

// manage runs a job to its end.
func manage(dir string) error {
	m := &manager{in: &instance{filepath.Dir(filepath.Dir(dir))}, dir: dir, begun: make(chan struct{}),
		started: make(chan struct{}), isOver: make(chan struct{})}
	text, err := os.ReadFile(filepath.Join(dir, "spec.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &m.spec); err != nil {
		return err
	}
	m.pids, m.living = make([]int, m.spec.Tasks), m.spec.Tasks
	m.out, _ = os.Create(filepath.Join(dir, "out"))
	m.err, _ = os.Create(filepath.Join(dir, "err"))
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		return err
	}
	os.Stdout.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(c)
		}
	}()
	var shells sync.WaitGroup
	for i := range m.spec.Hosts {
		if err := m.startShell(i, &shells); err != nil {
			return err
		}
	}
	close(m.begun)
	shells.Wait()
	m.endTools()
	l.Close()
	return os.WriteFile(filepath.Join(dir, "status"), []byte(fmt.Sprint(m.status)), 0o600)
}

func (m *manager) startShell(node int, shells *sync.WaitGroup) error {
	var tasks []task
	for rank := range m.spec.Tasks {
		if m.spec.nodeOf(rank) == node {
			tasks = append(tasks, task{Rank: rank, Local: len(tasks), Argv: m.spec.Argv, Cwd: m.spec.Cwd, Held: m.spec.Held,
				Env: m.in.taskEnv(&m.spec, node, rank, len(tasks))})
		}
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	argv := m.in.on(m.spec.Hosts[node], []string{self, "standin-shell"})
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = m.err
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		return err
	}
	json.NewEncoder(in).Encode(tasks)
	m.inputs = append(m.inputs, in)
	shells.Go(func() {
		lines := json.NewDecoder(out)
		for {
			var r report
			if lines.Decode(&r) != nil {
				break
			}
			m.take(r)
		}
		cmd.Wait()
	})
	return nil
}

// take records what a shell tells.
func (m *manager) take(r report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.PID != 0 {
		m.pids[r.Rank] = r.PID
		for _, pid := range m.pids {
			if pid == 0 {
				return
			}
		}
		close(m.started)
	}
	if r.Data != nil {
		to := m.out
		if r.Err {
			to = m.err
		}
		if !m.spec.Label {
			to.Write(r.Data)
			return
		}
		for line := range bytes.Lines(r.Data) {
			fmt.Fprintf(to, "%d: %s", r.Rank, line)
		}
	}
	if r.Refused != "" {
		go m.kill(syscall.SIGKILL) // the others
		fmt.Fprintf(m.err, "flux-shell[0]: FATAL: task %d (host %s): start failed: %s: %s\n", r.Rank, m.spec.Hosts[m.spec.nodeOf(r.Rank)], m.spec.Argv[0], r.Refused)
	}
	if r.Over {
		m.status = max(m.status, r.Status)
		if m.living--; m.living == 0 {
			close(m.isOver)
		}
	}
}

// serve answers one request.
func (m *manager) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	line, err := in.ReadBytes('\n')
	var q request
	if err != nil || json.Unmarshal(line, &q) != nil {
		return
	}
	var a answer
	switch q.Op {
	case "hostpids", "held":
		select {
		case <-m.started:
			a.Text = m.hostpids()
		case <-m.isOver:
			a.Err = "job has ended"
		}
		if q.Op == "held" && !m.spec.Held {
			<-m.isOver
			a.Err = "event 'shell.start' never received"
		}
	case "kill":
		m.kill(q.Signal)
	case "cancel":
		fmt.Fprintln(m.err, "job.exception type=cancel severity=0")
		m.kill(syscall.SIGTERM)
		go func() {
			select {
			case <-m.isOver:
			case <-time.After(5 * time.Second): // the default of exec.kill-timeout
				m.kill(syscall.SIGKILL)
			}
		}()
	case "tool":
		m.mu.Lock()
		if q.PID != 0 {
			m.tools = append(m.tools, q.PID)
		}
		m.mu.Unlock()
	case "stdin":
		<-m.begun
		broadcast(in, m.inputs)
	}
	json.NewEncoder(c).Encode(a)
}

func (m *manager) hostpids() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for rank, pid := range m.pids {
		all = append(all, fmt.Sprintf("%s:%d", m.spec.Hosts[m.spec.nodeOf(rank)], pid))
	}
	return strings.Join(all, ",")
}

func (m *manager) kill(sig syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, pid := range m.pids {
		if pid != 0 {
			syscall.Kill(-pid, sig)
		}
	}
}

// endTools ends what flux exec has started: SIGTERM, and SIGKILL after rexec-shutdown-timeout. The
// job does not end before.
func (m *manager) endTools() {
	m.mu.Lock()
	tools := m.tools
	m.mu.Unlock()
	for _, pid := range tools {
		syscall.Kill(pid, syscall.SIGTERM)
	}
	late := time.Now().Add(m.spec.Linger)
	for _, pid := range tools {
		for alive(pid) {
			if time.Now().After(late) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// alive reports whether a process runs.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(state, "Z")
}

// ask asks the manager of a job. inactive is the error if the job has ended.
func (in *instance) ask(id uint64, q request, inactive error) (answer, error) {
	c, err := net.Dial("unix", filepath.Join(in.jobDir(id), "socket"))
	if err != nil {
		if _, err := os.Stat(in.jobDir(id)); errors.Is(err, os.ErrNotExist) {
			return answer{}, fail(1, "flux-job: %s: No such job", f58(id))
		}
		return answer{}, inactive
	}
	defer c.Close()
	json.NewEncoder(c).Encode(q)
	var a answer
	if err := json.NewDecoder(c).Decode(&a); err != nil {
		return a, inactive
	}
	if a.Err != "" {
		return a, fail(1, "flux-job: %s", a.Err)
	}
	return a, nil
}
