package main

import (
	"slices"
	"strings"

	"sdm/launch/mpir"
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

// coLaunch writes into the starter's memory what it shall start on each node.
func (h *held) coLaunch(p *plan) func(mpir.Memory) {
	s, err := openSlots(p, true)
	if err != nil {
		h.refuse = err
		return nil
	}
	h.come = s
	return func(m mpir.Memory) {
		server, err := p.o.nodeServer(s)
		if err == nil {
			err = mpir.CoLaunch(m, server[0], server[1:])
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.refuse = err
	}
}

// comes gives the place where the servers register that the starter has started;
// nil if it starts none, and then the next way is taken.
func (h *held) comes(p *plan) *slots {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.come == nil || h.refuse == nil {
		return h.come
	}
	p.log.Info("the starter does not start our servers", "why", h.refuse)
	h.come.close(nil, p.o, false)
	h.come = nil
	return nil
}
