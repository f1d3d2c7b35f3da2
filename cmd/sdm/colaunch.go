package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sdm/launch"
	"sdm/launch/mpir"
	"sdm/launch/ssh"
	"sdm/launch/stage"
)

// hostWords and hostVars are the options and environment variables that name further hosts for a
// starter's job. From them sdm guesses the best way to start the servers. If the guess is wrong,
// another way is tried.
var (
	hostWords = []string{"-H", "-host", "--host", "-hostfile", "--hostfile", "-machinefile", "--machinefile", "-default-hostfile", "--default-hostfile"}
	hostVars  = []string{"PBS_NODEFILE", "LSB_HOSTS", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile", "SLURM_JOB_NODELIST"}
)

// spansHosts reports whether the starter should start the servers itself, one on each node, by the
// Tool Daemon Launch Extension of MPIR. On other hosts this needs nothing that the job does not
// need. Explicit options of the user take precedence.
func (o *options) spansHosts() bool {
	if o.startTool != "" || o.remoteShell != "" || o.only != "" {
		return false
	}
	for _, word := range o.args {
		name, _, _ := strings.Cut(word, "=")
		if slices.Contains(hostWords, name) {
			return true
		}
	}
	return slices.ContainsFunc(hostVars, func(name string) bool { return o.lookup(name) != "" })
}

// daemonLine returns the command line of the server that a starter starts on each node.
func (o *options) daemonLine(s *slots) ([]string, error) {
	server, err := o.nodeServer(s)
	return append(server, "--by-host", "--like-ranks"), err
}

// scriptFor writes the command line of a server to a script, for starters that accept no arguments
// for it, or fewer. The script is in the directory of the secret, which the same hosts must read.
func (o *options) scriptFor(s *slots, line []string) (string, error) {
	path, err := o.secretPath()
	if err == nil {
		s.script, err = stage.Script(filepath.Dir(path), s.session, ssh.QuoteAll(line))
	}
	if err != nil {
		return "", fmt.Errorf("the command line of the servers does not fit, and cannot stand in a file in %s: %w", filepath.Dir(path), err)
	}
	return s.script, nil
}

func (s *slots) dropScript() {
	if s.script != "" {
		os.Remove(s.script)
		s.script = ""
	}
}

// offer passes the server's command line to the starter by fill (mpir.CoLaunch or the like). If the
// line is too long for the starter's variables, it passes a script instead.
func (o *options) offer(s *slots, fill func(path string, args []string) error) error {
	line, err := o.daemonLine(s)
	if err != nil {
		return err
	}
	err = fill(line[0], line[1:])
	if !errors.Is(err, mpir.ErrNoRoom) {
		return err
	}
	script, err := o.scriptFor(s, line)
	if err != nil {
		return err
	}
	return fill(script, nil)
}

// coLaunch returns a function that writes into the starter's memory what to start on each node.
func (h *held) coLaunch(p *plan) func(mpir.Memory) {
	s, err := openSlots(p, true)
	if err != nil {
		h.refuse = err
		return nil
	}
	h.come = s
	return func(m mpir.Memory) {
		err := p.o.offer(s, func(path string, args []string) error { return mpir.CoLaunch(m, path, args) })
		h.mu.Lock()
		defer h.mu.Unlock()
		h.refuse = err
	}
}

// comes returns the rendezvous of the servers that the starter has started. If it starts none,
// comes returns nil and the reason, and the caller tries another way.
func (h *held) comes(p *plan) (*slots, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse == nil {
		return h.come, nil
	}
	p.log.Info("the starter does not start our servers", "why", h.refuse)
	if h.come != nil {
		h.come.close(nil, p.o, false)
		h.come = nil
	}
	return nil, h.refuse
}

// coAttach lets the starter of a running job start the servers on its nodes, if the starter can and
// the user has not chosen another way.
func (o *options) coAttach(p *plan, j job, holder launch.Launcher) job {
	starter, ok := holder.(*mpir.Attach)
	nodes := j.whole.Nodes()
	if !ok || o.startTool != "" || o.remoteShell != "" || len(nodes) == 1 && isHere(nodes[0].Host) {
		return j
	}
	if len(nodes) > len(j.table.Nodes()) { // the starter would start servers on all
		return o.besideInSlurm(j, starter.StarterPID())
	}
	s, err := openSlots(p, true)
	if err == nil {
		if err = o.offer(s, starter.CoLaunch); err == nil {
			j.coming = s
			return j
		}
		s.close(nil, o, false)
	}
	p.log.Info("the starter does not start our servers", "why", err)
	j.passed = err
	return o.besideInSlurm(j, starter.StarterPID())
}

// besideInSlurm lets srun start the servers if the starter runs in a job of Slurm, whose nodes may
// refuse ssh.
func (o *options) besideInSlurm(j job, starter int) job {
	if id := launch.SlurmJobOf(starter); id != "" {
		o.useSlurm()
		j.id = id
	}
	return j
}
