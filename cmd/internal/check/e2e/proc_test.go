package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// proc is a live process, as the kernel shows it (proc(5)).
type proc struct {
	pid, parent, tracer int
	name                string // at most 15 bytes
	state               string // "R", "S", "T", ...
}

func (p proc) String() string { return fmt.Sprintf("%s (%d, state %s)", p.name, p.pid, p.state) }

// held reports whether the process is stopped or traced.
func (p proc) held() bool { return p.tracer != 0 || p.state == "T" || p.state == "t" }

// found returns the live processes of the scene.
func (s *scene) found() []proc {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
	wanted := []byte(s.env[0] + "\x00")
	var all []proc
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(env, wanted) {
			continue // of others, or ended meanwhile; a zombie has none
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if p := look(pid); p.state != "" && p.state != "Z" && p.state != "X" {
			all = append(all, p)
		}
	}
	return all
}

// named returns the processes of the scene with a name.
func (s *scene) named(name string) []proc {
	var some []proc
	for _, p := range s.found() {
		if p.name == name {
			some = append(some, p)
		}
	}
	return some
}

// look returns what the kernel knows of a process; if there is none, state is "".
func look(pid int) proc {
	p := proc{pid: pid}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch key {
		case "Name":
			p.name = value
		case "State":
			p.state, _, _ = strings.Cut(value, " ")
		case "PPid":
			p.parent, _ = strconv.Atoi(value)
		case "TracerPid":
			p.tracer, _ = strconv.Atoi(value)
		}
	}
	return p
}
