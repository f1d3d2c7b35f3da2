// Command lines of the original SDM, which start our master or server.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"sdm/cmd/internal/original"
	"sdm/launch/routefile"
	"sdm/master/frontend/console"
)

// statusOriginal is the exit status of the original SDM for a line that makes no sense.
const statusOriginal = console.Status(1)

// original executes a line of the original SDM: it replaces this process by sdm-master or sdm-server,
// as the line says.
func (a *app) original() console.Status {
	line, err := original.Parse(a.args)
	if err != nil {
		return a.fail(statusOriginal, fmt.Errorf("%w (as the original SDM: --master or --server=N, with --host=HOST --port=PORT --routing_file=FILE)", err))
	}
	program, args := "sdm-master", []string(nil)
	if line.Master {
		args, err = a.originalMaster(line)
	} else {
		program = "sdm-server"
		args, err = line.ServerArgs(a.env)
	}
	if err == nil {
		err = a.become(program, args)
	}
	return a.fail(statusOriginal, err)
}

// originalMaster returns the arguments of sdm-master. Before that it writes the routing file if the
// line asks for that.
func (a *app) originalMaster(line original.Line) ([]string, error) {
	if len(line.Generate) > 0 {
		table, err := line.Routes()
		if err == nil {
			err = routefile.Write(line.RoutingFile, table)
		}
		if err != nil {
			return nil, err
		}
	}
	return line.MasterArgs(), nil
}

// become replaces this process by another of our programs, from the directory of this one.
func (a *app) become(program string, args []string) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(own), program)
	if err := syscall.Exec(path, append([]string{path}, args...), a.env); err != nil {
		return fmt.Errorf("%s: %w (install it beside sdm)", path, err)
	}
	return nil
}
