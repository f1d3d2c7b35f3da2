package main

import (
	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/backend/sim"
	"sdm/protocol/rank"
)

// engine is one row of the table of back ends.
type engine struct {
	// open makes the back end, configured by the flags.
	open func(o *options, k backend.Sink) (backend.Backend, error)
	// simulatedPID is what stands for a rank's process id where there are no
	// processes to fork; nil where there are.
	simulatedPID func(rank.ID) int
}

// backends is the table of back ends, by the name that --backend takes.
var backends = map[string]engine{
	"gdb": {open: openGDB},
	"sim": {open: openSim, simulatedPID: sim.PID},
}

func openGDB(o *options, k backend.Sink) (backend.Backend, error) {
	share, err := gdb.ParseShare(o.ranksPerGDB)
	if err != nil {
		return nil, err
	}
	return gdb.New(gdb.Config{Path: o.gdb, Args: o.gdbArgs, RanksPerGDB: share, EagerSymbols: o.eagerSymbols}, k)
}

func openSim(_ *options, k backend.Sink) (backend.Backend, error) {
	return sim.New(sim.Config{}, k), nil
}
