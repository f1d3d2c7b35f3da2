package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/launch/launchtest"
)

// fluxScene is a scene with the stand-in for Flux (testdata/flux), whose nodes are fake hosts. The
// first one is the login node, too.
type fluxScene struct {
	*scene
	hosts    *launchtest.Hosts
	instance string // its folder
}

func newFlux(t *testing.T, h *launchtest.Hosts, nodes int) *fluxScene {
	t.Helper()
	s := &fluxScene{scene: newScene(t), hosts: h}
	s.instance = filepath.Join(s.dir, "flux")
	if err := os.MkdirAll(s.instance, 0o700); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range nodes {
		names = append(names, h.Host(i))
	}
	s.set("hosts", strings.Join(names, "\n"))
	s.set("on", filepath.Join(launchtest.Scripts(), "on"))
	s.set("version", "0.84.0")
	s.set("owner", "1") // the system's instance
	if err := os.Symlink("flux", fluxProgram()+"-job"); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	s.env = append(s.env, "FLUX_URI=local://"+s.instance, "PATH="+filepath.Dir(fluxProgram())+":"+bench+":"+os.Getenv("PATH"))
	return s
}

// fluxProgram returns the path of the stand-in.
func fluxProgram() string { return program("flux/flux") }

// set writes a file of the instance.
func (s *fluxScene) set(name, text string) { s.file(filepath.Join("flux", name), text+"\n", 0o600) }

// flux executes a command of Flux on the login node.
func (s *fluxScene) flux(args ...string) *process {
	s.t.Helper()
	argv := s.hosts.Argv(0, append([]string{fluxProgram()}, args...)...)
	p := s.start(argv[0], argv[1:]...)
	p.name = "flux " + args[0]
	return p
}

// submit starts a job and returns its ID as Flux shows it.
func (s *fluxScene) submit(args ...string) string {
	s.t.Helper()
	p := s.flux(append([]string{"submit"}, args...)...)
	p.exits(0)
	return strings.TrimSpace(p.out.text())
}

func (s *fluxScene) sdm(size int, args ...string) *console {
	s.t.Helper()
	return &console{process: s.on(s.hosts, 0, "sdm", args...), size: size}
}

// taskRank is a command that prints the rank which Flux has given to a process.
const taskRank = `print (int)atoi((char*)getenv("FLUX_TASK_RANK"))`

