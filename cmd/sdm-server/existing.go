package main

import (
	"errors"
	"io"
	"os"

	"sdm/launch"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// findExisting finds the ranks of --attach, --jobid and --hydra. It also determines the size of
// their job, which the master needs to know when all have registered.
func (p *program) findExisting() error {
	if !p.o.existing() {
		return nil
	}
	table, size, err := p.o.ranksHere(p.cfg.Host, p.number.Number)
	if p.jobSize = size; err == nil && p.jobSize < 1 {
		if p.jobSize = p.o.size; p.jobSize < 1 {
			err = errors.New("how many ranks has the job? its ranks do not say (give --size N)")
		}
	}
	if err != nil {
		return err
	}
	p.cfg.Existing = map[rank.ID]int{}
	for _, r := range table {
		p.cfg.Existing[r.Rank] = r.PID
	}
	return nil
}

// existing reports whether the ranks run already.
func (o *options) existing() bool { return o.attach != "" || o.jobid != "" || o.hydra != "" }

// ranksHere returns the ranks on this host. self is the number of a single process that does not
// know its own.
func (o *options) ranksHere(host string, self int) (table protocol.Proctable, size int, err error) {
	switch {
	case o.attach != "":
		if table, err = launch.ParsePids(o.attach, host); err != nil {
			return nil, 0, err
		}
		return launch.NumberPids(table, self)
	case o.jobid != "":
		return launch.RanksOfJob(o.jobid, host)
	}
	return launch.RanksOfHydra(o.hydra, host)
}

// listRanks executes --list: it writes the ranks of the job on this host for the process that has
// started it, also if there are none.
func (o *options) listRanks(stdout io.Writer) error {
	host := o.host
	if host == "" {
		var err error
		if host, err = os.Hostname(); err != nil {
			return err
		}
	}
	table, size, trouble := o.ranksHere(host, launch.Unknown)
	_, err := stdout.Write(launch.AppendFound(nil, host, table, size, trouble))
	return err
}
