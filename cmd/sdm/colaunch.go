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

// hostWords are the options and the variables that name further hosts for a
// starter's job. It is a guess about which way to start our servers is the best:
// where it is wrong, another one is taken.
var (
	hostWords = []string{"-H", "-host", "--host", "-hostfile", "--hostfile", "-machinefile", "--machinefile", "-default-hostfile", "--default-hostfile"}
	hostVars  = []string{"PBS_NODEFILE", "LSB_HOSTS", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile", "SLURM_JOB_NODELIST"}
)

// spansHosts tells whether a starter shall start our servers itself, one a node,
// by the Tool Daemon Launch Extension: on other hosts that needs nothing which the
// job does not need. What the person has said goes before.
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

// daemonLine is the server that a starter starts on each of its nodes.
func (o *options) daemonLine(s *slots) ([]string, error) {
	server, err := o.nodeServer(s)
	return append(server, "--by-host", "--like-ranks"), err
}

// scriptFor makes a program of a server's line, for starters that take no arguments
// for it, or not as many. It stands beside the secret, which has to be read on the
// same hosts.
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

// offer has a starter start our servers, by fill: mpir.CoLaunch or what is like it. A
// line that its variables have no room for goes by a file.
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

// coLaunch writes into the starter's memory what it shall start on each node.
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

// comes gives the place where the servers register that the starter has started;
// nil if it starts none, with the reason, and then the next way is taken.
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

// coAttach has the starter of a running job start our servers on its nodes, where it
// can and nothing else was asked for.
func (o *options) coAttach(p *plan, j job, holder launch.Launcher) job {
	starter, ok := holder.(*mpir.Attach)
	nodes := j.whole.Nodes()
	if !ok || o.startTool != "" || o.remoteShell != "" || len(nodes) == 1 && isHere(nodes[0].Host) {
		return j
	}
	if len(nodes) > len(j.table.Nodes()) { // it would start them on all
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

// besideInSlurm has srun start the servers where a starter runs in a job of Slurm: its nodes
// may refuse ssh.
func (o *options) besideInSlurm(j job, starter int) job {
	if id := launch.SlurmJobOf(starter); id != "" {
		o.useSlurm()
		j.id = id
	}
	return j
}
