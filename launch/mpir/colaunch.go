// Has a starter start daemons on the nodes of its job (MPIR's Tool Daemon Launch Extension).

package mpir

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoRoom means that the starter cannot take the daemons' command line: it is too long, or has
// an argument that cannot be written. A command line without arguments may fit.
var ErrNoRoom = errors.New("the starter has no room for the command line of its daemons")

// ErrNoCoLaunch means that the starter does not start daemons for tools.
var ErrNoCoLaunch = errors.New("the starter starts no daemons for tools (it has no MPIR_executable_path)")

// ErrNoFIFO means that the starter starts no daemons for a job that runs already.
var ErrNoFIFO = errors.New("the starter starts no daemons for tools that attach (it has no MPIR_attach_fifo)")

// CoLaunch has a starter start a daemon on each node of its job, beside the ranks: the Tool Daemon
// Launch Extension of MPIR. It is for Spec.Prepare: the starter reads the variables when it
// launches. Arguments are separated by zero bytes, as Open MPI reads them; an empty argument
// cannot be expressed.
func CoLaunch(m Memory, path string, args []string) error {
	at, room, found := m.Symbol(symPath)
	argsAt, argsRoom, argsFound := m.Symbol(symArguments)
	if !found || !argsFound || room == 0 || argsRoom == 0 {
		return ErrNoCoLaunch
	}
	for _, a := range append([]string{path}, args...) {
		if a == "" || strings.Contains(a, "\x00") {
			return fmt.Errorf("%w: %q cannot be an argument of it", ErrNoRoom, a)
		}
	}
	line := strings.Join(args, "\x00") + "\x00\x00"
	if uint64(len(path)) >= room || uint64(len(line)) > argsRoom {
		return ErrNoRoom
	}
	if err := m.Write(argsAt, []byte(line)); err != nil {
		return err
	}
	return m.Write(at, append([]byte(path), 0))
}

// clearText empties a text variable, if the starter has it.
func clearText(m Memory, name string) {
	if at, room, found := m.Symbol(name); found && room > 0 {
		m.Write(at, []byte{0})
	}
}
