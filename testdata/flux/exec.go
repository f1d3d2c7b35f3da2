// The command flux exec of the stand-in for Flux.

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// exec executes flux exec --jobid=JOB [-r IDS] [-l] [-n] CMD: one process on each node of the job.
func (in *instance) exec(args []string) error {
	var jobID, ranks string
	var label, noInput bool
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		switch name {
		case "-l", "--label-io":
			label = true
			continue
		case "-n", "--noinput":
			noInput = true
			continue
		}
		if !joined && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch name {
		case "-j", "--jobid":
			jobID = value
		case "-r", "--rank":
			ranks = value
		default:
			return fail(1, "flux-exec: unrecognized option '%s'", name)
		}
	}
	if jobID == "" || len(args) == 0 {
		return fail(1, "Usage: flux-exec [OPTIONS] --jobid=JOBID COMMAND...")
	}
	id, err := parseID(jobID)
	if err != nil {
		return err
	}
	x := &tools{in: in, label: label}
	return x.run(id, ranks, noInput, args)
}

// tools are the processes of one flux exec.
type tools struct {
	in     *instance
	label  bool
	mu     sync.Mutex // for the output and status
	status int
	all    []*exec.Cmd
	group  sync.WaitGroup
}

func (x *tools) run(id uint64, ranks string, noInput bool, argv []string) error {
	var s spec
	text, err := os.ReadFile(filepath.Join(x.in.jobDir(id), "spec.json"))
	if err != nil {
		return fail(1, "flux-exec: job %s not found", f58(id))
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	nodes, err := someOf(ranks, len(s.Hosts))
	if err != nil {
		return err
	}
	if x.in.isGuest() && x.in.before(0, 84) {
		for _, i := range nodes {
			fmt.Fprintf(os.Stderr, "flux-exec: Error: rank %d: %s: Operation not permitted\n", i, argv[0])
		}
		return fail(126, "")
	}
	if _, err := x.in.ask(id, request{Op: "tool"}, fail(1, "flux-exec: job %s is not currently running", f58(id))); err != nil {
		return err
	}
	var inputs []io.WriteCloser
	for _, i := range nodes {
		input, err := x.start(id, i, s.Hosts[i], argv)
		if err != nil {
			return err
		}
		if input != nil {
			inputs = append(inputs, input)
		}
	}
	told := make(chan os.Signal, 4)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		for sig := range told {
			for _, cmd := range x.all {
				cmd.Process.Signal(sig)
			}
		}
	}()
	from := io.Reader(os.Stdin)
	if noInput {
		from = strings.NewReader("")
	}
	go broadcast(from, inputs)
	x.group.Wait()
	return fail(x.status, "")
}

// start starts the process of one node.
func (x *tools) start(id uint64, node int, host string, argv []string) (io.WriteCloser, error) {
	if slices.Contains(strings.Fields(x.in.read("gone")), host) {
		fmt.Fprintf(os.Stderr, "flux-exec: Error: rank %d: %s: No route to host\n", node, argv[0])
		x.status = max(x.status, 68)
		return nil, nil
	}
	line := x.in.on(host, argv)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = x.in.withURI(os.Environ(), node)
	// The real one kills them when flux exec is killed, because its connection is gone.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, _ := cmd.StdoutPipe()
	stderr, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "flux-exec: Error: rank %d: %s: No such file or directory\n", node, argv[0])
		x.status = max(x.status, 127)
		return nil, nil
	}
	x.all = append(x.all, cmd)
	x.in.ask(id, request{Op: "tool", PID: cmd.Process.Pid}, nil)
	var streams sync.WaitGroup
	streams.Go(func() { x.pass(node, stdout, os.Stdout) })
	streams.Go(func() { x.pass(node, stderr, os.Stderr) })
	x.group.Go(func() {
		streams.Wait()
		cmd.Wait()
		status := statusOf(cmd.ProcessState)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.status = max(x.status, status)
		if w := cmd.ProcessState.Sys().(syscall.WaitStatus); w.Signaled() {
			fmt.Fprintf(os.Stderr, "%d: %s\n", node, w.Signal())
		} else if status > 0 {
			fmt.Fprintf(os.Stderr, "%d: Exit %d\n", node, status)
		}
	})
	return input, nil
}

// pass passes on one stream, with labels in front of its lines.
func (x *tools) pass(node int, from io.Reader, to io.Writer) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		x.mu.Lock()
		if x.label && line != "" {
			fmt.Fprintf(to, "%d: ", node)
		}
		io.WriteString(to, line)
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// someOf reads a set of nodes such as 0,2-3; "" is all of n.
func someOf(text string, n int) (nodes []int, err error) {
	if text == "" {
		text = fmt.Sprintf("0-%d", n-1)
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || from > to || to >= n {
			return nil, fail(1, "flux-exec: One or more invalid --ranks specified: %s", text)
		}
		for i := from; i <= to; i++ {
			nodes = append(nodes, i)
		}
	}
	return nodes, nil
}

// before reports whether the instance has an older release.
func (in *instance) before(major, minor int) bool {
	var a, b int
	fmt.Sscanf(in.read("version"), "%d.%d", &a, &b)
	return a < major || a == major && b < minor
}
