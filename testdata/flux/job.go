// The command flux job of the stand-in for Flux.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// job executes flux job WORD.
func (in *instance) job(args []string) error {
	if len(args) < 2 {
		return fail(1, "Usage: flux-job COMMAND JOBID")
	}
	id, err := parseID(args[len(args)-1])
	if args[0] == "wait-event" { // its last word is the event
		id, err = parseID(args[len(args)-2])
	}
	if err != nil {
		return err
	}
	switch args[0] {
	case "attach":
		return in.attach(id, args[1:len(args)-1])
	case "hostpids":
		if in.before(0, 60) {
			return fail(1, "flux-job: Unknown command: hostpids")
		}
		a, err := in.within(args, id, "hostpids", "flux-job: hostpids: timeout waiting for shell.start event")
		if err == nil {
			fmt.Println(a.Text)
		}
		return err
	case "wait-event":
		if args[len(args)-1] != "shell.start" || !strings.Contains(strings.Join(args, " "), "-m sync=true") {
			return fail(1, "flux-job: wait-event: the stand-in knows shell.start with -m sync=true only")
		}
		_, err := in.within(args, id, "held", "flux-job: wait-event timeout on event 'shell.start'")
		if err == nil {
			fmt.Printf("%.6f shell.start sync=true\n", float64(time.Now().UnixNano())/1e9)
		}
		return err
	case "kill":
		sig, err := signalOf(args[1 : len(args)-1])
		if err != nil {
			return err
		}
		_, err = in.ask(id, request{Op: "kill", Signal: sig}, fail(1, "flux-job: kill %s: job is inactive", f58(id)))
		return err
	}
	return fail(1, "flux-job: Unknown command: %s", args[0])
}

// within asks for something that comes with the start of the job, within -t DURATION.
func (in *instance) within(args []string, id uint64, op, late string) (answer, error) {
	for i, word := range args {
		if word == "-t" && i+1 < len(args) {
			d, err := time.ParseDuration(args[i+1])
			if err != nil {
				return answer{}, fail(1, "flux-job: %s: invalid duration", args[i+1])
			}
			time.AfterFunc(d, func() { fmt.Fprintln(os.Stderr, late); os.Exit(1) })
		}
	}
	return in.ask(id, request{Op: op}, fail(1, "flux-job: %s: job %s is inactive", op, f58(id)))
}

// signals are the names that tests use.
var signals = map[string]syscall.Signal{"CONT": syscall.SIGCONT, "KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM,
	"USR1": syscall.SIGUSR1}

func signalOf(args []string) (syscall.Signal, error) {
	if len(args) == 0 {
		return syscall.SIGTERM, nil
	}
	name := strings.TrimPrefix(args[len(args)-1], "SIG")
	if n, err := strconv.Atoi(name); err == nil {
		return syscall.Signal(n), nil
	}
	if sig, ok := signals[name]; ok {
		return sig, nil
	}
	return 0, fail(1, "flux-job: kill: Invalid signal %s", name)
}

func (in *instance) cancel(args []string) error {
	for _, text := range args {
		id, err := parseID(text)
		if err != nil {
			return err
		}
		if _, err := in.ask(id, request{Op: "cancel"}, fail(1, "flux-cancel: %s: job is inactive", text)); err != nil {
			return err
		}
	}
	return nil
}

// attach passes on the output of a job, its own input to all ranks, and signals, until the job has
// ended; its status is the job's.
func (in *instance) attach(id uint64, options []string) error {
	dir := in.jobDir(id)
	if _, err := os.Stat(dir); err != nil {
		return fail(1, "flux-job: Failed to attach to %s: No such job", f58(id))
	}
	readOnly := strings.Contains(strings.Join(options, " "), "--read-only")
	forwarded := make(chan os.Signal, 8)
	signal.Notify(forwarded, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGALRM, syscall.SIGUSR1, syscall.SIGUSR2,
		syscall.SIGINT)
	if !readOnly {
		go in.forwardInput(id)
	}
	out, _ := os.Open(filepath.Join(dir, "out"))
	err, _ := os.Open(filepath.Join(dir, "err"))
	again := time.NewTicker(5 * time.Millisecond)
	var interrupted time.Time
	for {
		status, over := os.ReadFile(filepath.Join(dir, "status"))
		for from, to := range map[*os.File]*os.File{out: os.Stdout, err: os.Stderr} {
			if from != nil {
				io.Copy(to, from)
			}
		}
		if over == nil && len(status) > 0 {
			n, _ := strconv.Atoi(string(status))
			return fail(n, "")
		}
		select {
		case s := <-forwarded:
			if s != syscall.SIGINT {
				if !readOnly {
					in.ask(id, request{Op: "kill", Signal: s.(syscall.Signal)}, nil)
				}
				continue
			}
			if time.Since(interrupted) < 2*time.Second {
				in.ask(id, request{Op: "cancel"}, nil)
			}
			interrupted = time.Now()
			fmt.Fprintln(os.Stderr, "flux-job: one more ctrl-C within 2s to cancel or ctrl-Z to detach")
		case <-again.C:
			for i, f := range []**os.File{&out, &err} { // made by the manager
				if *f == nil {
					*f, _ = os.Open(filepath.Join(dir, []string{"out", "err"}[i]))
				}
			}
		}
	}
}

func (in *instance) forwardInput(id uint64) {
	c, err := net.Dial("unix", filepath.Join(in.jobDir(id), "socket"))
	if err != nil {
		return
	}
	defer c.Close()
	json.NewEncoder(c).Encode(request{Op: "stdin"})
	io.Copy(c, os.Stdin)
}
