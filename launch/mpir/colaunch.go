package mpir

import (
	"errors"
	"fmt"
	"strings"
)

// ErrTooLong tells that a starter has no room for the daemons' command line.
var ErrTooLong = errors.New("the starter has no room for the command line of its daemons")

// ErrNoCoLaunch tells that a starter does not start daemons for tools.
var ErrNoCoLaunch = errors.New("the starter starts no daemons for tools (it has no MPIR_executable_path)")

// CoLaunch has a starter start a daemon on each node of its job, beside the ranks:
// the Tool Daemon Launch Extension of MPIR. It is for Spec.Prepare: the starter
// reads it when it launches. Arguments are kept apart by zero bytes, as Open MPI
// reads them; there is no way to give an empty one.
func CoLaunch(m Memory, path string, args []string) error {
	at, room, found := m.Symbol(symPath)
	argsAt, argsRoom, argsFound := m.Symbol(symArguments)
	if !found || !argsFound || room == 0 || argsRoom == 0 {
		return ErrNoCoLaunch
	}
	for _, a := range append([]string{path}, args...) {
		if a == "" || strings.Contains(a, "\x00") {
			return fmt.Errorf("%q cannot be an argument of a daemon", a)
		}
	}
	line := strings.Join(args, "\x00") + "\x00\x00"
	if uint64(len(path)) >= room || uint64(len(line)) > argsRoom {
		return ErrTooLong
	}
	if err := m.Write(argsAt, []byte(line)); err != nil {
		return err
	}
	return m.Write(at, append([]byte(path), 0))
}
