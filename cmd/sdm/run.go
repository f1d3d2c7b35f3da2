package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/launch"
	"sdm/launch/local"
	"sdm/master/frontend/console"
)

// runJob executes sdm run: it starts the ranks of a program on this machine, or a starter, and runs
// the console.
func (a *app) runJob(args []string) console.Status {
	o := newOptions(a.env)
	if status, done := a.read(o, o.runFlags(), args, runHelp); done {
		return status
	}
	if o.isStarter() {
		return a.runStarter(o)
	}
	if err := o.readApps(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if err := o.validateRun(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if err := o.chooseStarter(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if o.composed {
		return a.runStarter(o)
	}
	if err := o.refuseOthers(); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	if err := o.checkPrograms(); err != nil {
		return a.fail(console.StatusNotStarted, err)
	}
	return a.within(o, a.runOn)
}

// runOn starts the servers, builds the tree over them and runs the console.
func (a *app) runOn(l *lifetime, p *plan) console.Status {
	if p.take == nil { // the ranks are processes, not core files
		a.hintMPI(p.o)
	}
	c, err := startCluster(p.o, p.log)
	if err != nil {
		return a.fail(console.StatusNoTree, err)
	}
	report, err := c.build(l.ctx, p.o)
	if err != nil {
		return a.notBuilt(l.ctx, err, c.close()) // the messages of the servers tell more than err
	}
	status := a.drive(l, p, c.master, report.Ranks, p.o.args)
	if err := c.close(); errors.Is(err, local.ErrHung) {
		a.fail(status, err) // reported, but the status is that of the ranks
	} else if err != nil {
		p.log.Warn("a server has ended badly", "err", err)
	}
	return status
}

// firstOf returns the first of joined errors, since one line is enough.
func firstOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

// refuseOthers refuses the lines of starters that sdm does not support.
func (o *options) refuseOthers() error {
	if len(o.args) == 0 {
		return nil
	}
	name, _, _ := strings.Cut(filepath.Base(o.args[0]), ".")
	if slices.Contains(foreignStarters, name) {
		return fmt.Errorf("sdm does not know how to take control of a job of %s (let it start the servers: %s; if it offers MPIR: --starter %s)", name, underStarter(name, 0, "PROGRAM"), name)
	}
	return nil
}

// underStarter tells how to debug a job of such a starter.
func underStarter(starter string, np int, program string) string {
	n := "N"
	if np > 0 {
		n = strconv.Itoa(np)
	}
	return fmt.Sprintf("sdm listen 0, then %s -n %s sdm-server --rendezvous HOST:PORT -- %s", starter, n, program)
}

// checkPrograms checks each program of the job.
func (o *options) checkPrograms() error {
	if err := o.checkProgram(); err != nil || len(o.apps) == 0 {
		return err
	}
	for _, a := range o.apps[1:] {
		one := &options{env: o.env, args: a.args, cwd: o.cwd, directives: slices.Concat(o.directives[:o.jobLevel], a.directives)}
		if a.cwd != "" {
			one.cwd = a.cwd
		}
		if err := one.checkProgram(); err != nil {
			return err
		}
	}
	return nil
}

// checkProgram finds a program that cannot be started before anything is started. It passes what
// only the environment of the rank can decide.
func (o *options) checkProgram() error {
	if o.cwd != "" {
		if info, err := os.Stat(o.cwd); err != nil || !info.IsDir() {
			return fmt.Errorf("--cwd %s: no such directory", o.cwd)
		}
	}
	name := o.args[0]
	if !strings.Contains(name, "/") {
		if o.changesPath() {
			return nil
		}
		if _, err := exec.LookPath(name); err != nil && !errors.Is(err, exec.ErrDot) {
			switch info, err := os.Stat(filepath.Join(o.cwd, name)); {
			case err != nil:
				return fmt.Errorf("%s: no such program in PATH (give its path)", name)
			case info.IsDir():
				return fmt.Errorf("%s: is a directory (give the path of a program)", name)
			}
			return fmt.Errorf("%s: no such program in PATH (did you mean ./%s?)", name, name)
		}
		return nil
	}
	info, err := os.Stat(o.programFile())
	switch {
	case err != nil && o.cwd != "" && !filepath.IsAbs(name):
		return fmt.Errorf("%s: no such program in %s (paths are relative to --cwd)", name, o.cwd)
	case err != nil:
		return fmt.Errorf("%s: no such program (build it, or give its path)", name)
	case info.IsDir():
		return fmt.Errorf("%s: is a directory (give the path of a program)", name)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s: not executable (chmod +x %s)", name, name)
	}
	return nil
}

func (o *options) changesPath() bool {
	for _, d := range o.directives {
		if d.Name == "PATH" {
			return true
		}
	}
	return false
}

// programFile returns the file of the program, as far as it can be determined.
func (o *options) programFile() string {
	name := o.args[0]
	if !strings.Contains(name, "/") {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if filepath.IsAbs(name) || o.cwd == "" {
		return name
	}
	return filepath.Join(o.cwd, name)
}

// hintMPI tells the user who starts several ranks of an MPI program without its starter that each
// is a job of its own.
func (a *app) hintMPI(o *options) {
	inJob, err := launch.Identify(a.env)
	if o.np == 1 || err == nil && inJob.Number != launch.Unknown || !launch.LinksMPI(o.programFile()) {
		return
	}
	fmt.Fprintf(a.stderr, "sdm: note: %s uses MPI, but its starter (mpirun, srun) does not start it: %d jobs of one rank each (for one job: sdm run -- mpirun -n %d %s)\n",
		o.args[0], o.np, o.np, o.args[0])
}
