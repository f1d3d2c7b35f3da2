package main

import (
	"errors"

	"sdm/launch"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// findExisting finds the ranks of --attach and --jobid. Their job's size is what
// the master waits for, so it must be known.
func (p *program) findExisting() error {
	var table protocol.Proctable
	var err error
	switch {
	case p.o.attach != "":
		if table, err = launch.ParsePids(p.o.attach, p.cfg.Host); err == nil {
			table, p.jobSize, err = launch.NumberPids(table, p.number.Number)
		}
	case p.o.jobid != "":
		table, p.jobSize, err = launch.RanksOfJob(p.o.jobid, p.cfg.Host)
	default:
		return nil
	}
	if err == nil && p.jobSize < 1 {
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