// TestFlux attaches to jobs of Flux on three nodes and has flux run hold them. Flux is a stand-in.
func TestFlux(t *testing.T) {
	t.Parallel()
	h := launchtest.Up(t, 3)
	t.Run("attach", func(t *testing.T) {
		s := newFlux(t, h, 3)
		id := s.submit("-n", "6", "-N", "3", "--taskmap=cyclic", program("spin"))
		plain := strings.Replace(id, "ƒ", "f", 1)
		front := s.sdm(6, "attach", "-b", "-e", taskRank, "-e", "info hosts", "-e", "stacks", "flux:"+id)
		front.exits(0)
		front.says("(int)atoi((char*)getenv(\"FLUX_TASK_RANK\")) = 0..5", "(6) main spin.c:", "[0,3] (2) "+h.Host(0)+":", "[1,4] (2) "+h.Host(1)+":", "[2,5] (2) "+h.Host(2)+":")
		some := s.sdm(2, "attach", "-b", "-r", "1,2", "-e", taskRank, "flux:"+plain)
		some.exits(0)
		some.says("[1] ", `")) = 1`+"\n", `")) = 2`+"\n")
		stacks := s.sdm(6, "stacks", "--engine", "probe", "flux:"+filepath.Base(s.job()))
		stacks.exits(0)
		stacks.says("[0-5] (6) ", "main spin.c:")
		attach := s.flux("job", "attach", id)
		s.eventually(patience, func() string { // the command that enters the host has become flux
			if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", attach.cmd.Process.Pid)); filepath.Base(exe) != "flux" {
				return "flux job attach has not started"
			}
			return ""
		})
		byPID := s.sdm(6, "attach", "--format", "ndjson", fmt.Sprint(attach.cmd.Process.Pid))
		byPID.standing()
		byPID.do("set var stop = 1")
		byPID.do("continue &")
		attach.exits(0) // the servers have gone with the job, though the session goes on
		byPID.quit()
	})
	t.Run("run", func(t *testing.T) {
		s := newFlux(t, h, 3)
		front := s.sdm(4, "run", "-b", "-e", "print argc", "-e", taskRank, "-e", "continue",
			"--", "flux", "run", "-n", "4", "-N", "2", program("exitcode"), "3")
		front.exits(3)
		front.says("argc = 2", `[0] (int)atoi((char*)getenv("FLUX_TASK_RANK")) = 0`, `[3] (int)atoi((char*)getenv("FLUX_TASK_RANK")) = 3`)
		front.folded("exited with code 3", "")
	})
	t.Run("run some ranks, in part without us", func(t *testing.T) {
		s := newFlux(t, h, 3)
		front := s.sdm(1, "run", "-b", "-r", "1", "--stop-at", "entry", "-e", "break main", "-e", "continue", "-e", "delete", "-e", "continue", "--launcher", "flux", "-n", "2", program("hello"))
		front.exits(0)
		front.says("[1] exited normally")
		if n := strings.Count(front.out.text(), "hello from rank 0 of 1\n"); n != 2 {
			t.Errorf("%d ranks have said hello%s", n, front.said())
		}
	})
	t.Run("quit ends the job", func(t *testing.T) {
		s := newFlux(t, h, 3)
		front := s.sdm(3, "run", "--format", "ndjson", "--", "flux", "run", "-n", "3", program("spin"))
		front.standing()
		front.do("continue &")
		front.quit()
	})
	t.Run("sdm is killed", func(t *testing.T) {
		s := newFlux(t, h, 3)
		front := s.sdm(3, "run", "--format", "ndjson", "--", "flux", "run", "-n", "3", program("spin"))
		front.standing()
		front.signal(syscall.SIGKILL)
		front.status(patience)
		s.over()
	})
	t.Run("sdm is killed before there are servers", func(t *testing.T) {
		s := newFlux(t, h, 3)
		s.file("held", "", 0o600)
		// The command that tells the ranks never ends.
		hangs := filepath.Join(s.dir, "bin")
		if err := os.Mkdir(hangs, 0o700); err != nil {
			t.Fatal(err)
		}
		s.file("bin/flux", "#!/bin/sh\n[ \"$2\" != hostpids ] || { echo >"+s.dir+"/asked; exec sleep 1000; }\nexec "+fluxProgram()+" \"$@\"\n", 0o700)
		s.env = append(s.env, "PATH="+hangs+":"+filepath.Dir(fluxProgram())+":"+os.Getenv("PATH"))
		front := s.sdm(3, "run", "--format", "ndjson", "--", "flux", "run", "-n", "3", program("spin"))
		s.eventually(patience, func() string {
			if _, err := os.Stat(filepath.Join(s.dir, "asked")); err != nil {
				return "the ranks were not asked for"
			}
			return ""
		})
		front.signal(syscall.SIGKILL)
		front.status(patience)
		s.over()
		for _, p := range s.named("sleep") {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	})
	if *allWays {
		t.Run("staged", func(t *testing.T) {
			s := newFlux(t, h, 3)
			id := s.submit("-n", "3", program("spin"))
			front := &console{process: s.on(h, 0, unraced("sdm"), "attach", "--stage", "/tmp/node", "--format", "ndjson", "flux:"+id), size: 3}
			front.standing()
			if n := s.stagedServers(); n != 3 {
				t.Errorf("%d servers run from node-local storage%s", n, front.said())
			}
			front.do("set var stop = 1")
			front.do("continue")
			front.quit()
			s.nothingStaged(h, 0, 1, 2)
		})
	}
	if *allWays {
		t.Run("refusals", func(t *testing.T) {
			s := newFlux(t, h, 3)
			id := s.submit("-n", "3", program("spin"))
			attach := func(status int, target string, args ...string) *console {
				front := s.sdm(3, append(append([]string{"attach", "-b", "-e", "stacks"}, args...), target)...)
				front.exits(status)
				return front
			}
			s.set("version", "0.83.0")
			attach(3, "flux:"+id).says("release 0.83 of Flux does not let users start processes beside jobs of the system (flux exec --jobid can from 0.84 on;")
			attach(0, "flux:"+id, "--remote-shell", filepath.Join(launchtest.Scripts(), "remsh")).says("[0-2] (3) main spin.c:")
			s.set("owner", strconv.Itoa(os.Getuid())) // as in flux alloc
			front := attach(0, "flux:"+id, "-e", "set var stop = 1")
			front.says("[0-2] (3) main spin.c:")
			s.set("version", "0.59.0")
			attach(3, "flux:"+id).says("release 0.59 of Flux does not tell where the ranks of a job are")
			s.set("version", "0.84.0")
			s.over()
			attach(3, "flux:"+id).says("job " + id + " is inactive")
			attach(3, "flux:f21").says("No such job")
			attach(2, "flux:12.0").says(`"12.0" is no job of Flux`)
			for line, want := range map[string]string{
				"flux batch x":                    "flux batch: sdm takes control of a job of flux run",
				"--launcher slot -- flux run x":   "--launcher slot: flux run holds its ranks itself",
				"--env A=B -- flux run x":         "--env and --cwd: Flux decides what its ranks get",
				"--launcher flux -n 1 a : -n 1 b": "flux run starts one program",
			} {
				bad := s.sdm(1, append([]string{"run"}, strings.Fields(line)...)...)
				bad.exits(2)
				bad.says(want)
			}
			bad := s.sdm(1, "run", "-b", "-e", "continue", "--", "flux", "run", "-n", "2", "/nonexistent")
			bad.exits(3)
			bad.says("start failed: /nonexistent", "flux run has ended with status 127 before its ranks were there")
		})
	}
}

// job returns the folder of the latest job.
func (s *fluxScene) job() string {
	s.t.Helper()
	all, _ := filepath.Glob(filepath.Join(s.instance, "jobs", "*")) // the pattern is valid
	if len(all) == 0 {
		s.t.Fatal("there is no job")
	}
	return all[len(all)-1]
}

// over waits for the end of the latest job.
func (s *fluxScene) over() {
	s.t.Helper()
	s.eventually(patience, func() string {
		if _, err := os.Stat(filepath.Join(s.job(), "status")); err != nil {
			return "the job runs on"
		}
		return ""
	})
}

// stagedServers returns how many servers run from node-local storage.
func (s *scene) stagedServers() (n int) {
	for _, p := range s.found() {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid))
		custodian := p.name == "ranks-custodian" // each server has one, of the same file
		if !custodian && strings.HasPrefix(exe, "/tmp/node/sdm-server-") && strings.HasSuffix(exe, " (deleted)") {
			n++
		}
	}
	return n
}
