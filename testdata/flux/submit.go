// The commands flux run and flux submit of the stand-in for Flux.

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// spec is a job.
type spec struct {
	Argv    []string
	Env     []string
	Cwd     string
	Tasks   int
	Hosts   []string
	Cyclic  bool
	Held    bool          // -o stop-tasks-in-exec
	Linger  time.Duration // -o rexec-shutdown-timeout
	ID      uint64
	Label   bool
	Verbose int
}

// options reads the options of flux run and flux submit that tests use. As in the real ones, the
// first word without dashes is the program.
func (in *instance) options(word string, args []string) (spec, error) {
	s := spec{Tasks: 1, Linger: 60 * time.Second, Env: os.Environ()}
	s.Cwd, _ = os.Getwd()
	nodes := 0
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		if len(name) > 2 && name[1] != '-' { // -n4
			name, value, joined = name[:2], name[2:], true
		}
		switch name {
		case "--":
			s.Argv = args
			args = nil
			continue
		case "-l", "--label-io":
			s.Label = true
			continue
		case "-v", "--verbose":
			s.Verbose++
			continue
		}
		if !joined {
			if len(args) == 0 {
				return s, fail(2, "flux-%s: error: argument %s: expected one argument", word, name)
			}
			value, args = args[0], args[1:]
		}
		switch name {
		case "-n", "--ntasks":
			s.Tasks, _ = strconv.Atoi(value)
		case "-N", "--nodes":
			nodes, _ = strconv.Atoi(value)
		case "--taskmap":
			s.Cyclic = value == "cyclic"
		case "-o", "--setopt":
			if err := s.shellOption(value); err != nil {
				return s, err
			}
		default:
			return s, fail(2, "flux-%s: error: unrecognized arguments: %s", word, name)
		}
	}
	if len(args) > 0 {
		s.Argv = args
	}
	all := strings.Fields(in.read("hosts"))
	if nodes == 0 {
		nodes = min(len(all), s.Tasks)
	}
	switch {
	case len(s.Argv) == 0:
		return s, fail(1, "flux-%s: ERROR: job command and arguments are missing", word)
	case s.Tasks < nodes || nodes < 1:
		return s, fail(1, "flux-%s: ERROR: node count must not be greater than task count", word)
	case nodes > len(all):
		return s, fail(1, "flux-%s: ERROR: [Errno 22] unsatisfiable request", word)
	}
	s.Hosts = all[:nodes]
	return s, nil
}

func (s *spec) shellOption(text string) error {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "stop-tasks-in-exec":
		s.Held = value == "" || value == "1" || value == "true"
	case "rexec-shutdown-timeout":
		var err error
		if s.Linger, err = time.ParseDuration(value); err != nil {
			return fail(1, "invalid rexec-shutdown-timeout")
		}
	}
	return nil
}

// submit starts a job. flux run becomes flux-job attach, as the real one does.
func (in *instance) submit(word string, args []string) error {
	s, err := in.options(word, args)
	if err != nil {
		return err
	}
	s.ID = uint64(time.Now().UnixNano())
	dir := in.jobDir(s.ID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "spec.json"), text, 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	m := exec.Command(self, "standin-manager", dir)
	m.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	ready, err := m.StdoutPipe() // closed when the manager listens
	if err != nil {
		return err
	}
	if err := m.Start(); err != nil {
		return err
	}
	ready.Read(make([]byte, 1))
	if word == "submit" {
		fmt.Println(f58(s.ID))
		return nil
	}
	if s.Verbose > 0 {
		fmt.Fprintln(os.Stderr, "jobid:", f58(s.ID))
	}
	argv := []string{"flux-job", "attach"}
	if s.Label {
		argv = append(argv, "--label-io")
	}
	return syscall.Exec(filepath.Join(filepath.Dir(self), "flux-job"), append(argv, f58(s.ID)), os.Environ())
}

func (in *instance) jobDir(id uint64) string {
	return filepath.Join(in.dir, "jobs", strconv.FormatUint(id, 10))
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// f58 returns an ID as Flux prints it.
func f58(n uint64) string {
	text := ""
	for {
		text = string(base58[n%58]) + text
		if n /= 58; n == 0 {
			break
		}
	}
	if os.Getenv("FLUX_F58_FORCE_ASCII") != "" {
		return "f" + text
	}
	return "ƒ" + text
}

// parseID reads an ID in decimal or base 58.
func parseID(text string) (uint64, error) {
	tail, is58 := strings.CutPrefix(text, "ƒ")
	if !is58 {
		tail, is58 = strings.CutPrefix(text, "f")
	}
	n := uint64(0)
	if !is58 {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return 0, fail(1, "flux-job: error parsing jobid: \"%s\"", text)
		}
		return n, nil
	}
	for _, c := range tail {
		digit := strings.IndexRune(base58, c)
		if digit < 0 {
			return 0, fail(1, "flux-job: error parsing jobid: \"%s\"", text)
		}
		n = 58*n + uint64(digit)
	}
	return n, nil
}
